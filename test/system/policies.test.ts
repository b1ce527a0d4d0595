import { afterEach, beforeEach, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { nextRecipients, withinLimits } from "../../shared/audience/campaigns/recipients.ts";
import { readCampaign } from "../../shared/audience/campaigns/record.ts";
import { runCampaign } from "../../shared/audience/campaigns/run.ts";
import type { Carrier, SubmitResult } from "../../shared/carriers/carrier.ts";
import { receiveInboundMessage } from "../../shared/messages/inbound/receive.ts";
import { getMessage, readMessage } from "../../shared/messages/message/read.ts";
import { assignNumber } from "../../shared/messages/numbers/record.ts";
import { refundMessage } from "../../shared/messages/outcome/refund.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { giveUpName } from "../../shared/messages/sender-ids/names.ts";
import { dayMs, hourMs, minuteMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { transact } from "../../shared/platform/table/transact.ts";
import { putItem, updateItem, updateOf, putOf, putUnchecked } from "../../shared/platform/table/write.ts";
import { Customer } from "../support/api.ts";
import { acceptMessage } from "../support/as-organization.ts";
import { createCampaignTo } from "../support/campaigns.ts";
import { messageIdIn, only } from "../support/carriers.ts";
import { replyOf } from "../support/inbound-messages.ts";
import { allowToSend, strictPolicies } from "../support/policies.ts";
import { onePrice } from "../support/prices.ts";
import { takeJobs } from "../support/queues.ts";
import { ownerOf } from "../support/viewer.ts";

/*
 * The outcome of messages and campaigns when a rule changes between their acceptance and their time. The shared
 * gateway, which has other rules, gets none of their jobs.
 */

const message = { to: "15005550000", message: "hello", senderId: "ACME", language: "English" } as const;

let customer: Customer;
let organizationId: string;
beforeEach(async () => {
  customer = await Customer.register({ balance: 1 });
  ({ organizationId } = customer);
  await allowToSend(organizationId, "ACME");
  for (const [name, value] of Object.entries(strictPolicies("US"))) vi.stubEnv(name, value);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

/** A carrier that accepts and records all messages. */
class TakingCarrier implements Carrier {
  readonly idempotent: boolean;
  readonly received: string[] = [];
  #failures: number;

  constructor({ failures = 0, idempotent = true } = {}) {
    this.#failures = failures;
    this.idempotent = idempotent;
  }

  async send({ reference }: { readonly reference: string }): Promise<SubmitResult> {
    this.received.push(messageIdIn(reference));
    this.#failures -= 1;
    if (this.#failures >= 0) throw new Error("the response was lost");
    return { outcome: "accepted", carrierReference: "carrier-1" };
  }
}

/** Accepts a message, whose job only the test receives. */
async function accepted(fields: object = {}): Promise<{ organizationId: string; messageId: string }> {
  const { id: messageId } = await acceptMessage(organizationId, { ...message, ...fields });
  return { organizationId, messageId };
}

/** Schedules a campaign in an hour, to all contacts. @returns its id */
async function scheduleCampaign(messageType: "marketing" | "transactional"): Promise<string> {
  const scheduledAt = new Date(Date.now() + hourMs).toISOString();
  return createCampaignTo(organizationId, 0, { messageType, scheduledAt });
}

/** Returns why a message has failed. */
async function failureOf(messageId: string): Promise<string | undefined> {
  const { status, errorCode } = await getMessage(ownerOf(organizationId), messageId);
  expect(status).toBe("failed");
  return errorCode;
}

async function withdraw(): Promise<void> {
  await transact({ name: giveUpName(organizationId, "ACME") });
}

it("a message whose sender ID has lost its approval since its acceptance fails and is refunded", async () => {
  const scheduledAt = new Date(Date.now() + hourMs).toISOString();
  for (const job of [await accepted(), await accepted({ scheduledAt, senderId: "acme" })]) {
    const before = await customer.balance();
    await withdraw();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + hourMs });
    const carrier = new TakingCarrier();
    await submitMessage(job, only(carrier));
    vi.useRealTimers();
    expect(carrier.received).toEqual([]);
    expect(await failureOf(job.messageId)).toBe("MESSAGE_SENDER_ID_NOT_APPROVED");
    expect(await takeJobs("refunds")).toEqual([job]);
    await refundMessage(job);
    expect(await customer.balance()).toBeCloseTo(before + 0.0079, 6);
    await allowToSend(organizationId, "ACME");
  }
});

it("a message whose sender ID is still approved is sent", async () => {
  const job = await accepted();
  await submitMessage(job, only(new TakingCarrier()));
  expect((await getMessage(ownerOf(organizationId), job.messageId)).status).toBe("sent");
});

it("marketing fails and is refunded when its contact has opted out meanwhile, and no other message does", async () => {
  const { id } = await customer.client.createContact({ body: { phoneNumber: message.to } });
  const marketing = await accepted({ messageType: "marketing" });
  const others = [await accepted({ messageType: "otp" }), await accepted({ messageType: "transactional" })];
  await customer.client.updateContact({ params: { id }, body: { optedOut: true } });
  const carrier = new TakingCarrier();
  for (const job of [marketing, ...others]) await submitMessage(job, only(carrier));
  expect(carrier.received).toEqual(others.map(({ messageId }) => messageId));
  expect(await failureOf(marketing.messageId)).toBe("MESSAGE_RECIPIENT_OPTED_OUT");
  expect(await takeJobs("refunds")).toEqual([marketing]);
});

it("a campaign of any type is not sent to a number that has opted out meanwhile", async () => {
  await customer.client.createContact({ body: { phoneNumber: message.to } });
  const campaignId = await scheduleCampaign("transactional");
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + hourMs + minuteMs });
  await runCampaign({ organizationId, campaignId });
  const { lastMessageIds } = await readCampaign(organizationId, campaignId);
  const [messageId = ""] = lastMessageIds;
  await customer.client.createOptOut({ body: { phoneNumber: message.to } });
  const carrier = new TakingCarrier();
  await submitMessage({ organizationId, messageId }, only(carrier));
  expect(carrier.received).toEqual([]);
  expect(await failureOf(messageId)).toBe("MESSAGE_RECIPIENT_OPTED_OUT");
});

it("STOP keeps all but one-time codes from a number, when they are accepted and when their time comes", async () => {
  await assignNumber({ number: "12025550133", organizationId });
  const types = ["transactional", "marketing", undefined] as const;
  const waiting = [];
  for (const messageType of types) waiting.push(await accepted({ messageType }));
  const code = await accepted({ messageType: "otp" });
  await receiveInboundMessage(replyOf({ from: message.to, to: "12025550133", message: "STOP" }));
  const carrier = new TakingCarrier();
  for (const job of [...waiting, code]) await submitMessage(job, only(carrier));
  expect(carrier.received).toEqual([code.messageId]);
  for (const { messageId } of waiting) {
    expect(await failureOf(messageId)).toBe("MESSAGE_RECIPIENT_OPTED_OUT");
  }
  const isRejected = { code: "RECIPIENT_OPTED_OUT" };
  for (const messageType of types) await expect(accepted({ messageType })).rejects.toMatchObject(isRejected);
  await accepted({ messageType: "otp" });
  // An opt-out that the organization recorded is only about marketing.
  await receiveInboundMessage(replyOf({ from: message.to, to: "12025550133", message: "START" }));
  await customer.client.createOptOut({ body: { phoneNumber: message.to } });
  await expect(accepted({ messageType: "marketing" })).rejects.toMatchObject(isRejected);
  for (const messageType of ["transactional", undefined] as const) await accepted({ messageType });
});

it("a campaign skips and counts numbers that reached their marketing limit; a repeated block counts once", async () => {
  vi.stubEnv(environmentNames.marketingMessagesPerNumber, "1");
  const phoneNumbers = [message.to, "12125550101", "12125550102"];
  for (const phoneNumber of phoneNumbers) await customer.client.createContact({ body: { phoneNumber } });
  // The limit counts by days, and all of this happens in one.
  vi.useFakeTimers({ toFake: ["Date"], now: Math.ceil(Date.now() / dayMs) * dayMs });
  await accepted({ messageType: "marketing" });
  const run = async (): Promise<string> => {
    const campaignId = await scheduleCampaign("marketing");
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + hourMs + minuteMs });
    const key = keys.campaign(organizationId, campaignId);
    const startedAt = new Date().toISOString();
    await updateItem(z.unknown(), updateOf(key, { set: { startedAt } }));
    // Its worker dies once the block is counted, and before it is accepted.
    const turns = await nextRecipients(await readCampaign(organizationId, campaignId), 10, {
      queuedAt: new Date(),
      prices: onePrice,
    });
    await withinLimits(await readCampaign(organizationId, campaignId), turns);
    await runCampaign({ organizationId, campaignId });
    return campaignId;
  };
  const first = await run();
  expect(await readCampaign(organizationId, first)).toMatchObject({
    accepted: 2,
    skippedRecipientRateExceeded: 1,
  });
  expect(await readCampaign(organizationId, await run())).toMatchObject({
    accepted: 0,
    skippedRecipientRateExceeded: 3,
    status: "completed",
  });
});

