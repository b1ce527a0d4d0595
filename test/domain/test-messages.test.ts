import { beforeEach, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { eraseNumber } from "../../shared/accounts/erasure/number.ts";
import type { SendSmsRequest } from "../../shared/api/contract/sms.ts";
import type { OutgoingMessage } from "../../shared/carriers/carrier.ts";
import { carrierOf } from "../../shared/carriers/carriers.ts";
import { QueuedCallback } from "../../shared/messages/callbacks/callback-job.ts";
import { recordCallback } from "../../shared/messages/callbacks/record.ts";
import type { MessageJob } from "../../shared/messages/message/message-job.ts";
import { testPrices } from "../../shared/messages/message/test-messages.ts";
import { optOut } from "../../shared/messages/opt-outs/opt-outs.ts";
import { cancelMessage } from "../../shared/messages/outcome/cancel.ts";
import { listMessages } from "../../shared/messages/search/list.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { EventJob } from "../../shared/notices/event-job.ts";
import type { Actor } from "../../shared/platform/auth/actor.ts";
import { dayMs, epochSeconds, minuteMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { queryItems } from "../../shared/platform/table/read.ts";
import { updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { acceptMessage } from "../support/as-organization.ts";
import { accept, inOrder, ScriptedCarrier, named } from "../support/carriers.ts";
import { advance } from "../support/clock.ts";
import { recordOf, acceptFor, hello } from "../support/messages.ts";
import { useOwnTable } from "../support/own-table.ts";
import { strictPolicies } from "../support/policies.ts";
import { delayedJobs, takeJobs } from "../support/queues.ts";
import { ownerOf } from "../support/viewer.ts";
import { openWebhook } from "../support/webhooks.ts";

let organizationId: string;
let actor: Actor;

beforeEach(async () => {
  await useOwnTable();
  // An organization without a wallet: nothing may look for one.
  ({ organizationId } = await openWebhook("http://127.0.0.1:9/nobody"));
  actor = {
    organizationId,
    userId: "usr_1",
    credential: { type: "apiKey", keyId: "key_1", test: true },
    scopes: ["send", "read", "webhooks"],
  };
});

async function send(fields: Partial<SendSmsRequest> = {}): Promise<MessageJob> {
  return acceptFor(organizationId, fields, { actor });
}

/** A sender of a stage whose routes lead to live carriers, of which one has the name of the sandbox. */
function liveSender() {
  const carrier = new ScriptedCarrier(accept);
  return { carrier, sender: inOrder(named({ live: carrier, sandbox: carrier })) };
}

const Item = z.looseObject({ pk: z.string(), sk: z.string() });

async function itemsOf(pk: string): Promise<unknown[]> {
  return queryItems(Item, { pk, limit: 100, consistent: true });
}

/** The items that pay for, count and list live messages. */
async function liveItems(): Promise<unknown[]> {
  const partitions = ["MESSAGES", "LEDGER", "STATS", "WALLET"].map((family) => `${family}#${organizationId}`);
  return (await Promise.all(partitions.map(itemsOf))).flat();
}

it("a test message is sent without a wallet, and the sandbox is its only carrier", async () => {
  const job = await send();
  expect(await takeJobs("transactionalSends")).toMatchObject([job]);
  const { carrier, sender } = liveSender();
  expect(await submitMessage(job, sender)).toMatchObject({ status: "sent", carrier: "sandbox" });
  expect(carrier.received).toEqual([]);
  expect(await takeJobs("webhookDeliveries")).toMatchObject([
    { event: { event: "message.sent", data: { id: job.messageId, test: true } } },
  ]);
  expect(await liveItems()).toEqual([]);
});

it("a rejected and a throttled test message never fail over to a live carrier", async () => {
  const { carrier, sender } = liveSender();
  const rejected = await send({ to: "15005550006" });
  expect(await submitMessage(rejected, sender)).toMatchObject({
    status: "failed",
    errorCode: "MESSAGE_PROVIDER_ERROR",
  });
  expect((await recordOf(rejected)).refund).toBeUndefined();
  expect(await takeJobs("refunds")).toEqual([]);
  const throttled = await send({ to: "15005550003" });
  expect(await submitMessage(throttled, sender)).toBeUndefined();
  expect((await recordOf(throttled)).attemptLog).toMatchObject([
    { carrier: "sandbox", outcome: "throttled" },
  ]);
  expect(carrier.received).toEqual([]);
});

it("is not where a release before test keys looks for a message with its id", async () => {
  const { messageId } = await send();
  const shard = messageId.slice("msg_".length + 26);
  expect(await itemsOf(`MESSAGES#${organizationId}#${shard}`)).toEqual([]);
  expect(await itemsOf(`MESSAGES#test#${organizationId}`)).toHaveLength(1);
});

it("shows the price of a live message, and none where the destination has no price", async () => {
  const priced = await acceptMessage(organizationId, hello, { actor });
  expect(priced).toMatchObject({ test: true, pricing: { segments: 1, total: 0.0079 } });
  expect(testPrices({ unitPriceMicros: () => undefined }).unitPriceMicros("15005550000")).toBe(0);
});

it("a lost job is queued again from the table, also that of a scheduled message", async () => {
  // The search takes seconds, and its minutes count from this moment.
  advance(0);
  const inAnHour = new Date(Date.now() + 60 * minuteMs).toISOString();
  const [soon, later] = [await send(), await send({ scheduledAt: inAnHour })];
  const stored: { messageId: string; minutes: number }[] = [];
  for (const { messageId } of [soon, later]) {
    for (let minutes = 0; minutes < 90; minutes += 1) {
      const minute = new Date(Date.now() + minutes * minuteMs).toISOString().slice(0, 16);
      for (let shard = 0; shard < 16; shard += 1) {
        const jobs = JSON.stringify(await itemsOf(`DUE#${minute}#${shard}`));
        if (jobs.includes(messageId)) stored.push({ messageId, minutes });
      }
    }
  }
  expect(stored).toEqual([
    { messageId: soon.messageId, minutes: 16 },
    { messageId: later.messageId, minutes: 60 },
    { messageId: later.messageId, minutes: 76 },
  ]);
});

it("a scheduled test message is cancelled without a refund", async () => {
  const { messageId } = await send({ scheduledAt: new Date(Date.now() + 60 * minuteMs).toISOString() });
  expect(await cancelMessage(ownerOf(organizationId), messageId)).toMatchObject({
    status: "cancelled",
    test: true,
  });
  expect(await cancelMessage(ownerOf(organizationId), messageId)).toMatchObject({ status: "cancelled" });
  expect((await recordOf({ organizationId, messageId })).refund).toBeUndefined();
  expect(await liveItems()).toEqual([]);
});

it("is kept for a week after it was due, whatever happens to it", async () => {
  const at = new Date("2026-11-01T12:00:00.000Z");
  vi.setSystemTime(at);
  const job = await send();
  const expiresAt = epochSeconds(new Date(at.getTime() + 7 * dayMs));
  expect((await recordOf(job)).expiresAt).toBe(expiresAt);
  await submitMessage(job, liveSender().sender);
  expect(await recordOf(job)).toMatchObject({ status: "sent", expiresAt });
  const page = { page: 1, limit: 20, cursor: undefined };
  expect((await listMessages({ organizationId, isTest: true, hidesCodes: false }, page)).rows).toHaveLength(
    1,
  );
  vi.setSystemTime(at.getTime() + 7 * dayMs);
  expect((await listMessages({ organizationId, isTest: true, hidesCodes: false }, page)).rows).toEqual([]);
});

it("opt-outs of the organization apply", async () => {
  await optOut(organizationId, hello.to, "api");
  await expect(send({ messageType: "marketing" })).rejects.toMatchObject({ code: "RECIPIENT_OPTED_OUT" });
});

/** A person, who requests a test message. */
const asPerson = (): Partial<Parameters<typeof acceptFor>[2]> => ({
  actor: { ...actor, credential: { type: "session", sessionId: "ses_1" } },
});

it("a person sends one on a stage with all policies, and it stays in the sandbox", async () => {
  vi.stubEnv(environmentNames.carrier, "aws");
  for (const [name, value] of Object.entries(strictPolicies("GB"))) vi.stubEnv(name, value);
  await expect(acceptFor(organizationId, {}, asPerson())).rejects.toMatchObject({
    code: "EMAIL_NOT_VERIFIED",
  });
  const job = await acceptFor(organizationId, { test: true }, asPerson());
  const { carrier, sender } = liveSender();
  expect(await submitMessage(job, sender)).toMatchObject({ status: "sent", carrier: "sandbox" });
  expect([carrier.received, await liveItems()]).toEqual([[], []]);
});

it.each(["a test key", "a person"])(
  "an organization has 1,000 test messages a day, also from %s",
  async (by) => {
    const options = by === "a person" ? asPerson() : { actor };
    const sendTest = async (): Promise<MessageJob> => acceptFor(organizationId, { test: true }, options);
    vi.setSystemTime(new Date("2026-11-01T23:59:00.000Z"));
    const key = keys.usesOfDay("test-messages", `${organizationId}#2026-11-01`);
    await updateItem(z.unknown(), updateOf(key, { set: { uses: 999 } }));
    await sendTest();
    await expect(sendTest()).rejects.toMatchObject({
      code: "TEST_LIMIT_REACHED",
      facts: { retryAfterSeconds: 60 },
    });
    vi.setSystemTime(new Date("2026-11-02T00:00:00.000Z"));
    await sendTest();
  },
);

it("the erasure of a number covers its test messages", async () => {
  const job = await send();
  await submitMessage(job, liveSender().sender);
  expect(await eraseNumber(organizationId, hello.to)).toMatchObject({ messages: 1, left: 0 });
  expect(await recordOf(job)).toMatchObject({ to: "[removed]", message: "[removed]" });
});

it.each([
  ["15005550007", [1]],
  ["15005550009", [30]],
  ["15005550000", []],
])("the delivery receipt of a test message to %s is delayed by %s seconds", async (to, delays) => {
  const job = await send({ to });
  const queued = await delayedJobs(async () => submitMessage(job, liveSender().sender));
  const receipts = queued.filter(({ body }) => JSON.stringify(body).includes('"kind":"receipt"'));
  expect(receipts.map(({ delaySeconds }) => delaySeconds)).toEqual(delays);
});

it("a repeated submission has one reply, with one event", async () => {
  const { messageId } = await send({ to: "15005550010" });
  const reference = `${organizationId}.${messageId}`;
  const outgoing: OutgoingMessage = {
    reference,
    to: "15005550010",
    country: "US",
    from: "ACME",
    text: "hello",
    encoding: "GSM-7",
    isPromotional: false,
  };
  const replies: string[] = [];
  for (let submission = 0; submission < 2; submission += 1) {
    const sandbox = carrierOf({ name: "sandbox", settings: { kind: "sandbox" } });
    const queued = await delayedJobs(async () => sandbox.send(outgoing));
    for (const { body } of queued) await recordCallback(QueuedCallback.parse(body), new Date());
    const [event] = z.array(EventJob).parse(await takeJobs("webhookDeliveries"));
    replies.push(event?.eventId ?? "");
    advance(minuteMs);
  }
  expect(replies[1]).toBe(replies[0]);
  expect(await itemsOf(`INBOUND#test#${organizationId}`)).toHaveLength(1);
});
