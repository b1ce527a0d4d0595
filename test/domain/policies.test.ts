import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { createCampaign } from "../../shared/campaigns/create.ts";
import { readCampaign } from "../../shared/campaigns/record.ts";
import { runCampaign } from "../../shared/campaigns/run.ts";
import type { Carrier, HandOff } from "../../shared/carriers/carrier.ts";
import { acceptMessage } from "../../shared/messages/accept-one.ts";
import { handToCarrier } from "../../shared/messages/hand-to-carrier.ts";
import { getMessage, readMessage } from "../../shared/messages/read.ts";
import { refundMessage } from "../../shared/messages/refund.ts";
import { hourMs, minuteMs } from "../../shared/platform/clock.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { deleteItem, putItem, transact } from "../../shared/platform/table/table.ts";
import { giveUpName } from "../../shared/sender-ids/names.ts";
import { Customer } from "../support/api.ts";
import { messageIdIn, only } from "../support/carriers.ts";
import { allowToSend, strictPolicies } from "../support/policies.ts";
import { takeJobs } from "../support/queues.ts";

/*
 * What becomes of messages and campaigns when something changes between their acceptance and their time. The shared
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

/** A carrier that takes what it is given, and remembers it. */
class TakingCarrier implements Carrier {
  readonly deduplicates: boolean;
  readonly received: string[] = [];
  #failures: number;

  constructor({ failures = 0, deduplicates = true } = {}) {
    this.#failures = failures;
    this.deduplicates = deduplicates;
  }

  async send({ reference }: { readonly reference: string }): Promise<HandOff> {
    this.received.push(messageIdIn(reference));
    this.#failures -= 1;
    if (this.#failures >= 0) throw new Error("the answer was lost");
    return { outcome: "accepted", carrierReference: "carrier-1" };
  }
}

/** Accepts a message, whose job nobody takes but the test. */
async function accepted(fields: object = {}): Promise<{ organizationId: string; messageId: string }> {
  const { id: messageId } = await acceptMessage(organizationId, { ...message, ...fields });
  return { organizationId, messageId };
}

async function withdraw(): Promise<void> {
  await transact([giveUpName(organizationId, "ACME")]);
}

it("a message whose sender ID was approved when it was accepted, and is not any more, fails and is refunded", async () => {
  const scheduledAt = new Date(Date.now() + hourMs).toISOString();
  for (const job of [await accepted(), await accepted({ scheduledAt, senderId: "acme" })]) {
    const before = await customer.balance();
    await withdraw();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + hourMs });
    const carrier = new TakingCarrier();
    await handToCarrier(job, only(carrier));
    vi.useRealTimers();
    expect(carrier.received).toEqual([]);
    expect(await getMessage(organizationId, job.messageId)).toMatchObject({
      status: "failed",
      errorCode: "MESSAGE_SENDER_ID_NOT_APPROVED",
    });
    expect(await takeJobs("refunds")).toEqual([job]);
    await refundMessage(job);
    expect(await customer.balance()).toBeCloseTo(before + 0.0079, 6);
    await allowToSend(organizationId, "ACME");
  }
});

it("a message whose sender ID is still approved is sent", async () => {
  const job = await accepted();
  await handToCarrier(job, only(new TakingCarrier()));
  expect((await getMessage(organizationId, job.messageId)).status).toBe("sent");
});

it("marketing fails and is refunded when its contact has opted out meanwhile, and nothing else does", async () => {
  const { id } = await customer.client.createContact({ body: { phoneNumber: message.to } });
  const marketing = await accepted({ messageType: "marketing" });
  const others = [await accepted({ messageType: "otp" }), await accepted({ messageType: "transactional" })];
  await customer.client.updateContact({ params: { id }, body: { optedOut: true } });
  const carrier = new TakingCarrier();
  for (const job of [marketing, ...others]) await handToCarrier(job, only(carrier));
  expect(carrier.received).toEqual(others.map(({ messageId }) => messageId));
  expect(await getMessage(organizationId, marketing.messageId)).toMatchObject({
    status: "failed",
    errorCode: "MESSAGE_RECIPIENT_OPTED_OUT",
  });
  expect(await takeJobs("refunds")).toEqual([marketing]);
});

