import { expect, it, vi } from "vitest";

import { Campaign } from "../../shared/api/contract/campaigns.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { allRows, Customer, dataOf } from "../support/api.ts";
import { sandboxCalls } from "../support/carriers.ts";
import { importContacts, numberOf } from "../support/contacts.ts";
import { collision, isBy } from "../support/faults.ts";
import { functionNamed, runSchedule, reconcile } from "../support/functions.ts";
import { areSendersIdle } from "../support/idle-senders.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";
import { startWebhookReceiver } from "../support/webhook-receiver.ts";

const { gateway, faults } = await gatewayOfFile();

/** Creates contacts, and the draft of a campaign to all of them. */
async function draftFor(customer: Customer, contactCount: number) {
  await importContacts(customer, contactCount);
  const json = { name: "Spring", message: "hi", audience: { all: true }, senderId: "ACME" };
  const { id } = dataOf(await customer.call("/v1/campaigns", { json }), Campaign);
  const read = async (): Promise<Campaign> => dataOf(await customer.call(`/v1/campaigns/${id}`), Campaign);
  const act = async (action: "launch" | "pause" | "resume"): Promise<Campaign> =>
    dataOf(await customer.call(`/v1/campaigns/${id}/${action}`, { method: "POST" }), Campaign);
  return { id, read, act };
}

/** Expects that each contact has one message, and the carrier one call for it. */
async function expectEachOnce({ client }: Customer, contactCount: number): Promise<void> {
  const messages = await allRows(async (next) => client.listSms({ query: { limit: 100, ...next } }));
  expect(messages.map(({ to }) => to).toSorted()).toEqual(
    Array.from({ length: contactCount }, (_, index) => numberOf(index)),
  );
  const calls = await Promise.all(messages.map(async ({ id }) => sandboxCalls(id)));
  expect(new Set(calls)).toEqual(new Set([1]));
}

it("a campaign whose block only collides with other transactions retries soon, and sends what its balance allows", async () => {
  // Enough for five messages, but not for six.
  const customer = await Customer.register({ balance: 0.04, baseUrl: gateway.url });
  const { read, act } = await draftFor(customer, 5);
  let collisions = 0;
  faults.next(
    ({ operation, body }) =>
      operation === "dynamodb:TransactWriteItems" && body.includes("MESSAGES#") && (collisions += 1) <= 12,
    collision,
    Number.POSITIVE_INFINITY,
  );
  await act("launch");
  await vi.waitFor(async () => {
    const { status, progress } = await read();
    expect({ status, sent: progress.sent }).toEqual({ status: "completed", sent: 5 });
  }, patience);
  expect(collisions).toBeGreaterThan(12);
  expect(await customer.balance()).toBe(0.0005);
  faults.clear();
});

it("a campaign whose worker is killed repeatedly reaches each contact once and is charged exactly", async () => {
  const registered = await Customer.register({ balance: 10, baseUrl: gateway.url });
  const customer = await registered.withApiKey();
  const contactCount = 110;
  const { read, act } = await draftFor(customer, contactCount);

  // Every third request kills the worker, alternately before it arrives and after it was carried out.
  let requests = 0;
  let kills = 0;
  faults.next(
    (request) => isBy("RunCampaign")(request) && (requests += 1) % 3 === 0 && kills < 8,
    async (request, next) => {
      kills += 1;
      if (kills % 2 === 0) await next(request);
      await functionNamed(gateway, "RunCampaign").kill();
      throw new Error("the worker is gone");
    },
    Number.POSITIVE_INFINITY,
  );
  await act("launch");
  await vi.waitFor(async () => {
    expect(await areSendersIdle(gateway)).toBe(true);
    // Runs what the scheduler runs after some minutes.
    gateway.advanceClock(17 * minuteMs);
    await runSchedule(gateway, "ReleaseScheduledJobs");
    expect((await read()).progress.accepted).toBe(contactCount);
  }, patience);
  expect(kills).toBe(8);

  await vi.waitFor(async () => {
    expect(await areSendersIdle(gateway)).toBe(true);
    await reconcile(gateway);
    await runSchedule(gateway, "ReleaseScheduledJobs");
    expect((await read()).status).toBe("completed");
    expect(await customer.balance()).toBe(10 - contactCount * 0.0079);
  }, patience);
  await expectEachOnce(customer, contactCount);
  expect((await read()).progress).toMatchObject({ accepted: contactCount, sent: contactCount, queued: 0 });
  expect((await verifyWallet(customer.organizationId)).findings).toEqual([]);
});

