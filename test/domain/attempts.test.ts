import { beforeEach, describe, expect, it, vi } from "vitest";

import type { SubmitResult } from "../../shared/carriers/carrier.ts";
import { attemptsOf } from "../../shared/messages/message/attempts.ts";
import { getMessage } from "../../shared/messages/message/read.ts";
import { recordDeliveryReceipt } from "../../shared/messages/outcome/receipts.ts";
import { openAttempt } from "../../shared/messages/send/acquire-message.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { accept, inOrder, only, ScriptedCarrier, named, beUnreachable } from "../support/carriers.ts";
import { recordLog, type RecordedLog } from "../support/log.ts";
import { acceptedMessage, laterJobOf, recordOf, statusOf } from "../support/messages.ts";
import { takeJobs } from "../support/queues.ts";
import { ownerOf } from "../support/viewer.ts";

/*
 * The attempts at carriers that a message records, for the operator, the customer and the log.
 */

const start = new Date("2030-06-01T12:00:00Z");
const afterSeconds = (seconds: number): string => new Date(start.getTime() + seconds * 1_000).toISOString();

let log: RecordedLog;
beforeEach(() => {
  vi.setSystemTime(start);
  log = recordLog();
});

const refuse = (): SubmitResult => ({
  outcome: "rejected",
  errorCode: "MESSAGE_PROVIDER_ERROR",
  providerCode: "21606",
});
const buffer = (): SubmitResult => ({ outcome: "accepted", isBuffered: true, providerCode: "HTTP202.3" });
const fallSilent = (): never => {
  throw Object.assign(new Error("some words of the carrier"), { name: "NoAnswerInTime" });
};

it("a message keeps each carrier's response with its code, and its last log line has them", async () => {
  const job = await acceptedMessage();
  const route = {
    alpha: new ScriptedCarrier(refuse),
    beta: new ScriptedCarrier(beUnreachable),
    gamma: new ScriptedCarrier(() => ({ outcome: "throttled", providerCode: "HTTP429" })),
    delta: new ScriptedCarrier(accept),
  };
  await submitMessage(job, inOrder(named(route)));
  const at = start.toISOString();
  const kept = [
    { at, carrier: "alpha", outcome: "rejected", code: "21606" },
    { at, carrier: "beta", outcome: "unreachable", code: "ECONNREFUSED" },
    { at, carrier: "gamma", outcome: "throttled", code: "HTTP429" },
  ];
  expect(attemptsOf(await recordOf(job))).toEqual([...kept, { at, carrier: "delta", outcome: "accepted" }]);
  expect(log.of("message.sent")).toMatchObject([{ ...job, carrier: "delta", attempts: kept }]);
  expect(log.of("carrier.unreachable")).toMatchObject([{ carrier: "beta", errorCode: "ECONNREFUSED" }]);
});

