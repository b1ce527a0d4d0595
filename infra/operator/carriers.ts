import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";

import * as z from "zod/mini";

import { readBreakers } from "../../shared/carriers/breaker.ts";
import type { CarrierResponse } from "../../shared/carriers/call.ts";
import { repliesUrl } from "../../shared/carriers/callback-url.ts";
import type { HandOff } from "../../shared/carriers/carrier.ts";
import { carrierOf } from "../../shared/carriers/carriers.ts";
import { readSecret, type CarrierSecret } from "../../shared/carriers/credentials.ts";
import {
  checkCarrier,
  deleteCarrier,
  enableCarrier,
  readUnusedCarrier,
  setCarrier,
} from "../../shared/carriers/manage.ts";
import { CarrierName, findCarrier, readCarriers, type CarrierRecord } from "../../shared/carriers/record.ts";
import { CarrierSettings } from "../../shared/carriers/settings.ts";
import { GivenPhoneNumber } from "../../shared/contract/phone-numbers.ts";
import { SenderId } from "../../shared/contract/sms.ts";
import { validationMessage } from "../../shared/contract/validation.ts";
import { countryOfNumber } from "../../shared/messages/numbering-plan.ts";
import { segmentsOf } from "../../shared/messages/segments.ts";
import { newId } from "../../shared/platform/ids.ts";
import { Refusal } from "../../shared/platform/refusal.ts";
import { callbackSecretPrefix, carrierSecretPrefix } from "../constructs/names.ts";
import { command, part, RequiredText, type OperatorCommand } from "./command.ts";
import type { Context } from "./context.ts";
import { listOf, type Column } from "./output.ts";
import { withoutRoutes } from "./routes.ts";

const Name = part("<name>", "the carrier's name", CarrierName);

const paceRule = "must be a number of segments a second such as 10 or 0.5, or none";
const Pace = z
  .pipe(
    z.string(paceRule).check(z.regex(/^(none|\d{1,5}(\.\d{1,3})?)$/, paceRule)),
    z.transform((typed) => (typed === "none" ? ("none" as const) : Number(typed))),
  )
  .check(z.refine((pace) => pace === "none" || pace > 0, paceRule));

/** @throws Error in words for whoever typed the name of the file */
async function readJson(file: string): Promise<unknown> {
  const content = await readFile(file, "utf8").catch((error: unknown) => {
    throw new Error(`There is no file ${file} that can be read.`, { cause: error });
  });
  return parsed(content, file);
}

/** @param source where it is from, in words */
function parsed(content: string, source: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    // What the parser says quotes what it has read, and it may have read a secret.
    throw new Error(`${source} is not JSON.`);
  }
}

async function readCredentials(file: string): Promise<unknown> {
  return file === "-" ? parsed(await text(process.stdin), "What came in") : readJson(file);
}

const set = command({
  name: "carriers set",
  summary: "Make a carrier, or change its settings, credentials or throughput",
  details:
    "The settings of each kind, and the credentials, are in shared/carriers/README.md. Credentials go to Secrets Manager; " +
    "without --credentials they stay as they are. It counts within a minute, and takes messages once a route leads to it.",
  examples: [
    "kannel-london --settings kannel.json --credentials credentials.json --stage prod",
    "kannel-london --settings kannel.json --throughput 30",
    "twilio --settings twilio.json --credentials - < credentials.json",
  ],
  asksFirst: true,
  input: z.object({
    name: Name,
    settings: part("--settings <file>", "JSON: its kind, and what that asks for", RequiredText),
    credentials: part(
      "--credentials <file>",
      "JSON: what the carrier knows us by; - reads it from standard input",
      z.optional(RequiredText),
    ),
    throughput: part(
      "--throughput <segments>",
      "what it takes in a second, in segments; none is no limit",
      z.optional(Pace),
    ),
    rotateCallbackToken: part(
      "--rotate-callback-token",
      "make the token of its calls back anew; the present one ends",
      z.optional(z.boolean()),
    ),
  }),
  run: async ({ name, settings: file, credentials, throughput, rotateCallbackToken = false }, context) => {
    const { output, stackName, apiUrl, confirm, changed } = context;
    const settings = CarrierSettings.safeParse(await readJson(file), { error: validationMessage });
    if (!settings.success) {
      const [issue] = settings.error.issues;
      throw new Error(`${file}: ${issue?.path.join(".") || "the settings"}: ${issue?.message}`);
    }
    const wanted = {
      name,
      settings: settings.data,
      segmentsPerSecond: throughput,
      newCallbackToken: rotateCallbackToken,
      ...(credentials === undefined ? {} : { credentials: await readCredentials(credentials) }),
    };
    await checkCarrier(wanted);
    const present = await findCarrier(name);
    const change = present === undefined ? "make the carrier" : "change the carrier";
    await confirm(`${change} ${name} (${settings.data.kind})`, {
      before: present === undefined ? {} : shown(present),
    });
    const record = await setCarrier(wanted, {
      secretPrefix: carrierSecretPrefix(stackName),
      callbackPrefix: callbackSecretPrefix(stackName),
      callbackBaseUrl: apiUrl,
    });
    changed(shown(record));
    output.result(shown(record), carrierText(record));
    if (present === undefined)
      output.note(`Try it: carriers test ${name} --to NUMBER; then lead a route to it: routes set`);
  },
});

