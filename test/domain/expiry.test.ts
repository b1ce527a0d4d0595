import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { Breakers } from "../../shared/carriers/breaker.ts";
import type { SubmitResult } from "../../shared/carriers/carrier.ts";
import { Throughput } from "../../shared/carriers/throughput.ts";
import { MessageJob } from "../../shared/messages/message/message-job.ts";
import { getMessage } from "../../shared/messages/message/read.ts";
import { recordDeliveryReceipt } from "../../shared/messages/outcome/receipts.ts";
import { refundMessage } from "../../shared/messages/outcome/refund.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { accept, inOrder, only, ScriptedCarrier } from "../support/carriers.ts";
import { acceptedMessage, recordOf, statusOf } from "../support/messages.ts";
import { delayedJobs, takeJobs } from "../support/queues.ts";
import { ownerOf } from "../support/viewer.ts";

/*
 * A message is never submitted after its expiry, for whatever reason it waited.
 */

const start = new Date("2030-06-01T12:00:00Z");
const afterSeconds = (seconds: number): Date => new Date(start.getTime() + seconds * 1_000);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: start });
});
afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  vi.useRealTimers();
  for (const queue of ["refunds", "webhookDeliveries", "transactionalSends"] as const) await takeJobs(queue);
});

const throttle = (): SubmitResult => ({ outcome: "throttled" });
const fallSilent = (): never => {
  throw new Error("the response was lost");
};

/** The expiry of a message, as its customer sees it. */
async function expiryOf(fields: Parameters<typeof acceptedMessage>[0]): Promise<string | undefined> {
  const job = await acceptedMessage(fields);
  return (await getMessage(ownerOf(job.organizationId), job.messageId)).expiresAt;
}

describe("a message expires", () => {
  it("at the requested time after it was accepted", async () => {
    expect(await expiryOf({ expiresInSeconds: 90 })).toBe(afterSeconds(90).toISOString());
  });

  it("at the requested time after its schedule", async () => {
    const scheduledAt = afterSeconds(3_600).toISOString();
    expect(await expiryOf({ expiresInSeconds: 90, scheduledAt })).toBe(afterSeconds(3_690).toISOString());
  });

  it("ten minutes after it is due if it is a one-time code, or at the stage's time", async () => {
    expect(await expiryOf({ messageType: "otp" })).toBe(afterSeconds(600).toISOString());
    vi.stubEnv(environmentNames.oneTimeCodeValiditySeconds, "120");
    expect(await expiryOf({ messageType: "otp" })).toBe(afterSeconds(120).toISOString());
    expect(await expiryOf({ messageType: "otp", expiresInSeconds: 300 })).toBe(
      afterSeconds(300).toISOString(),
    );
  });

  it.each([undefined, "transactional", "marketing"] as const)(
    "never if it is of type %s and has no requested time",
    async (messageType) => expect(await expiryOf({ messageType })).toBeUndefined(),
  );
});

it("every carrier learns the remaining time of a message that expires, and none of others", async () => {
  const slow = new ScriptedCarrier(() => {
    vi.setSystemTime(afterSeconds(60));
    return { outcome: "rejected", errorCode: "MESSAGE_UNROUTABLE" };
  });
  const next = new ScriptedCarrier(accept);
  const job = await acceptedMessage({ expiresInSeconds: 90 });
  vi.setSystemTime(afterSeconds(10));
  const route = [
    { name: "slow", carrier: slow },
    { name: "next", carrier: next },
  ];
  await submitMessage(job, inOrder(route));
  expect(slow.received[0]?.validitySeconds).toBe(80);
  expect(next.received[0]?.validitySeconds).toBe(30);
  await submitMessage(await acceptedMessage(), inOrder(route.slice(1)));
  expect(next.received[1]?.validitySeconds).toBeUndefined();
});

it("an expired message reaches no carrier, fails with its own code, and is refunded once", async () => {
  const carrier = new ScriptedCarrier(accept);
  const job = await acceptedMessage({ messageType: "otp" });
  // Less time is left than a carrier needs.
  vi.setSystemTime(afterSeconds(596));
  await submitMessage(job, only(carrier));
  expect(carrier.received).toEqual([]);
  expect(await statusOf(job)).toBe("failed: MESSAGE_EXPIRED");
  expect(await takeJobs("webhookDeliveries")).toMatchObject([
    { event: { event: "message.failed", data: { errorCode: "MESSAGE_EXPIRED" } } },
  ]);
  expect(await takeJobs("refunds")).toEqual([job]);
  await refundMessage(job);
  await refundMessage(job);
  expect((await readWallet(job.organizationId)).balanceMicros).toBe(1_000_000);
});

