import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { Breakers, readBreakers } from "../../shared/carriers/breaker.ts";
import type { SubmitResult } from "../../shared/carriers/carrier.ts";
import { attemptsOf } from "../../shared/messages/message/attempts.ts";
import { getMessage } from "../../shared/messages/message/read.ts";
import { recordDeliveryReceipt } from "../../shared/messages/outcome/receipts.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { accept, inOrder, only, ScriptedCarrier } from "../support/carriers.ts";
import { acceptedMessage, laterJobOf, recordOf, statusOf } from "../support/messages.ts";
import { takeJobs } from "../support/queues.ts";
import { ownerOf } from "../support/viewer.ts";

/*
 * The attempts at carriers that a message records, for the operator, the customer and the log.
 */

const start = new Date("2030-06-01T12:00:00Z");
const afterSeconds = (seconds: number): string => new Date(start.getTime() + seconds * 1_000).toISOString();

let lines: string[] = [];
beforeEach(() => {
  lines = [];
  vi.useFakeTimers({ toFake: ["Date"], now: start });
  vi.spyOn(process.stdout, "write").mockImplementation((line) => lines.push(String(line)) > 0);
});
afterEach(async () => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  for (const queue of ["refunds", "webhookDeliveries", "transactionalSends"] as const) await takeJobs(queue);
});

/** The lines of the log about an event, without the fields that all lines have. */
function logged(event: string): Record<string, unknown>[] {
  return lines
    .map((line): Record<string, unknown> => JSON.parse(line))
    .filter((line) => line["event"] === event);
}

const refuse = (): SubmitResult => ({
  outcome: "rejected",
  errorCode: "MESSAGE_PROVIDER_ERROR",
  providerCode: "21606",
});
const throttle = (): SubmitResult => ({ outcome: "throttled", providerCode: "HTTP429" });
const turnAway = (): SubmitResult => ({ outcome: "unreachable", reason: "ECONNREFUSED" });
const buffer = (): SubmitResult => ({ outcome: "accepted", isBuffered: true, providerCode: "HTTP202.3" });
const fallSilent = (): never => {
  throw Object.assign(new Error("some words of the carrier"), { name: "NoAnswerInTime" });
};

it("a message keeps each carrier's response with its code, and its last log line has them", async () => {
  const job = await acceptedMessage();
  const route = [
    { name: "alpha", carrier: new ScriptedCarrier(refuse) },
    { name: "beta", carrier: new ScriptedCarrier(turnAway) },
    { name: "gamma", carrier: new ScriptedCarrier(throttle) },
    { name: "delta", carrier: new ScriptedCarrier(accept) },
  ];
  await submitMessage(job, inOrder(route));
  const at = start.toISOString();
  const kept = [
    { at, carrier: "alpha", outcome: "rejected", code: "21606" },
    { at, carrier: "beta", outcome: "unreachable", code: "ECONNREFUSED" },
    { at, carrier: "gamma", outcome: "throttled", code: "HTTP429" },
  ];
  expect(attemptsOf(await recordOf(job))).toEqual([...kept, { at, carrier: "delta", outcome: "accepted" }]);
  expect(logged("message.sent")).toMatchObject([{ ...job, carrier: "delta", attempts: kept }]);
  expect(logged("carrier.unreachable")).toMatchObject([{ carrier: "beta", errorCode: "ECONNREFUSED" }]);
});

it("a message that every carrier rejects keeps their codes, and its customer sees neither code nor carrier", async () => {
  const job = await acceptedMessage();
  await submitMessage(job, inOrder([{ name: "alpha", carrier: new ScriptedCarrier(refuse) }]));
  const at = start.toISOString();
  expect(logged("message.failed")).toMatchObject([
    {
      ...job,
      errorCode: "MESSAGE_PROVIDER_ERROR",
      providerCode: "21606",
      attempts: [{ at, carrier: "alpha", outcome: "rejected", code: "21606" }],
    },
  ]);
  const shown = await getMessage(ownerOf(job.organizationId), job.messageId);
  expect(shown.attempts).toEqual([{ at, outcome: "rejected" }]);
  expect(JSON.stringify(shown)).not.toMatch(/21606|alpha/);
});

it("a message that the first carrier accepted keeps and logs only that attempt", async () => {
  const job = await acceptedMessage();
  await submitMessage(job, inOrder([{ name: "alpha", carrier: new ScriptedCarrier(accept) }]));
  const record = await recordOf(job);
  expect(record.attemptLog).toBeUndefined();
  const at = start.toISOString();
  expect(attemptsOf(record)).toEqual([{ at, carrier: "alpha", outcome: "accepted" }]);
  expect((await getMessage(ownerOf(job.organizationId), job.messageId)).attempts).toEqual([
    { at, outcome: "accepted" },
  ]);
  expect(Object.keys(logged("message.sent")[0] ?? {})).not.toContain("attempts");
});

it("a message that was never submitted has no attempts", async () => {
  const job = await acceptedMessage();
  expect((await getMessage(ownerOf(job.organizationId), job.messageId)).attempts).toBeUndefined();
});

