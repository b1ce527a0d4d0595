import { beforeEach, expect, it, vi } from "vitest";

import type { MessageType } from "../../shared/api/contract/sms.ts";
import type { SubmitResult } from "../../shared/carriers/carrier.ts";
import type { MessageJob } from "../../shared/messages/message/message-job.ts";
import { getMessage } from "../../shared/messages/message/read.ts";
import { redactedText } from "../../shared/messages/message/record.ts";
import { cancelMessage } from "../../shared/messages/outcome/cancel.ts";
import { refundMessage } from "../../shared/messages/outcome/refund.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { only, accept, reject, throttle, ScriptedCarrier } from "../support/carriers.ts";
import { acceptFor } from "../support/messages.ts";
import { takeJobs } from "../support/queues.ts";
import { ownerOf } from "../support/viewer.ts";
import { openWallet } from "../support/wallets.ts";
import { openWebhook } from "../support/webhooks.ts";

const text = "Your code is 123456: https://example.com/in?token=abc".repeat(4);
let organizationId: string;

beforeEach(async () => {
  vi.stubEnv(environmentNames.policies.redactOneTimeCodes, "true");
  organizationId = await openWallet(1_000_000);
});

async function accepted(messageType?: MessageType, scheduledAt?: string): Promise<MessageJob> {
  return acceptFor(organizationId, { message: text, messageType, scheduledAt });
}

/** Submits a message until it has ended. @returns the texts that the carrier received */
async function submit(job: MessageJob, ...answers: SubmitResult[]): Promise<string[]> {
  const carrier = new ScriptedCarrier((call) => answers[call - 1] ?? accept());
  for (const _ of [...answers, "accepted"]) await submitMessage(job, only(carrier));
  return carrier.received.map((message) => message.text);
}

async function stored({ messageId }: MessageJob) {
  return getMessage(ownerOf(organizationId), messageId);
}

it("the text of a one-time code is deleted when it is sent, not before, and its price and segments stay", async () => {
  const job = await accepted("otp");
  const before = await stored(job);
  expect(before).toMatchObject({ message: text, pricing: { segments: 2 } });
  expect(await submit(job, throttle())).toEqual([text, text]);
  expect(await stored(job)).toMatchObject({
    status: "sent",
    message: redactedText,
    encoding: before.encoding,
    pricing: before.pricing,
  });
  expect(await verifyWallet(organizationId)).toMatchObject({ findings: [] });
});

it("the text is deleted when the message fails for good, and its price is returned", async () => {
  const job = await accepted("otp");
  await submit(job, reject());
  await refundMessage(job);
  expect(await stored(job)).toMatchObject({ status: "failed", message: redactedText });
  expect(await verifyWallet(organizationId)).toMatchObject({ findings: [], balanceMicros: 1_000_000 });
});

it("the text is deleted when the message is cancelled", async () => {
  const job = await accepted("otp", new Date(Date.now() + 30 * minuteMs).toISOString());
  expect(await cancelMessage(ownerOf(organizationId), job.messageId)).toMatchObject({
    message: redactedText,
  });
});

it("no job of a message has its text, before or after its end", async () => {
  await openWebhook("http://127.0.0.1:9/nobody", organizationId);
  const job = await accepted("otp");
  const jobs = await takeJobs("transactionalSends");
  await submit(job, reject());
  jobs.push(...(await takeJobs("refunds")), ...(await takeJobs("webhookDeliveries")));
  expect(jobs.length).toBeGreaterThanOrEqual(3);
  expect(JSON.stringify(jobs)).not.toContain("123456");
});

it("the text of a message without a type is deleted too, because it may be a code", async () => {
  const job = await accepted();
  await submit(job);
  expect(await stored(job)).toMatchObject({ status: "sent", message: redactedText });
});

it.each(["transactional", "marketing"] as const)("a text of the type %s stays", async (type) => {
  const job = await accepted(type);
  await submit(job);
  expect(await stored(job)).toMatchObject({ status: "sent", message: text });
});

it("without the setting, the rule of the contract holds: the text stays", async () => {
  vi.stubEnv(environmentNames.policies.redactOneTimeCodes, "false");
  const job = await accepted("otp");
  await submit(job);
  expect(await stored(job)).toMatchObject({ status: "sent", message: text });
});