/** A carrier as it may be seen: it has no secrets, and what leads to them is nobody's matter. */
function shown(record: CarrierRecord): Record<string, unknown> {
  const { entity: _entity, callbackTokenHash: _hash, secretVersion: _version, ...rest } = record;
  return rest;
}

function carrierText(record: CarrierRecord): string {
  const { kind, ...settings } = record.settings;
  return listOf({
    Carrier: record.name,
    Kind: kind,
    State: record.disabledAt === undefined ? "enabled" : `disabled since ${record.disabledAt}`,
    Throughput:
      record.segmentsPerSecond === undefined ? "no limit" : `${record.segmentsPerSecond} segments a second`,
    Credentials: record.secretId ?? "none",
    "Calls back at": record.callbackBaseUrl,
    Changed: record.updatedAt,
    ...Object.fromEntries(
      Object.entries(settings).map(([name, value]) => [
        `Setting ${name}`,
        typeof value === "string" ? value : JSON.stringify(value),
      ]),
    ),
  });
}

interface Listed {
  readonly name: string;
  readonly kind: string;
  readonly state: string;
  readonly segmentsPerSecond: number | undefined;
  readonly routes: number;
}

const columns: readonly Column<Listed>[] = [
  { heading: "CARRIER", text: ({ name }) => name },
  { heading: "KIND", text: ({ kind }) => kind },
  { heading: "STATE", text: ({ state }) => state },
  {
    heading: "THROUGHPUT",
    text: ({ segmentsPerSecond }) => String(segmentsPerSecond ?? "-"),
    isNumber: true,
  },
  { heading: "ROUTES", text: ({ routes }) => String(routes), isNumber: true },
];

const list = command({
  name: "carriers list",
  summary: "List the carriers, whether they are enabled and whether they answer",
  examples: ["", "--json --stage prod"],
  input: z.object({}),
  run: async (_, { output }) => {
    const [{ carriers, routes }, breakers] = await Promise.all([readCarriers(), readBreakers()]);
    const rows = [...carriers.values()].map((record): Listed => {
      const openedAt = breakers.get(record.name)?.openedAt;
      const answers = openedAt === undefined ? "enabled" : `not answering since ${openedAt}`;
      return {
        name: record.name,
        kind: record.settings.kind,
        state: record.disabledAt === undefined ? answers : `disabled since ${record.disabledAt}`,
        segmentsPerSecond: record.segmentsPerSecond,
        routes: routes.filter((route) => route.carriers.includes(record.name)).length,
      };
    });
    output.table(rows, columns);
    if (routes.length === 0) output.note(withoutRoutes);
  },
});

async function readCarrier(name: string): Promise<CarrierRecord> {
  const record = await findCarrier(name);
  if (record === undefined) throw new Error(`There is no carrier ${name}.`);
  return record;
}

const show = command({
  name: "carriers show",
  summary: "Show a carrier's settings",
  details:
    "With --callbacks also the address that its replies go to, which has its token in it: keep it to yourself. The audit " +
    "log then has that you asked for it.",
  examples: ["kannel-london", "kannel-london --callbacks --stage prod"],
  input: z.object({
    name: Name,
    callbacks: part("--callbacks", "show where it calls back, with its token", z.optional(z.boolean())),
  }),
  run: async ({ name, callbacks = false }, { output, record: recordInAuditLog }) => {
    const record = await readCarrier(name);
    const replies = callbacks ? repliesUrl(record, await readSecret(record)) : undefined;
    if (callbacks) await recordInAuditLog({});
    output.result(
      { ...shown(record), ...(replies === undefined ? {} : { repliesUrl: replies }) },
      replies === undefined
        ? carrierText(record)
        : `${carrierText(record)}\n${listOf({ "Replies to": replies })}`,
    );
  },
});

function switching(
  name: "disable" | "enable",
  { summary, details }: { readonly summary: string; readonly details: string },
): OperatorCommand {
  return command({
    name: `carriers ${name}`,
    summary,
    details,
    examples: ["kannel-london --stage prod"],
    asksFirst: true,
    input: z.object({ name: Name }),
    run: async ({ name: carrier }, { output, confirm, changed }) => {
      const present = await readCarrier(carrier);
      await confirm(`${name} the carrier ${carrier}`, { before: shown(present) });
      const record = await enableCarrier(carrier, name === "enable");
      if (record === undefined) throw new Refusal(`There is no carrier ${carrier}.`);
      changed(shown(record));
      output.result(shown(record), carrierText(record));
    },
  });
}