it("a message that expires during a submission goes to no other carrier", async () => {
  const slow = new ScriptedCarrier(() => {
    vi.setSystemTime(afterSeconds(60));
    return throttle();
  });
  const next = new ScriptedCarrier(accept);
  const job = await acceptedMessage({ expiresInSeconds: 60 });
  vi.setSystemTime(afterSeconds(10));
  const route = [
    { name: "slow", carrier: slow },
    { name: "next", carrier: next },
  ];
  await submitMessage(job, inOrder(route));
  expect(next.received).toEqual([]);
  expect(await statusOf(job)).toBe("failed: MESSAGE_EXPIRED");
});

describe("a message does not wait beyond its expiry", () => {
  /** Works on a job until it is rescheduled, and returns with it when it is due. @returns the delay in seconds */
  async function waitAndFail(
    job: MessageJob,
    sender: Parameters<typeof submitMessage>[1],
  ): Promise<number | undefined> {
    const [queued] = await delayedJobs(async () => submitMessage(job, sender));
    expect(await statusOf(job)).toBe("queued");
    const { delaySeconds } = queued ?? {};
    vi.setSystemTime(Date.now() + (delaySeconds ?? 0) * 1_000);
    await submitMessage(MessageJob.parse(queued?.body), sender);
    expect(await statusOf(job)).toBe("failed: MESSAGE_EXPIRED");
    return delaySeconds;
  }

  it("for a carrier's throughput", async () => {
    const carrier = new ScriptedCarrier(accept);
    const slow = { name: `slow-${Date.now()}`, carrier, segmentsPerSecond: 0.001 };
    const throughput = new Throughput();
    await throughput.reserve(slow.name, slow.segmentsPerSecond, { segments: 1, isMarketing: false });
    const job = await acceptedMessage({ expiresInSeconds: 90 });
    expect(await waitAndFail(job, inOrder([slow], { throughput }))).toBe(85);
    expect(carrier.received).toEqual([]);
  });

  it("for the end of a pause", async () => {
    const carrier = new ScriptedCarrier(accept);
    const sending = { pausedAt: start.toISOString() };
    const job = await acceptedMessage({ expiresInSeconds: 90 });
    expect(await waitAndFail(job, only(carrier, { sending }))).toBe(85);
    expect(carrier.received).toEqual([]);
  });

  it("for a carrier that does not respond", async () => {
    const carrier = new ScriptedCarrier(accept);
    const breakers = new Breakers();
    vi.spyOn(breakers, "openUntil").mockImplementation(async () => afterSeconds(3_600).toISOString());
    const job = await acceptedMessage({ expiresInSeconds: 90 });
    expect(await waitAndFail(job, only(carrier, { breakers }))).toBe(85);
    expect(carrier.received).toEqual([]);
  });

  it("for a carrier that throttles it", async () => {
    const carrier = new ScriptedCarrier(() => ({ outcome: "throttled", retryAfterSeconds: 900 }));
    const job = await acceptedMessage({ expiresInSeconds: 90 });
    expect(await waitAndFail(job, only(carrier))).toBe(85);
    expect(carrier.received).toHaveLength(1);
  });
});

describe("of a message that expires after a carrier gave no response", () => {
  it.each([true, false])("the outcome stays unknown (idempotent: %s)", async (idempotent) => {
    const carrier = new ScriptedCarrier(fallSilent, idempotent);
    const job = await acceptedMessage({ expiresInSeconds: 90 });
    await expect(submitMessage(job, only(carrier))).rejects.toThrow("what the carrier did is not known");
    vi.setSystemTime(afterSeconds(120));
    await submitMessage(job, only(carrier));
    expect(carrier.received).toHaveLength(1);
    expect(await statusOf(job)).toBe("failed: MESSAGE_OUTCOME_UNKNOWN");
  });

  it("a receipt confirms that it was sent", async () => {
    const carrier = new ScriptedCarrier(fallSilent);
    const sender = inOrder([{ name: "alpha", carrier }]);
    const job = await acceptedMessage({ expiresInSeconds: 90 });
    await expect(submitMessage(job, sender)).rejects.toThrow("what the carrier did is not known");
    const at = afterSeconds(10).toISOString();
    await recordDeliveryReceipt({ ...job, carrier: "alpha", status: "delivered", at });
    vi.setSystemTime(afterSeconds(120));
    await submitMessage(job, sender);
    expect(await recordOf(job)).toMatchObject({ status: "sent", sentAt: at });
  });
});