it("a message that every carrier rejects keeps their codes, and its customer sees neither code nor carrier", async () => {
  const job = await acceptedMessage();
  await submitMessage(job, inOrder(named({ alpha: new ScriptedCarrier(refuse) })));
  const at = start.toISOString();
  expect(log.of("message.failed")).toMatchObject([
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
  await submitMessage(job, inOrder(named({ alpha: new ScriptedCarrier(accept) })));
  const record = await recordOf(job);
  expect(record.attemptLog).toBeUndefined();
  const at = start.toISOString();
  expect(attemptsOf(record)).toEqual([{ at, carrier: "alpha", outcome: "accepted" }]);
  expect((await getMessage(ownerOf(job.organizationId), job.messageId)).attempts).toEqual([
    { at, outcome: "accepted" },
  ]);
  expect(Object.keys(log.of("message.sent")[0] ?? {})).not.toContain("attempts");
  vi.stubEnv(environmentNames.logSentMessages, "false");
  await submitMessage(await acceptedMessage(), inOrder(named({ alpha: new ScriptedCarrier(accept) })));
  expect(log.of("message.sent")).toHaveLength(1);
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
    const sender = inOrder(named({ alpha: carrier }));
    await expect(submitMessage(job, sender)).rejects.toThrow("what the carrier did is not known");
    expect(log.of("carrier.outcome_unknown")).toMatchObject([
      { ...job, carrier: "alpha", errorCode: "NoAnswerInTime" },
    ]);
    expect(log.text()).not.toContain("some words");
    const unanswered = {
      at: start.toISOString(),
      carrier: "alpha",
      outcome: "unknown",
      code: "NoAnswerInTime",
    };
    // People who look for the message see the attempt while it has no outcome.
    expect(attemptsOf(await recordOf(job))).toEqual([unanswered]);
    expect(openAttempt(await recordOf(job))).toEqual(unanswered);
    // The lease shows it too, of a sender that died.
    const { code: _code, ...ofLease } = unanswered;
    expect(openAttempt({ ...(await recordOf(job)), attemptLog: undefined })).toEqual(ofLease);
    vi.setSystemTime(afterSeconds(121));
    await submitMessage(job, sender);
    expect(await statusOf(job)).toBe(status);
    const attempts = attemptsOf(await recordOf(job));
    expect(attempts.map(({ outcome }) => outcome)).toEqual(outcomes);
    // The time of the submission is known.
    expect(attempts[0]).toEqual(unanswered);
  });

  it("has its code when the message ends with it and is refunded, and no one reads the carrier's words", async () => {
    const job = await acceptedMessage();
    const sender = inOrder(named({ alpha: new ScriptedCarrier(fallSilent) }));
    for (let call = 1; call < 5; call += 1) {
      await expect(submitMessage(job, sender)).rejects.toThrow("what the carrier did is not known");
      vi.setSystemTime(afterSeconds(121 * call));
    }
    await submitMessage(job, sender);
    expect(await statusOf(job)).toBe("failed: MESSAGE_OUTCOME_UNKNOWN");
    const { attemptLog = [] } = await recordOf(job);
    expect(attemptLog.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 5 }, () => "unknown"));
    expect(attemptLog.at(-1)?.code).toBe("NoAnswerInTime");
    const seenByCustomer = JSON.stringify([
      await getMessage(ownerOf(job.organizationId), job.messageId),
      await takeJobs("webhookDeliveries"),
    ]);
    expect(seenByCustomer).toContain("MESSAGE_OUTCOME_UNKNOWN");
    expect(seenByCustomer + log.text()).not.toContain("some words");
    expect(await takeJobs("refunds")).toEqual([job]);
  });
});

describe("a message that its carrier only buffers", () => {
  it("is sent, is never submitted again, and shows that to the operator alone", async () => {
    const job = await acceptedMessage();
    const alpha = new ScriptedCarrier(buffer, false);
    const beta = new ScriptedCarrier(accept);
    for (let call = 1; call <= 2; call += 1) await submitMessage(job, inOrder(named({ alpha, beta })));
    expect(await statusOf(job)).toBe("sent");
    expect([alpha.received.length, beta.received.length]).toEqual([1, 0]);
    const at = start.toISOString();
    expect(attemptsOf(await recordOf(job))).toEqual([
      { at, carrier: "alpha", outcome: "buffered", code: "HTTP202.3" },
    ]);
    expect((await getMessage(ownerOf(job.organizationId), job.messageId)).attempts).toEqual([
      { at, outcome: "accepted" },
    ]);
    expect(log.of("carrier.buffered")).toMatchObject([{ ...job, carrier: "alpha" }]);
  });
});

it("a receipt keeps the carrier's code for why the phone did not receive the message", async () => {
  const job = await acceptedMessage();
  await submitMessage(job, inOrder(named({ alpha: new ScriptedCarrier(accept) })));
  const at = afterSeconds(10);
  const receipt = { ...job, carrier: "alpha", at, providerCode: "30003" } as const;
  await recordDeliveryReceipt({ ...receipt, status: "undelivered", errorCode: "DELIVERY_UNREACHABLE" });
  expect(await recordOf(job)).toMatchObject({ deliveryProviderCode: "30003" });
  expect(log.of("message.receipt")).toMatchObject([{ ...job, carrier: "alpha", providerCode: "30003" }]);
  expect(JSON.stringify(await getMessage(ownerOf(job.organizationId), job.messageId))).not.toContain("30003");
  // The message arrived after all.
  await recordDeliveryReceipt({ ...job, carrier: "alpha", at: afterSeconds(20), status: "delivered" });
  expect((await recordOf(job)).deliveryProviderCode).toBeUndefined();
});