const remove = command({
  name: "carriers remove",
  summary: "Delete a carrier that no route leads to, with its credentials",
  details:
    "Messages that it was asked about without an answer fail with MESSAGE_OUTCOME_UNKNOWN, and its receipts are not heard " +
    "any more: disable it and wait some days first.",
  examples: ["kannel-london --stage prod"],
  asksFirst: true,
  input: z.object({ name: Name }),
  run: async ({ name }, { output, confirm }) => {
    const present = await readUnusedCarrier(name);
    await confirm(`delete the carrier ${name} and its credentials`, { before: shown(present) });
    await deleteCarrier(name);
    output.result({ name, deleted: true }, `${name} is deleted`);
  },
});

const test = command({
  name: "carriers test",
  summary: "Send one message with a carrier, outside of any wallet, and show what comes back",
  details:
    "It is sent from this machine, with what the carrier knows the stage by, also when the carrier is disabled or has no " +
    "route. It is a real message, and costs what the carrier takes for it.",
  examples: ["kannel-london --to 447700900123 --from ACME --stage prod"],
  asksFirst: true,
  input: z.object({
    name: Name,
    to: part("--to <number>", "in international form", GivenPhoneNumber, {
      isPersonal: true,
    }),
    from: part("--from <sender>", "its sender ID; TEST without it", z._default(SenderId, "TEST")),
    text: part("--text <text>", "what it says", z._default(RequiredText, "A test of the SMS gateway"), {
      isPersonal: true,
    }),
  }),
  run: async ({ name, to, from, text: message }, context) => {
    const record = await readCarrier(name);
    await context.confirm(`send one message with the carrier ${name}`);
    await tryCarrier(record, { to, from, text: message }, context);
  },
});

async function tryCarrier(
  record: CarrierRecord,
  message: { readonly to: string; readonly from: string; readonly text: string },
  { output, changed }: Context,
): Promise<void> {
  let answer: CarrierResponse | undefined;
  const carrier = carrierOf(record, {
    onAnswer: (response) => {
      answer = response;
    },
  });
  const reference = `test.${newId("msg")}`;
  const { encoding } = segmentsOf(message.text, { unicode: false });
  const country = countryOfNumber(message.to);
  const startedAtMs = performance.now();
  let came: HandOff | { readonly outcome: "unknown"; readonly reason: string };
  try {
    came = await carrier.send({ ...message, reference, country, encoding, isPromotional: false });
  } catch (error) {
    came = { outcome: "unknown", reason: error instanceof Error ? error.name : "Error" };
  }
  const durationMs = Math.round(performance.now() - startedAtMs);
  const body = answer === undefined ? undefined : withoutSecrets(answer.text, await readSecret(record));
  changed({ outcome: came.outcome });
  output.result(
    { carrier: record.name, reference, ...came, durationMs, status: answer?.status, body },
    listOf({
      Carrier: record.name,
      Outcome: came.outcome,
      Code: "providerCode" in came ? came.providerCode : undefined,
      Buffered: "isBuffered" in came && came.isBuffered ? "yes: its link is down" : undefined,
      Why: "errorCode" in came ? came.errorCode : "reason" in came ? came.reason : undefined,
      "Its reference": came.outcome === "accepted" ? (came.carrierReference ?? "none") : undefined,
      Took: `${durationMs} ms`,
      Status: answer?.status.toString(),
      Answer: body,
    }),
  );
  if (came.outcome !== "accepted") process.exitCode = 1;
}

/** The longest answer that is shown. */
const maxShown = 1_000;

/** An answer may repeat what it was asked with, in any of the forms that it was asked in. */
function withoutSecrets(answer: string, { credentials, callbackToken }: CarrierSecret): string {
  const texts = [...Object.values(credentials), callbackToken ?? ""].filter((each) => each !== "");
  // Of basic authentication, whichever of them are its two.
  const pairs = texts.flatMap((one) => texts.map((other) => base64(`${one}:${other}`)));
  const forms = [...texts, ...pairs].flatMap((each) => [
    each,
    base64(each),
    JSON.stringify(each).slice(1, -1),
    encodeURIComponent(each),
    new URLSearchParams({ "": each }).toString().slice(1),
  ]);
  // The longest first: what is left of a secret when a shorter one was taken out of it would be shown.
  return forms
    .toSorted((one, other) => other.length - one.length)
    .reduce((shownText, form) => shownText.replaceAll(form, "…"), answer)
    .slice(0, maxShown);
}

function base64(given: string): string {
  return Buffer.from(given).toString("base64");
}

export const carrierCommands = [
  list,
  show,
  set,
  switching("enable", {
    summary: "Let messages be handed to a carrier again",
    details: "It counts within a minute.",
  }),
  switching("disable", {
    summary: "Hand nothing to a carrier, from within a minute on",
    details: "Messages go to the next carrier of their route, or wait where there is none.",
  }),
  test,
  remove,
];
