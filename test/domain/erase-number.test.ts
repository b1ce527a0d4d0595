import { beforeEach, expect, it } from "vitest";
import * as z from "zod/mini";

import { eraseNumber } from "../../shared/accounts/erasure/number.ts";
import { CreateContactRequest } from "../../shared/api/contract/contacts.ts";
import { createContact, getContact } from "../../shared/audience/contacts/contacts.ts";
import { listInbound } from "../../shared/messages/inbound/list.ts";
import { receiveInboundMessage } from "../../shared/messages/inbound/receive.ts";
import { getMessage } from "../../shared/messages/message/read.ts";
import { redactedText } from "../../shared/messages/message/record.ts";
import { assignNumber } from "../../shared/messages/numbers/record.ts";
import { getOptOut } from "../../shared/messages/opt-outs/opt-outs.ts";
import { findOptOut } from "../../shared/messages/opt-outs/record.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { reshard } from "../../shared/platform/table/shards.ts";
import { putItem } from "../../shared/platform/table/write.ts";
import { newDelivery, putDelivery } from "../../shared/webhooks/delivery-record.ts";
import { dispatchWebhook } from "../../shared/webhooks/dispatch.ts";
import { findWebhook } from "../../shared/webhooks/record.ts";
import { WebhookJob } from "../../shared/webhooks/webhook-job.ts";
import { holdMessage } from "../support/as-organization.ts";
import { only } from "../support/carriers.ts";
import { beginExport, runAll } from "../support/exports.ts";
import { replyOf } from "../support/inbound-messages.ts";
import { acceptFor } from "../support/messages.ts";
import { useOwnTable } from "../support/own-table.ts";
import { takeJobs } from "../support/queues.ts";
import { allRows } from "../support/rows.ts";
import { ownerOf } from "../support/viewer.ts";
import { openWallet } from "../support/wallets.ts";
import { type WebhookReceiver } from "../support/webhook-receiver.ts";
import { attemptOf, eventJob, openWebhook, openReceiver } from "../support/webhooks.ts";

const number = "15005550100";
const other = "15005550101";
let organizationId: string;
let hook: WebhookReceiver;
let webhook: Awaited<ReturnType<typeof openWebhook>>;

beforeEach(async () => {
  await useOwnTable();
  hook = await openReceiver();
  webhook = await openWebhook(hook.url);
  ({ organizationId } = webhook);
  await openWallet(1_000_000, organizationId);
  // Messages of both shards, from before and after the change.
  await reshard(organizationId, 2, 1);
});

/** Accepts a message that has the number in each of its texts. */
async function accept(to: string): Promise<string> {
  const details = { reference: to, metadata: { phone: to }, callbackUrl: `https://a.example/${to}` };
  return (await acceptFor(organizationId, { to, message: `Hello ${to}`, ...details })).messageId;
}

async function send(messageId: string): Promise<void> {
  await submitMessage({ organizationId, messageId }, only());
}

/** Creates the delivery of an event about a number, in a state. */
async function deliver(to: string, state: "failed" | "pending" | "succeeded"): Promise<string> {
  const { eventId, event } = eventJob(organizationId);
  const record = await findWebhook(organizationId, webhook.id);
  if (record === undefined || event.event !== "message.sent") throw new Error("there is no such endpoint");
  const delivery = newDelivery(record, eventId, { ...event, data: { ...event.data, to } });
  await putItem(putDelivery(webhook.id, { ...delivery, state }));
  return delivery.id;
}

async function contactOf(phoneNumber: string, optedOut: boolean): Promise<string> {
  const fields = { firstName: "Ada", lastName: "Lovelace", tags: ["vip"], attributes: { city: "London" } };
  const contact = CreateContactRequest.parse({ phoneNumber, optedOut, ...fields });
  return (await createContact(organizationId, contact)).id;
}

it("an export that is still running counts as left", async () => {
  await beginExport(organizationId, { contacts: {} });
  expect(await eraseNumber(organizationId, number)).toMatchObject({ exports: 0, left: 1 });
});

