import { beforeEach, expect, it, vi } from "vitest";

import { eraseNumber } from "../../shared/accounts/erasure/number.ts";
import type { SendSmsRequest } from "../../shared/api/contract/sms.ts";
import { recordDeliveryReceipt } from "../../shared/messages/outcome/receipts.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { EventJob } from "../../shared/notices/event-job.ts";
import { dayMs } from "../../shared/platform/clock.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { deleteItem } from "../../shared/platform/table/write.ts";
import { callbacksOf } from "../../shared/webhooks/callbacks.ts";
import type { DeliveryRecord } from "../../shared/webhooks/delivery-record.ts";
import { dispatchWebhook } from "../../shared/webhooks/dispatch.ts";
import { listWebhookDeliveries } from "../../shared/webhooks/list-deliveries.ts";
import { retryWebhookDelivery } from "../../shared/webhooks/manual-redelivery.ts";
import { rotateWebhookSecret } from "../../shared/webhooks/rotate-secret.ts";
import { serviceSignature } from "../../shared/webhooks/signature.ts";
import { WebhookJob } from "../../shared/webhooks/webhook-job.ts";
import { accept, only, reject, ScriptedCarrier } from "../support/carriers.ts";
import { acceptFor, hello } from "../support/messages.ts";
import { takeJobs } from "../support/queues.ts";
import { allRows } from "../support/rows.ts";
import { ownerOf } from "../support/viewer.ts";
import { openOrganization } from "../support/wallets.ts";
import { attemptOf, deliveryOf, openReceiver, openWebhook } from "../support/webhooks.ts";

const start = new Date("2031-03-01T12:00:00.000Z");
const details = { reference: "order 1001", metadata: { order: "1001" } };
const pricing = { segments: 1, unitPrice: 0.0079, total: 0.0079, currency: "USD" };

let organizationId: string;
beforeEach(async () => {
  vi.setSystemTime(start);
  organizationId = await openOrganization(1_000_000);
});

/** Sends a message, which a carrier accepts. @returns the jobs of its event, and its id */
async function send(fields: Partial<SendSmsRequest>, answer = accept) {
  const job = await acceptFor(organizationId, fields);
  await submitMessage(job, only(new ScriptedCarrier(answer)));
  return { ...job, jobs: await jobsOf() };
}

async function jobsOf(): Promise<WebhookJob[]> {
  const jobs = [...(await takeJobs("webhookDeliveries")), ...(await takeJobs("webhookRetries"))];
  // Later attempts of an earlier test may become visible at any time.
  return jobs.map((job) => WebhookJob.parse(job)).filter((job) => job.organizationId === organizationId);
}

async function dispatch(jobs: readonly WebhookJob[]): Promise<void> {
  for (const job of jobs) await dispatchWebhook(job);
}

/** Sends a message. @returns the only job of its event */
async function eventOf(fields: Partial<SendSmsRequest>): Promise<EventJob> {
  return EventJob.parse((await send(fields)).jobs.find(({ kind }) => kind === "event"));
}

/** The endpoint of the callbacks of live messages. */
const callbacks = () => callbacksOf(organizationId, false);
const list = async (isTest = false) =>
  (await listWebhookDeliveries({ ...ownerOf(organizationId), isTest }, "callbacks", { page: 1, limit: 50 }))
    .rows;

it("the events of a message go to its callback URL, also without a webhook, and of others nowhere", async () => {
  const hook = await openReceiver();
  const { jobs, messageId } = await send({ ...details, callbackUrl: hook.url });
  expect((await send(details)).jobs).toEqual([]);
  await dispatch(jobs);
  await recordDeliveryReceipt({ organizationId, messageId, status: "delivered", at: start.toISOString() });
  await dispatch(await jobsOf());
  const data = { id: messageId, to: hello.to, ...details, pricing, refunded: false };
  const timestamp = start.toISOString();
  expect(hook.calls.map(({ body }): unknown => JSON.parse(body))).toEqual([
    { event: "message.sent", timestamp, data: { ...data, status: "sent" } },
    { event: "message.delivered", timestamp, data: { ...data, status: "delivered" } },
  ]);
  expect(await list()).toMatchObject([
    { url: hook.url, state: "succeeded" },
    { url: hook.url, state: "succeeded" },
  ]);

  const failed = await send({ callbackUrl: hook.url }, reject);
  await dispatch(failed.jobs);
  const event: unknown = JSON.parse(hook.calls[2]?.body ?? "");
  expect(event).toMatchObject({ event: "message.failed", data: { pricing, refunded: true } });
});

it("webhooks get the details too, and for a message without any the event that they know", async () => {
  const [hook, other] = [await openReceiver(), await openReceiver()];
  await openWebhook(hook.url, organizationId);
  const plain = await send({});
  const { jobs, messageId } = await send({ reference: "r", callbackUrl: other.url });
  await dispatch([...plain.jobs, ...jobs]);
  const [first, second] = hook.calls.map(({ body }): unknown => JSON.parse(body));
  const event = { event: "message.sent", timestamp: start.toISOString() };
  expect(first).toEqual({ ...event, data: { id: plain.messageId, to: hello.to, status: "sent" } });
  expect(second).toMatchObject({ data: { id: messageId, reference: "r", pricing } });
  expect(other.calls.map(({ body }) => body)).toEqual([hook.calls[1]?.body]);
  expect(other.calls[0]?.headers["webhook-id"]).toBe(hook.calls[1]?.headers["webhook-id"]);
});

