import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { newId } from "../../shared/platform/ids.ts";
import { closeCall, openCall, type Lane, type OpenCall } from "../../shared/webhooks/open-calls.ts";

const start = new Date("2031-03-01T12:00:00.000Z");
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: start });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Opens as many calls as an endpoint has places for, from several dispatchers at once. */
async function openAll(webhookId: string, lane: Lane): Promise<OpenCall[]> {
  const tried = await Promise.all(Array.from({ length: 40 }, async () => openCall(webhookId, lane)));
  return tried.filter((call) => call !== undefined);
}

async function fail(webhookId: string): Promise<void> {
  const [call] = await openAll(webhookId, "retry");
  await closeCall(call ?? { webhookId, place: "" }, "failed");
}

it("an endpoint leaves at most 20 calls unanswered at once, however many dispatchers race", async () => {
  const webhookId = newId("whk");
  const open = await openAll(webhookId, "first");
  expect(open).toHaveLength(20);
  expect(await openCall(webhookId, "retry")).toBeUndefined();
  for (const call of open.slice(0, 3)) await closeCall(call, "succeeded");
  expect(await openAll(webhookId, "first")).toHaveLength(3);
});

it("an endpoint has places of its own", async () => {
  await openAll(newId("whk"), "first");
  expect(await openAll(newId("whk"), "first")).toHaveLength(20);
});

it("an endpoint whose last call failed gets no first tries, and two retries at once, until one succeeds", async () => {
  const webhookId = newId("whk");
  const [one, ...others] = await openAll(webhookId, "first");
  await closeCall(one ?? { webhookId, place: "" }, "failed");
  for (const call of others) await closeCall(call, undefined);
  expect(await openAll(webhookId, "first")).toHaveLength(0);
  const retries = await openAll(webhookId, "retry");
  expect(retries).toHaveLength(2);
  for (const call of retries) await closeCall(call, "succeeded");
  expect(await openAll(webhookId, "first")).toHaveLength(20);
});

it("calls whose dispatchers are gone free their places after a minute", async () => {
  const webhookId = newId("whk");
  await openAll(webhookId, "first");
  vi.setSystemTime(start.getTime() + 59_000);
  expect(await openCall(webhookId, "first")).toBeUndefined();
  vi.setSystemTime(start.getTime() + 60_001);
  expect(await openAll(webhookId, "first")).toHaveLength(20);
});

it("since when an endpoint has been failing is told by the first failure after a success", async () => {
  const webhookId = newId("whk");
  await fail(webhookId);
  vi.setSystemTime(start.getTime() + 1_000_000);
  const call = await openCall(webhookId, "retry");
  expect(await closeCall(call ?? { webhookId, place: "" }, "failed")).toEqual(start);
  const last = await openCall(webhookId, "retry");
  expect(await closeCall(last ?? { webhookId, place: "" }, "succeeded")).toBeUndefined();
});