it("an erased number is nowhere in the table, and all other data stays", async () => {
  await contactOf(number, false);
  const otherContact = await contactOf(other, false);
  const messages = [await accept(number), await accept(number), await accept(number), await accept(other)];
  for (const id of messages) await send(id);
  await takeJobs("webhookDeliveries");
  await deliver(number, "succeeded");
  await deliver(number, "failed");
  const otherDelivery = await deliver(other, "succeeded");
  await holdMessage(organizationId, number);
  const otherHeld = await holdMessage(organizationId, other);
  const ofContacts = await beginExport(organizationId, { contacts: {} });
  await runAll(ofContacts);
  const ofOthers = await beginExport(organizationId, { messages: { to: other } });
  await runAll(ofOthers);

  const erased = { contacts: 1, optOutsKept: 0, messages: 3, deliveries: 2, inbound: 0, exports: 1, left: 0 };
  expect(await eraseNumber(organizationId, number)).toEqual(erased);
  const rows = await allRows();
  expect(JSON.stringify(rows)).not.toContain(number);
  expect(rows.map(({ sk }) => sk)).toEqual(
    expect.arrayContaining([otherContact, otherDelivery, otherHeld, ofOthers.exportId]),
  );
  expect(rows.map(({ sk }) => sk)).not.toContain(ofContacts.exportId);
  const [first = "", , , last = ""] = messages;
  expect(await getMessage(ownerOf(organizationId), first)).toMatchObject({
    to: redactedText,
    message: redactedText,
  });
  expect(await getMessage(ownerOf(organizationId), last)).toMatchObject({
    to: other,
    message: `Hello ${other}`,
  });
  expect(await verifyWallet(organizationId)).toMatchObject({ findings: [] });

  const nothing = {
    contacts: 0,
    optOutsKept: 0,
    messages: 0,
    deliveries: 0,
    inbound: 0,
    exports: 0,
    left: 0,
  };
  expect(await eraseNumber(organizationId, number)).toEqual(nothing);
});

it("an opt-out stays, and nothing of its contact", async () => {
  await contactOf(number, true);
  expect(await eraseNumber(organizationId, number)).toMatchObject({ contacts: 1, optOutsKept: 1 });
  expect(await getOptOut(organizationId, number)).toMatchObject({ phoneNumber: number, source: "contact" });
  expect(JSON.stringify(await allRows())).not.toMatch(/Ada|Lovelace|vip|London/);
  // As a new contact, it has opted out again.
  const id = await contactOf(number, false);
  expect(await getContact(organizationId, id)).toMatchObject({ optedOut: true });
});

it("messages and calls that are still to be made stay, and are erased the next time", async () => {
  const [waiting, sent] = [await accept(number), await accept(number)];
  await send(sent);
  await takeJobs("webhookDeliveries");
  const pending = await deliver(number, "pending");
  expect(await eraseNumber(organizationId, number)).toMatchObject({ messages: 1, deliveries: 0, left: 2 });
  expect(await getMessage(ownerOf(organizationId), waiting)).toMatchObject({ to: number, status: "queued" });

  await send(waiting);
  await dispatchWebhook(attemptOf(webhook, { eventId: pending.replace("dlv_", "evt_") }, 1));
  expect(await eraseNumber(organizationId, number)).toMatchObject({ messages: 1, deliveries: 1, left: 0 });
});

it("an event that is queued during the erasure is neither stored nor sent afterwards", async () => {
  const id = await accept(number);
  await takeJobs("webhookDeliveries");
  await send(id);
  const [event] = z.array(WebhookJob).parse(await takeJobs("webhookDeliveries"));
  if (event?.kind !== "event") throw new Error("there is no event");
  expect(await eraseNumber(organizationId, number)).toMatchObject({ messages: 1, left: 0 });
  await dispatchWebhook(event);
  // The queue may deliver it twice, and so may the job of the message.
  await dispatchWebhook(event);
  await send(id);
  expect(await takeJobs("webhookDeliveries")).toEqual([]);
  expect(JSON.stringify(await allRows())).not.toContain(number);
  expect(hook.calls).toEqual([]);
  // An event about another message is sent as usual.
  await send(await accept(other));
  const [told] = z.array(WebhookJob).parse(await takeJobs("webhookDeliveries"));
  if (told !== undefined) await dispatchWebhook(told);
  expect(hook.calls).toHaveLength(1);
});

it("an inbound message that is queued during the erasure is not kept after it, and its STOP is obeyed", async () => {
  await assignNumber({ number: "12025550199", organizationId });
  const receivedAt = new Date().toISOString();
  const said = (message: string, at = receivedAt) =>
    replyOf({ from: number, to: "12025550199", message, receivedAt: at });
  expect(await eraseNumber(organizationId, number)).toMatchObject({ inbound: 0, left: 0 });
  const hello = said("hello");
  await receiveInboundMessage(hello);
  await receiveInboundMessage(hello);
  await receiveInboundMessage(said("START"));
  expect(JSON.stringify(await allRows())).not.toContain(number);
  expect(await takeJobs("webhookDeliveries")).toEqual([]);
  await receiveInboundMessage(said("STOP"));
  expect(await findOptOut(organizationId, number)).toBeDefined();
  expect((await listInbound(ownerOf(organizationId), { page: 1, limit: 20 })).rows).toEqual([]);
  // Later messages of that phone are kept.
  await receiveInboundMessage(said("hello again", new Date(Date.now() + minuteMs).toISOString()));
  expect((await listInbound(ownerOf(organizationId), { page: 1, limit: 20 })).rows).toHaveLength(1);
});

it("another organization keeps its data", async () => {
  const id = await contactOf(number, false);
  await eraseNumber("org_other", number);
  expect(await getContact(organizationId, id)).toMatchObject({ phoneNumber: number });
  expect(JSON.stringify(await allRows())).toContain(keys.contactOfNumber(organizationId, number).sk);
});