it("a repeated event, and a dispatcher that died, lead to one successful call", async () => {
  const hook = await openReceiver((call) => (call === 1 ? 500 : 204));
  const event = await eventOf({ callbackUrl: hook.url });
  for (const job of [event, event, attemptOf(callbacks(), event, 2), event]) await dispatchWebhook(job);
  await dispatch(await jobsOf());
  expect(hook.calls).toHaveLength(2);
  expect(await list()).toMatchObject([{ state: "succeeded", attempts: 2 }]);
  const [delivery] = await list();
  await retryWebhookDelivery(ownerOf(organizationId), "callbacks", delivery?.id ?? "");
  await dispatch(await jobsOf());
  expect(hook.calls).toHaveLength(3);
});

it("calls are signed with a secret of the organization, also the first ones, and test messages with another", async () => {
  const hook = await openReceiver();
  const signs = (secret: string): boolean => {
    const last = hook.calls.at(-1);
    return last?.headers["x-service-signature"] === serviceSignature(secret, last?.body ?? "");
  };
  await dispatch((await send({ callbackUrl: hook.url })).jobs);
  expect(hook.calls[0]?.headers["x-service-signature"]).toMatch(/^[0-9a-f]{64}$/);

  const rotate = async (isTest = false): Promise<string> =>
    (await rotateWebhookSecret({ ...ownerOf(organizationId), isTest }, "callbacks")).secret;
  const secrets = await Promise.all([rotate(), rotate()]);
  const testSecret = await rotate(true);
  await dispatch((await send({ callbackUrl: hook.url })).jobs);
  expect(secrets.filter((secret) => signs(secret))).toHaveLength(1);
  expect(String(hook.calls[1]?.headers["webhook-signature"]).split(" ")).toHaveLength(2);

  const credential = { type: "apiKey", keyId: "key_1", test: true } as const;
  const actor = { organizationId, userId: "usr_1", credential, scopes: [] } as const;
  const job = await acceptFor(organizationId, { callbackUrl: hook.url }, { actor });
  await submitMessage(job, only());
  await dispatch(await jobsOf());
  expect(JSON.parse(hook.calls[2]?.body ?? "")).toMatchObject({ data: { test: true } });
  expect([signs(testSecret), ...secrets.map((secret) => signs(secret))]).toEqual([true, false, false]);
  expect([await list(), await list(true)].map(({ length }) => length)).toEqual([2, 1]);
  const stored = JSON.stringify(await allRows());
  for (const secret of [...secrets, testSecret]) expect(stored).not.toContain(secret.slice(6));
});

it("a host that fails for five days gets no more calls, and two days after the last one it is called again", async () => {
  const [failing, healthy] = [await openReceiver((call) => (call > 10 ? 204 : 500)), await openReceiver()];
  const outcomeAfter = async (days: number): Promise<DeliveryRecord> => {
    vi.setSystemTime(start.getTime() + days * dayMs);
    const events = [await eventOf({ callbackUrl: healthy.url }), await eventOf({ callbackUrl: failing.url })];
    for (const event of events) {
      await dispatchWebhook(event);
      // While a host fails, its first tries wait on the queue of retries.
      await dispatchWebhook(attemptOf(callbacks(), event, 1));
    }
    return deliveryOf(callbacks(), events[1] ?? { eventId: "" });
  };
  for (let days = 0; days < 5; days += 0.5) expect(await outcomeAfter(days)).toMatchObject({ attempts: 1 });
  for (const days of [5, 6.4]) {
    const lastError = "the endpoint is disabled";
    expect(await outcomeAfter(days)).toMatchObject({ state: "failed", attempts: 0, lastError });
  }
  expect([failing.calls.length, healthy.calls.length]).toEqual([10, 12]);
  expect(await outcomeAfter(6.5)).toMatchObject({ state: "succeeded", attempts: 1 });
});

it("one host has 20 calls in flight over all URLs, and a hanging host delays no other", async () => {
  const waiting = Promise.withResolvers<void>();
  const hanging = await openReceiver(() => (response) => void waiting.promise.then(() => response.end()));
  const healthy = await openReceiver();
  const jobs: WebhookJob[] = [];
  for (let index = 0; index < 21; index += 1) {
    jobs.push(...(await send({ callbackUrl: `${hanging.url}/${index}` })).jobs);
  }
  const calls = jobs.map(async (job) => dispatchWebhook(job));
  await hanging.waitForCalls(20);
  // The one that may not call ends; the others hang.
  await Promise.race(calls);
  await dispatch((await send({ callbackUrl: healthy.url })).jobs);
  expect([hanging.calls.length, healthy.calls.length]).toEqual([20, 1]);
  waiting.resolve();
  await Promise.all(calls);
  expect((await list()).filter(({ state }) => state === "pending")).toHaveLength(1);
});

it("an erased number leaves no callback, also of an event that is still on its queue", async () => {
  const hook = await openReceiver();
  const url = `${hook.url}?to=${hello.to}`;
  const first = await send({ ...details, callbackUrl: url });
  await dispatch(first.jobs);
  const { jobs } = await send({ ...details, callbackUrl: url });
  expect(await eraseNumber(organizationId, hello.to)).toMatchObject({ messages: 2, deliveries: 1, left: 0 });
  await dispatch(jobs);
  expect(hook.calls).toHaveLength(1);
  const ofOrganization = (await allRows()).filter((row) => JSON.stringify(row).includes(organizationId));
  expect(JSON.stringify(ofOrganization)).not.toMatch(new RegExp(`${hello.to}|1001`));
});

it("an erased organization leaves no callback of an event that is still on its queue", async () => {
  const hook = await openReceiver();
  const { jobs } = await send({ callbackUrl: hook.url });
  const { pk, sk } = keys.organization(organizationId);
  await deleteItem({ pk, sk });
  await dispatch(jobs);
  expect([hook.calls, await list()]).toEqual([[], []]);
});
