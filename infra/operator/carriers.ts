import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";

import { callbackSecretPrefix, carrierSecretPrefix } from "@sms-gateway/stack/constructs/names.ts";
import { parseJson } from "@sms-gateway/stack/operator-file.ts";
import { carrierCallbacksPerSecond } from "@sms-gateway/stack/stages/stage.ts";
import * as z from "zod/mini";

import { validationMessage } from "../../shared/api/contract/validation.ts";
import { readBreakers } from "../../shared/carriers/breaker.ts";
import { inboundUrl } from "../../shared/carriers/callback-url.ts";
import { callbacksOfKinds } from "../../shared/carriers/callbacks-of-kinds.ts";
import { readSecret } from "../../shared/carriers/credentials.ts";
import {
  checkCarrier,
  deleteCarrier,
  enableCarrier,
  readUnusedCarrier,
  setCarrier,
} from "../../shared/carriers/manage.ts";
import { findCarrier, readCarriers, type CarrierRecord } from "../../shared/carriers/record.ts";
import { CarrierSettings } from "../../shared/carriers/settings.ts";
import { RejectedError } from "../../shared/platform/rejected-error.ts";
import { Name, readCarrier, testCarrier } from "./carriers-test.ts";
import { command, flag, part, RequiredText, type OperatorCommand } from "./command.ts";
import type { Context } from "./context.ts";
import { warnOfUnboundNumbers } from "./numbers.ts";
import { listOf, right } from "./output.ts";
import { withoutRoutes } from "./routes.ts";

const throughputRule = "must be a number of segments a second such as 10 or 0.5, or none";
const Throughput = z
  .pipe(
    z.string(throughputRule).check(z.regex(/^(none|\d{1,5}(\.\d{1,3})?)$/, throughputRule)),
    z.transform((typed) => (typed === "none" ? ("none" as const) : Number(typed))),
  )
  .check(z.refine((rate) => rate === "none" || rate > 0, throughputRule));

async function readJson(file: string): Promise<unknown> {
  const content = await readFile(file).catch((error: unknown) => {
    throw new Error(`Cannot read the file ${file}.`, { cause: error });
  });
  return parseJson(content, file);
}

export async function readCredentials(file: string): Promise<unknown> {
  return file === "-" ? parseJson(await buffer(process.stdin), "The standard input") : readJson(file);
}

const set = command({
  name: "carriers set",
  summary: "Create or change a carrier",
  details:
    "See shared/carriers/README.md for the settings and credentials of each kind. Secrets Manager stores the credentials. The " +
    "change applies within a minute. A new carrier gets messages when a route names it.",
  examples: [
    "kannel-london --settings kannel.json --credentials credentials.json --stage prod",
    "kannel-london --settings kannel.json --throughput 30",
    "twilio --settings twilio.json --credentials - < credentials.json",
  ],
  asksFirst: true,
  input: z.object({
    name: Name,
    settings: part("--settings <file>", "JSON file with the kind and its settings", RequiredText),
    credentials: part(
      "--credentials <file>",
      "JSON file with credentials, or - for standard input; default: keep them",
      z.optional(RequiredText),
    ),
    throughput: part(
      "--throughput <segments>",
      "segments a second, or none for no limit; default: keep it",
      z.optional(Throughput),
    ),
    rotateCallbackToken: flag(
      "--rotate-callback-token",
      "replace the token of its callback address; the present one is valid for a week, or until the next rotation",
    ),
  }),
  run: async ({ name, settings: file, credentials, throughput, rotateCallbackToken }, context) => {
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
    const verb = present === undefined ? "create" : "change";
    await confirm(`${verb} the carrier ${name} (${settings.data.kind})`, {
      before: present === undefined ? {} : shown(present),
    });
    const record = await setCarrier(wanted, {
      secretPrefix: carrierSecretPrefix(stackName),
      callbackPrefix: callbackSecretPrefix(stackName),
      callbackBaseUrl: apiUrl,
    });
    changed(shown(record));
    output.result(shown(record), carrierText(record));
    const { receipts, inbound } = callbacksOfKinds[record.settings.kind].warnings?.(record) ?? {};
    for (const warning of [receipts, inbound]) if (warning !== undefined) output.aside(warning);
    warnOfReceipts(record, context);
    if (present !== undefined) return;
    output.note(`Test it with: carriers test ${name} --to NUMBER. Then add it to a route with: routes set`);
    await warnOfUnboundNumbers(context);
  },
});

