import * as z from "zod/mini";

import { GivenPhoneNumber } from "../../shared/api/contract/phone-numbers.ts";
import { SenderId } from "../../shared/api/contract/senders.ts";
import { closeBreaker } from "../../shared/carriers/breaker.ts";
import type { CarrierResponse } from "../../shared/carriers/call.ts";
import { callbacksOfKinds } from "../../shared/carriers/callbacks-of-kinds.ts";
import { carrierOf } from "../../shared/carriers/carriers.ts";
import { readSecret, type CarrierSecret } from "../../shared/carriers/credentials.ts";
import { CarrierName, findCarrier, type CarrierRecord } from "../../shared/carriers/record.ts";
import type { Period } from "../../shared/figures/books/movements.ts";
import { countryOfNumber } from "../../shared/messages/destinations/numbering-plan.ts";
import { segmentsOf } from "../../shared/messages/message/segments.ts";
import { readAuditLog } from "../../shared/tenancy/audit-log/list.ts";
import { TestedMessage } from "./carrier-receipts.ts";
import { command, count, part, personal, RequiredText } from "./command.ts";
import { listOf } from "./output.ts";

export const Name = part("<name>", "name of the carrier", CarrierName);

/** @throws Error when there is none */
export async function readCarrier(name: string): Promise<CarrierRecord> {
  const record = await findCarrier(name);
  if (record === undefined) throw new Error(`There is no carrier ${name}.`);
  return record;
}

/** Whether a carrier is a real one, with receipts and inbound messages. */
export function reachesPhones({ settings }: CarrierRecord): boolean {
  return callbacksOfKinds[settings.kind].reader !== undefined;
}

export const testCarrier = command({
  name: "carriers test",
  summary: "Send one message through a carrier, and show its response",
  details:
    "This machine sends a real message, with the stage's credentials, and the carrier charges for it. No wallet pays. The " +
    "carrier may be disabled or have no route. If the carrier did not respond before, and accepts the message, it gets " +
    "messages of customers again. The command waits for the delivery receipt, which the gateway can read a minute after a change " +
    "of the settings.",
  examples: ["kannel-london --to 447700900123 --from ACME --stage prod"],
  asksFirst: true,
  input: z.object({
    name: Name,
    to: personal("--to <number>", "recipient's number, in international form", GivenPhoneNumber),
    from: part("--from <sender>", "sender ID; default: TEST", z._default(SenderId, "TEST")),
    text: personal(
      "--text <text>",
      "text of the message",
      z._default(RequiredText, "A test of the SMS gateway"),
    ),
    wait: part(
      "--wait <seconds>",
      "seconds to wait for its receipt; default: 30",
      z._default(count(600), 30),
    ),
  }),
  run: async ({ name, wait, ...message }, { output, confirm, changed }) => {
    const record = await readCarrier(name);
    await confirm(`send one message through the carrier ${name}`);
    let response: CarrierResponse | undefined;
    const onAnswer = (received: CarrierResponse): void => {
      response = received;
    };
    const tested = new TestedMessage();
    const { reference } = tested;
    const { encoding } = segmentsOf(message.text, { unicode: false });
    const warning = callbacksOfKinds[record.settings.kind].warnings?.(record).receipts;
    const expectsReceipt = reachesPhones(record) && warning === undefined;
    if (expectsReceipt) await tested.store(name, { from: message.from, encoding });
    const submission = { ...message, reference, country: countryOfNumber(message.to), encoding };
    const startedAtMs = performance.now();
    const result = await carrierOf(record, { onAnswer })
      .send({ ...submission, isPromotional: false })
      .catch((error: unknown) => ({
        outcome: "unknown" as const,
        reason: error instanceof Error ? error.name : "Error",
      }));
    const durationMs = Math.round(performance.now() - startedAtMs);
    const body = response === undefined ? undefined : withoutSecrets(response.text, await readSecret(record));
    const isAccepted = result.outcome === "accepted" && result.isBuffered !== true;
    const closesBreaker = isAccepted && (await closeBreaker(record.name));
    if (expectsReceipt && isAccepted) output.progress(`waiting for the receipt, at most ${wait} seconds`);
    const receipt = expectsReceipt && isAccepted ? await tested.receipt(record, wait) : warning;
    const carrierReference = result.outcome === "accepted" ? result.carrierReference : undefined;
    changed({
      outcome: result.outcome,
      reference,
      carrierReference,
      ...(closesBreaker && { closesBreaker }),
    });
    output.result(
      { carrier: record.name, reference, ...result, receipt, durationMs, status: response?.status, body },
      listOf({
        Carrier: record.name,
        Outcome: result.outcome,
        Code: "providerCode" in result ? result.providerCode : undefined,
        Breaker: closesBreaker ? "closed: customers' messages use the carrier again" : undefined,
        Buffered: "isBuffered" in result && result.isBuffered ? "yes, the link is down" : undefined,
        Reason: "errorCode" in result ? result.errorCode : "reason" in result ? result.reason : undefined,
        Reference: result.outcome === "accepted" ? (result.carrierReference ?? "none") : undefined,
        Receipt: receipt,
        Duration: `${durationMs} ms`,
        Status: response?.status.toString(),
        Response: body,
      }),
    );
    if (result.outcome !== "accepted") process.exitCode = 1;
  },
});

/**
 * Returns the references of the tests of a carrier in a period, by the stage's audit log. The carrier charges for a test, and no
 * message of a customer has it.
 */
export async function referencesOfTests(carrier: string, { start, end }: Period): Promise<Set<string>> {
  const references = new Set<string>();
  let after: string | undefined;
  do {
    const entries = await readAuditLog(undefined, { after, limit: entriesTogether });
    for (const { action, createdAt, subject, after: result } of entries) {
      if (action !== testCarrier.name || subject?.["name"] !== carrier || createdAt >= end) continue;
      for (const each of [result?.["reference"], result?.["carrierReference"]])
        if (typeof each === "string") references.add(each);
    }
    const oldest = entries.at(-1);
    after = oldest === undefined || oldest.createdAt < start ? undefined : oldest.id;
  } while (after !== undefined);
  return references;
}

const entriesTogether = 500;

/** The number of characters of a response that are shown. */
const maxShown = 1_000;

/** Removes secrets: a response may quote its request, in any of its encodings. */
function withoutSecrets(response: string, { credentials, callbackToken }: CarrierSecret): string {
  const texts = [...Object.values(credentials), callbackToken ?? ""].filter((each) => each !== "");
  // Any two of them may be the user name and password of basic authentication.
  const pairs = texts.flatMap((one) => texts.map((other) => base64(`${one}:${other}`)));
  const forms = [...texts, ...pairs].flatMap((each) => [
    each,
    base64(each),
    JSON.stringify(each).slice(1, -1),
    encodeURIComponent(each),
    new URLSearchParams({ "": each }).toString().slice(1),
  ]);
  // Replaces the longest first, because a shorter one may be part of it.
  return forms
    .toSorted((one, other) => other.length - one.length)
    .reduce((shownText, form) => shownText.replaceAll(form, "…"), response)
    .slice(0, maxShown);
}

function base64(given: string): string {
  return Buffer.from(given).toString("base64");
}