it("a campaign that is paused while its worker dies, and during a block, reaches each contact once when it is resumed", async () => {
  const registered = await Customer.register({ balance: 1, baseUrl: gateway.url });
  const customer = await registered.withApiKey();
  const contactCount = 60;
  const { read, act } = await draftFor(customer, contactCount);
  const isBlock = (request: Parameters<ReturnType<typeof isBy>>[0]): boolean =>
    isBy("RunCampaign", "dynamodb:TransactWriteItems")(request) && request.body.includes("MESSAGES#");
  const price = 0.0079;

  // The first block is recorded, and its worker dies before it queues the messages.
  faults.next(isBlock, async (request, next) => {
    // First, because on a busy machine a living worker would repeat the request.
    await functionNamed(gateway, "RunCampaign").kill();
    await next(request);
    await act("pause");
    throw new Error("the worker is gone");
  });
  await act("launch");
  await vi.waitFor(async () => {
    const { status, progress } = await read();
    expect({ status, ...progress }).toMatchObject({ status: "paused", accepted: 48, sent: 0 });
    expect(await areSendersIdle(gateway)).toBe(true);
  }, patience);

  // The second block is debited when the pause comes before its record.
  let pauses = 0;
  faults.next(isBlock, async (request, next) => {
    expect((await act("pause")).status).toBe("paused");
    pauses += 1;
    return next(request);
  });
  await act("resume");
  gateway.advanceClock(17 * minuteMs);
  await vi.waitFor(async () => {
    await runSchedule(gateway, "ReleaseScheduledJobs");
    expect(pauses).toBe(1);
    const { status, progress } = await read();
    expect({ status, ...progress }).toMatchObject({ status: "paused", accepted: 48, sent: 48 });
    expect(await customer.balance()).toBeCloseTo(1 - 48 * price, 6);
  }, patience);

  await act("resume");
  await vi.waitFor(async () => {
    const { status, progress } = await read();
    expect({ status, ...progress }).toMatchObject({ status: "completed", accepted: contactCount });
  }, patience);
  await expectEachOnce(customer, contactCount);
  expect(await customer.balance()).toBeCloseTo(1 - contactCount * price, 6);
  expect((await verifyWallet(customer.organizationId)).findings).toEqual([]);
});

it("an endpoint receives one event of a completed campaign whose worker died before it queued the event", async () => {
  const customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
  const hook = await startWebhookReceiver();
  const subscription = { url: hook.url, events: ["campaign.completed"] };
  expect((await customer.call("/v1/webhooks", { json: subscription })).status).toBe(201);
  const { id, read, act } = await draftFor(customer, 1);
  let lost = 0;
  faults.next(
    (request) =>
      isBy("RunCampaign", "sqs:SendMessage")(request) && request.body.includes("campaign.completed"),
    async () => {
      lost += 1;
      await functionNamed(gateway, "RunCampaign").kill();
      throw new Error("the worker is gone");
    },
  );
  await act("launch");
  await vi.waitFor(async () => {
    expect((await read()).status).toBe("completed");
    expect(lost).toBe(1);
  }, patience);
  expect(hook.calls).toHaveLength(0);
  gateway.advanceClock(17 * minuteMs);
  await vi.waitFor(async () => {
    await runSchedule(gateway, "ReleaseScheduledJobs");
    expect(hook.calls).toHaveLength(1);
  }, patience);
  expect(JSON.parse(hook.calls[0]?.body ?? "")).toMatchObject({ data: { id, accepted: 1, sent: 1 } });
  await hook.stop();
});