/** Warns of a throughput whose receipts the stage would reject. */
function warnOfReceipts(
  { settings: { kind }, segmentsPerSecond = 0 }: CarrierRecord,
  { stage, output }: Context,
): void {
  if (stage === undefined) return;
  const callbacks = segmentsPerSecond * callbacksOfKinds[kind].receiptsPerSegment;
  const accepted = carrierCallbacksPerSecond(stage);
  if (callbacks <= accepted) return;
  output.aside(
    `The carrier may report ${callbacks} receipts a second, and the stage accepts ${accepted} from one carrier. Raise ` +
      "throttle.carriers and firewall.carrierRequestsPerAddressPer5Minutes of the stage, or lower the throughput.",
  );
}

/** A carrier without internal fields, such as the hash of its callback token. */
function shown(record: CarrierRecord): Record<string, unknown> {
  const {
    entity: _entity,
    callbackTokenHash: _hash,
    previousTokenHash: _previous,
    previousTokenUntil: _until,
    secretVersion: _version,
    ...rest
  } = record;
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
    "Callback URL": record.callbackBaseUrl,
    Changed: record.updatedAt,
    ...Object.fromEntries(
      Object.entries(settings).map(([name, value]) => [
        `Setting ${name}`,
        typeof value === "string" ? value : JSON.stringify(value),
      ]),
    ),
  });
}

const list = command({
  name: "carriers list",
  summary: "List carriers with their states",
  examples: ["", "--json --stage prod"],
  input: z.object({}),
  run: async (_, { output }) => {
    const [{ carriers, routes }, breakers] = await Promise.all([readCarriers(), readBreakers()]);
    const rows = [...carriers.values()].map((record) => {
      const { openedAt, probeFailedAt = "none", leaseUntil = "now" } = breakers.get(record.name) ?? {};
      const state =
        openedAt === undefined
          ? "enabled"
          : `not responding since ${openedAt}, last probe: ${probeFailedAt}, next: ${leaseUntil}`;
      return {
        name: record.name,
        kind: record.settings.kind,
        state: record.disabledAt === undefined ? state : `disabled since ${record.disabledAt}`,
        segmentsPerSecond: record.segmentsPerSecond,
        routes: routes.filter((route) => route.carriers.includes(record.name)).length,
      };
    });
    output.table(rows, {
      CARRIER: "name",
      KIND: "kind",
      STATE: "state",
      THROUGHPUT: ({ segmentsPerSecond }) => segmentsPerSecond ?? right("-"),
      ROUTES: "routes",
    });
    if (routes.length === 0) output.note(withoutRoutes);
  },
});

const show = command({
  name: "carriers show",
  summary: "Show a carrier's settings",
  details: "The callback address has a secret token. The audit log records who displayed it.",
  examples: ["kannel-london", "kannel-london --callbacks --stage prod"],
  input: z.object({
    name: Name,
    callbacks: flag("--callbacks", "show the address for inbound messages, with its secret token"),
  }),
  run: async ({ name, callbacks }, { output, record: recordInAuditLog }) => {
    const record = await readCarrier(name);
    const replies = callbacks ? inboundUrl(record, await readSecret(record)) : undefined;
    if (callbacks) await recordInAuditLog({});
    output.result(
      { ...shown(record), ...(replies === undefined ? {} : { inboundUrl: replies }) },
      replies === undefined
        ? carrierText(record)
        : `${carrierText(record)}\n${listOf({ "Inbound URL": replies })}`,
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
      if (record === undefined) throw new RejectedError(`There is no carrier ${carrier}.`);
      changed(shown(record));
      output.result(shown(record), carrierText(record));
    },
  });
}

const remove = command({
  name: "carriers remove",
  summary: "Remove a carrier that no route uses, with its credentials",
  details:
    "Disable it first, and wait some days. Messages without a known outcome fail with MESSAGE_OUTCOME_UNKNOWN, and later " +
    "delivery receipts are rejected.",
  examples: ["kannel-london --stage prod"],
  asksFirst: true,
  input: z.object({ name: Name }),
  run: async ({ name }, { output, confirm, stageCarrier }) => {
    const present = await readUnusedCarrier(name);
    const stays =
      name === stageCarrier ? "; messages without a route still go to it, without these settings" : "";
    await confirm(`remove the carrier ${name} and its credentials${stays}`, { before: shown(present) });
    await deleteCarrier(name);
    output.result({ name, removed: true }, `${name} is removed`);
  },
});

export const carrierCommands = [
  list,
  show,
  set,
  switching("enable", {
    summary: "Enable a carrier",
    details: "The change applies within a minute.",
  }),
  switching("disable", {
    summary: "Disable a carrier within a minute",
    details: "Messages go to the next carrier of their route, or wait if there is none.",
  }),
  testCarrier,
  remove,
];
