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
  return tried.filter((call) => "place" in call);
}

/** Opens the one call that the endpoint must have a place for. */
async function open(webhookId: string, lane: Lane = "retry"): Promise<OpenCall> {
  const call = await openCall(webhookId, lane);
  if ("place" in call) return call;
  throw new Error("there is no place");
}

it("an endpoint leaves at most 20 calls unanswered at once, however many dispatchers race", async () => {
  const webhookId = newId("whk");
  const calls = await openAll(webhookId, "first");
  expect(calls).toHaveLength(20);
  expect(await openAll(webhookId, "retry")).toHaveLength(0);
  for (const call of calls.slice(0, 3)) await closeCall(call, "succeeded");
  expect(await openAll(webhookId, "first")).toHaveLength(3);
});

it("an endpoint has places of its own", async () => {
  await openAll(newId("whk"), "first");
  expect(await openAll(newId("whk"), "first")).toHaveLength(20);
});

it("an endpoint whose last call failed gets no first tries, and two retries at once, until one succeeds", async () => {
  const webhookId = newId("whk");
  await closeCall(await open(webhookId, "first"), "failed");
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
  expect(await openAll(webhookId, "first")).toHaveLength(0);
  vi.setSystemTime(start.getTime() + 60_001);
  expect(await openAll(webhookId, "first")).toHaveLength(20);
});

it("since when an endpoint has been failing is told by the first failure after a success", async () => {
  const webhookId = newId("whk");
  await closeCall(await open(webhookId), "failed");
  vi.setSystemTime(start.getTime() + 1_000_000);
  expect(await closeCall(await open(webhookId), "failed")).toEqual(start);
  // A call that was not made after all says nothing about the endpoint.
  expect(await closeCall(await open(webhookId), undefined)).toEqual(start);
  expect(await closeCall(await open(webhookId), "succeeded")).toBeUndefined();
});

it("what finds no place comes back soon where calls are answered, and later where they are not", async () => {
  const [quick, slow, failing] = [newId("whk"), newId("whk"), newId("whk")];
  await openAll(slow, "first");
  vi.setSystemTime(start.getTime() + 5_001);
  await openAll(quick, "first");
  await closeCall(await open(failing), "failed");
  expect(await openCall(quick, "first")).toEqual({ comeBackSeconds: 1 });
  expect(await openCall(slow, "first")).toEqual({ comeBackSeconds: 15 });
  expect(await openCall(failing, "first")).toEqual({ comeBackSeconds: 15 });
});