it("an opt-out in a contact counts, and outlives its contact", async () => {
  const { client } = customer;
  const { id } = await client.createContact({ body: { phoneNumber: message.to, optedOut: true } });
  const params = { phoneNumber: message.to };
  const marketing = { ...message, messageType: "marketing" } as const;
  await client.deleteContact({ params: { id } });
  expect(await client.getOptOut({ params })).toMatchObject({ source: "contact" });
  await expect(acceptMessage(organizationId, marketing)).rejects.toMatchObject({
    code: "RECIPIENT_OPTED_OUT",
  });
  await client.deleteOptOut({ params });
  expect(await accepted({ messageType: "marketing" })).toMatchObject({ organizationId });
});

it("a message that the carrier may have does not fail because of its sender ID", async () => {
  const job = await accepted();
  const carrier = new TakingCarrier({ failures: 1 });
  await expect(submitMessage(job, only(carrier))).rejects.toThrow("what the carrier did is not known");
  await withdraw();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3 * minuteMs });
  await submitMessage(job, only(carrier));
  expect(carrier.received).toHaveLength(1);
  expect(await failureOf(job.messageId)).toBe("MESSAGE_OUTCOME_UNKNOWN");
});

it("a message whose sender ID could not be looked up is released, and its outcome is known", async () => {
  const job = await accepted();
  const key = keys.senderName("ACME");
  await putItem(putUnchecked(key, { entity: "from another time" }));
  const carrier = new TakingCarrier({ idempotent: false });
  await expect(submitMessage(job, only(carrier))).rejects.toThrow("cannot be read");
  expect(await readMessage(ownerOf(organizationId), job.messageId)).toMatchObject({
    status: "queued",
    unresolvedAttempts: 0,
  });
  await putItem(putOf(key, { entity: "senderName", organizationIds: new Set([organizationId]) }));
  await submitMessage(job, only(carrier));
  expect((await getMessage(ownerOf(organizationId), job.messageId)).status).toBe("sent");
});

it.each([
  ["SENDER_ID_NOT_APPROVED", async () => withdraw()],
  ["KYC_REQUIRED", async () => forget("kycApprovedAt")],
  ["EMAIL_NOT_VERIFIED", async () => forget("verifiedUserIds")],
])("a scheduled campaign fails with %s when its time comes, and sends nothing", async (errorCode, change) => {
  await customer.client.createContact({ body: { phoneNumber: message.to } });
  const campaignId = await scheduleCampaign("marketing");
  await change();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + hourMs + minuteMs });
  await runCampaign({ organizationId, campaignId });
  const campaign = await readCampaign(organizationId, campaignId);
  expect(campaign).toMatchObject({ status: "failed", errorCode, accepted: 0 });
});

async function forget(field: "kycApprovedAt" | "verifiedUserIds"): Promise<void> {
  await updateItem(z.unknown(), updateOf(keys.rights(organizationId), { remove: [field] }));
}
