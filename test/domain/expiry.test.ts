import { beforeEach, describe, expect, it, vi } from "vitest";

import { Breakers } from "../../shared/carriers/breaker.ts";
import { Throughput } from "../../shared/carriers/throughput.ts";
import { MessageJob } from "../../shared/messages/message/message-job.ts";
import { getMessage } from "../../shared/messages/message/read.ts";
import { recordDeliveryReceipt } from "../../shared/messages/outcome/receipts.ts";
import { refundMessage } from "../../shared/messages/outcome/refund.ts";
import type { Sender } from "../../shared/messages/send/choose-carrier.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import {
  accept,
  inOrder,
  only,
  ScriptedCarrier,
  named,
  loseResponse,
  reject,
  throttle,
} from "../support/carriers.ts";
import { advance } from "../support/clock.ts";
import { acceptedMessage, recordOf, statusOf } from "../support/messages.ts";
import { delayedJobs, takeJobs } from "../support/queues.ts";
import { ownerOf } from "../support/viewer.ts";

/*
 * A message is never submitted after its expiry, for whatever reason it waited.
 */

const start = new Date("2030-06-01T12:00:00Z");
const afterSeconds = (seconds: number): Date => new Date(start.getTime() + seconds * 1_000);

beforeEach(() => void vi.setSystemTime(start));

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
    return reject();
  });
  const next = new ScriptedCarrier(accept);
  const job = await acceptedMessage({ expiresInSeconds: 90 });
  vi.setSystemTime(afterSeconds(10));
  await submitMessage(job, inOrder(named({ slow, next })));
  expect(slow.received[0]?.validitySeconds).toBe(80);
  expect(next.received[0]?.validitySeconds).toBe(30);
  await submitMessage(await acceptedMessage(), inOrder(named({ next })));
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
  await submitMessage(job, inOrder(named({ slow, next })));
  expect(next.received).toEqual([]);
  expect(await statusOf(job)).toBe("failed: MESSAGE_EXPIRED");
});

describe("a message does not wait beyond its expiry", () => {
  /** Submits a message that expires in 90 seconds until it is rescheduled, and again when that job is due. */
  async function expectToWaitAndFail(sender: Sender): Promise<void> {
    const job = await acceptedMessage({ expiresInSeconds: 90 });
    const [queued] = await delayedJobs(async () => submitMessage(job, sender));
    expect(await statusOf(job)).toBe("queued");
    expect(queued?.delaySeconds).toBe(85);
    advance(85_000);
    await submitMessage(MessageJob.parse(queued?.body), sender);
    expect(await statusOf(job)).toBe("failed: MESSAGE_EXPIRED");
  }

  it("for a carrier's throughput", async () => {
    const carrier = new ScriptedCarrier(accept);
    const slow = { name: `slow-${Date.now()}`, carrier, segmentsPerSecond: 0.001 };
    const throughput = new Throughput();
    await throughput.reserve(slow.name, slow.segmentsPerSecond, { segments: 1, isMarketing: false });
    await expectToWaitAndFail(inOrder([slow], { throughput }));
    expect(carrier.received).toEqual([]);
  });

  it("for the end of a pause", async () => {
    const carrier = new ScriptedCarrier(accept);
    const sending = { pausedAt: start.toISOString() };
    await expectToWaitAndFail(only(carrier, { sending }));
    expect(carrier.received).toEqual([]);
  });

  it("for a carrier that does not respond", async () => {
    const carrier = new ScriptedCarrier(accept);
    const breakers = new Breakers();
    vi.spyOn(breakers, "openUntil").mockImplementation(async () => afterSeconds(3_600).toISOString());
    await expectToWaitAndFail(only(carrier, { breakers }));
    expect(carrier.received).toEqual([]);
  });

  it("for a carrier that throttles it", async () => {
    const carrier = new ScriptedCarrier(() => ({ outcome: "throttled", retryAfterSeconds: 900 }));
    await expectToWaitAndFail(only(carrier));
    expect(carrier.received).toHaveLength(1);
  });
});

describe("of a message that expires after a carrier gave no response", () => {
  it.each([true, false])("the outcome stays unknown (idempotent: %s)", async (idempotent) => {
    const carrier = new ScriptedCarrier(loseResponse, idempotent);
    const job = await acceptedMessage({ expiresInSeconds: 90 });
    await expect(submitMessage(job, only(carrier))).rejects.toThrow("what the carrier did is not known");
    vi.setSystemTime(afterSeconds(120));
    await submitMessage(job, only(carrier));
    expect(carrier.received).toHaveLength(1);
    expect(await statusOf(job)).toBe("failed: MESSAGE_OUTCOME_UNKNOWN");
  });

  it("a receipt confirms that it was sent", async () => {
    const carrier = new ScriptedCarrier(loseResponse);
    const sender = inOrder(named({ alpha: carrier }));
    const job = await acceptedMessage({ expiresInSeconds: 90 });
    await expect(submitMessage(job, sender)).rejects.toThrow("what the carrier did is not known");
    const at = afterSeconds(10).toISOString();
    await recordDeliveryReceipt({ ...job, carrier: "alpha", status: "delivered", at });
    vi.setSystemTime(afterSeconds(120));
    await submitMessage(job, sender);
    expect(await recordOf(job)).toMatchObject({ status: "sent", sentAt: at });
  });
});