it("a campaign of any type is not sent to a number that has opted out meanwhile", async () => {
  await customer.client.createContact({ body: { phoneNumber: message.to } });
  const { id: campaignId } = await createCampaign(organizationId, {
    name: "Spring",
    message: "hello",
    audience: { all: true },
    senderId: "ACME",
    language: "English",
    messageType: "transactional",
    scheduledAt: new Date(Date.now() + hourMs).toISOString(),
  });
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + hourMs + minuteMs });
  await runCampaign({ organizationId, campaignId });
  const { lastMessageIds } = await readCampaign(organizationId, campaignId);
  const [messageId = ""] = lastMessageIds;
  await customer.client.createOptOut({ body: { phoneNumber: message.to } });
  const carrier = new TakingCarrier();
  await handToCarrier({ organizationId, messageId }, only(carrier));
  expect(carrier.received).toEqual([]);
  expect(await getMessage(organizationId, messageId)).toMatchObject({
    status: "failed",
    errorCode: "MESSAGE_RECIPIENT_OPTED_OUT",
  });
});

it("a contact of an older release that has opted out alone is heeded, and gets an opt-out when it is touched", async () => {
  const { client } = customer;
  const { id } = await client.createContact({ body: { phoneNumber: message.to, optedOut: true } });
  await deleteItem(keys.optOut(organizationId, message.to));
  const params = { phoneNumber: message.to };
  const marketing = { ...message, messageType: "marketing" } as const;
  await expect(acceptMessage(organizationId, marketing)).rejects.toMatchObject({
    code: "RECIPIENT_OPTED_OUT",
  });
  expect(await client.getOptOut({ params })).toMatchObject({ source: "contact" });
  await client.deleteContact({ params: { id } });
  await expect(acceptMessage(organizationId, marketing)).rejects.toMatchObject({
    code: "RECIPIENT_OPTED_OUT",
  });
  await client.deleteOptOut({ params });
  expect(await accepted({ messageType: "marketing" })).toMatchObject({ organizationId });
});

it("a message that the carrier may have is not said to be unsent for its sender ID", async () => {
  const job = await accepted();
  const carrier = new TakingCarrier({ failures: 1 });
  await expect(handToCarrier(job, only(carrier))).rejects.toThrow("what the carrier did is not known");
  await withdraw();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3 * minuteMs });
  await handToCarrier(job, only(carrier));
  expect(carrier.received).toHaveLength(1);
  expect(await getMessage(organizationId, job.messageId)).toMatchObject({
    status: "failed",
    errorCode: "MESSAGE_OUTCOME_UNKNOWN",
  });
});

it("a message whose sender ID could not be looked up is free again, and its carrier in no doubt", async () => {
  const job = await accepted();
  const key = keys.senderName("ACME");
  await putItem({ put: { ...key, entity: "from another time" } });
  const carrier = new TakingCarrier({ deduplicates: false });
  await expect(handToCarrier(job, only(carrier))).rejects.toThrow("cannot be read");
  expect(await readMessage(organizationId, job.messageId)).toMatchObject({ status: "queued", openClaims: 0 });
  await putItem({ put: { ...key, entity: "senderName", organizationIds: new Set([organizationId]) } });
  await handToCarrier(job, only(carrier));
  expect((await getMessage(organizationId, job.messageId)).status).toBe("sent");
});

it.each([
  ["SENDER_ID_NOT_APPROVED", async () => withdraw()],
  ["KYC_REQUIRED", async () => forget("kycApprovedAt")],
  ["EMAIL_NOT_VERIFIED", async () => forget("emailVerifiedAt")],
])("a scheduled campaign fails with %s when its time comes, and sends nothing", async (errorCode, change) => {
  await customer.client.createContact({ body: { phoneNumber: message.to } });
  const { id: campaignId } = await createCampaign(organizationId, {
    name: "Spring",
    message: "hello",
    audience: { all: true },
    senderId: "ACME",
    language: "English",
    messageType: "marketing",
    scheduledAt: new Date(Date.now() + hourMs).toISOString(),
  });
  await change();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + hourMs + minuteMs });
  await runCampaign({ organizationId, campaignId });
  const campaign = await readCampaign(organizationId, campaignId);
  expect(campaign).toMatchObject({ status: "failed", errorCode, accepted: 0 });
});

async function forget(field: string): Promise<void> {
  await transact([{ key: keys.organization(organizationId), update: `REMOVE ${field}` }]);
}