it("the last five attempts are kept", async () => {
  let job = await acceptedMessage();
  const carrier = new ScriptedCarrier((call) =>
    call < 7 ? { outcome: "throttled", providerCode: String(call) } : refuse(),
  );
  for (let call = 1; call < 7; call += 1) job = await laterJobOf(job, only(carrier));
  expect((await recordOf(job)).attemptLog?.map(({ code }) => code)).toEqual(["2", "3", "4", "5", "6"]);
  await submitMessage(job, only(carrier));
  expect((await recordOf(job)).attemptLog?.map(({ code }) => code)).toEqual(["3", "4", "5", "6", "21606"]);
});

describe("an attempt with an unknown outcome", () => {
  it.each([
    ["is sent by an idempotent carrier", true, ["unknown", "accepted"], "sent"],
    ["ends as unknown otherwise", false, ["unknown"], "failed: MESSAGE_OUTCOME_UNKNOWN"],
  ])("is kept by the next sender of the message, which %s", async (_, idempotent, outcomes, status) => {
    const job = await acceptedMessage();
    const carrier = new ScriptedCarrier((call) => (call === 1 ? fallSilent() : accept()), idempotent);
    const sender = inOrder([{ name: "alpha", carrier }]);
    await expect(submitMessage(job, sender)).rejects.toThrow("what the carrier did is not known");
    expect(logged("carrier.outcome_unknown")).toMatchObject([
      { ...job, carrier: "alpha", errorCode: "NoAnswerInTime" },
    ]);
    expect(lines.join("")).not.toContain("some words");
    vi.setSystemTime(afterSeconds(121));
    await submitMessage(job, sender);
    expect(await statusOf(job)).toBe(status);
    const attempts = attemptsOf(await recordOf(job));
    expect(attempts.map(({ outcome }) => outcome)).toEqual(outcomes);
    // The time of the submission is known.
    expect(attempts[0]).toEqual({ at: start.toISOString(), carrier: "alpha", outcome: "unknown" });
  });

  it("has its code when the message ends with it", async () => {
    const job = await acceptedMessage();
    const sender = inOrder([{ name: "alpha", carrier: new ScriptedCarrier(fallSilent) }]);
    for (let call = 1; call < 5; call += 1) {
      await expect(submitMessage(job, sender)).rejects.toThrow("what the carrier did is not known");
      vi.setSystemTime(afterSeconds(121 * call));
    }
    await submitMessage(job, sender);
    expect(await statusOf(job)).toBe("failed: MESSAGE_OUTCOME_UNKNOWN");
    const { attemptLog = [] } = await recordOf(job);
    expect(attemptLog.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 5 }, () => "unknown"));
    expect(attemptLog.at(-1)?.code).toBe("NoAnswerInTime");
  });
});

describe("a message that its carrier only buffers", () => {
  it("is sent, is never submitted again, and shows that to the operator alone", async () => {
    const job = await acceptedMessage();
    const alpha = new ScriptedCarrier(buffer, false);
    const beta = new ScriptedCarrier(accept);
    const route = [
      { name: "alpha", carrier: alpha },
      { name: "beta", carrier: beta },
    ];
    await submitMessage(job, inOrder(route));
    await submitMessage(job, inOrder(route));
    expect(await statusOf(job)).toBe("sent");
    expect([alpha.received.length, beta.received.length]).toEqual([1, 0]);
    const at = start.toISOString();
    expect(attemptsOf(await recordOf(job))).toEqual([
      { at, carrier: "alpha", outcome: "buffered", code: "HTTP202.3" },
    ]);
    expect((await getMessage(ownerOf(job.organizationId), job.messageId)).attempts).toEqual([
      { at, outcome: "accepted" },
    ]);
    expect(logged("carrier.buffered")).toMatchObject([{ ...job, carrier: "alpha" }]);
  });

  it("counts against the carrier, so that later messages go to the next one", async () => {
    const name = `bridge-${Date.now()}`;
    const alpha = new ScriptedCarrier(buffer, false);
    const beta = new ScriptedCarrier(accept);
    const route = [
      { name, carrier: alpha },
      { name: "beta", carrier: beta },
    ];
    const sender = inOrder(route, { breakers: new Breakers() });
    for (let count = 0; count < 6; count += 1) await submitMessage(await acceptedMessage(), sender);
    expect([alpha.received.length, beta.received.length]).toEqual([5, 1]);
    expect((await readBreakers()).get(name)?.openedAt).toBe(start.toISOString());
  });
});

it("a receipt keeps the carrier's code for why the phone did not receive the message", async () => {
  const job = await acceptedMessage();
  await submitMessage(job, inOrder([{ name: "alpha", carrier: new ScriptedCarrier(accept) }]));
  const at = afterSeconds(10);
  const receipt = { ...job, carrier: "alpha", at, providerCode: "30003" } as const;
  await recordDeliveryReceipt({ ...receipt, status: "undelivered", errorCode: "DELIVERY_UNREACHABLE" });
  expect(await recordOf(job)).toMatchObject({ deliveryProviderCode: "30003" });
  expect(logged("message.receipt")).toMatchObject([{ ...job, carrier: "alpha", providerCode: "30003" }]);
  expect(JSON.stringify(await getMessage(ownerOf(job.organizationId), job.messageId))).not.toContain("30003");
  // The message arrived after all.
  await recordDeliveryReceipt({ ...job, carrier: "alpha", at: afterSeconds(20), status: "delivered" });
  expect((await recordOf(job)).deliveryProviderCode).toBeUndefined();
});
