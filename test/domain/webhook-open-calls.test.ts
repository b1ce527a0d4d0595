import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { newId } from "../../shared/platform/ids.ts";
import { closeCall, openCall, waitForSlot, type OpenCall } from "../../shared/webhooks/open-calls.ts";

const start = new Date("2031-03-01T12:00:00.000Z");
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: start });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Opens as many calls as an endpoint has places for, from several dispatchers at once. */
async function openAll(webhookId: string): Promise<OpenCall[]> {
  const tried = await Promise.all(Array.from({ length: 40 }, async () => openCall(webhookId)));
  return tried.filter((open) => open !== undefined);
}

/** Makes one call, which the endpoint must have a place for. */
async function call(webhookId: string, outcome: "failed" | "succeeded"): Promise<Date | undefined> {
  const open = await openCall(webhookId);
  if (open === undefined) throw new Error("there is no place");
  return closeCall(open, outcome);
}

it("an endpoint leaves at most 20 calls unanswered at once, however many dispatchers race", async () => {
  const webhookId = newId("whk");
  expect(await waitForSlot(webhookId, "first")).toBeUndefined();
  const calls = await openAll(webhookId);
  expect(calls).toHaveLength(20);
  expect(await waitForSlot(webhookId, "first")).toBe(1);
  expect(await waitForSlot(webhookId, "retry")).toBe(1);
  for (const open of calls.slice(0, 3)) await closeCall(open, "succeeded");
  expect(await waitForSlot(webhookId, "first")).toBeUndefined();
  expect(await openAll(webhookId)).toHaveLength(3);
});

it("an endpoint has places of its own", async () => {
  await openAll(newId("whk"));
  expect(await openAll(newId("whk"))).toHaveLength(20);
});

it("an endpoint whose last call failed gets no first tries, and two retries at once, until one succeeds", async () => {
  const webhookId = newId("whk");
  await call(webhookId, "failed");
  expect(await waitForSlot(webhookId, "first")).toBe(15);
  expect(await waitForSlot(webhookId, "retry")).toBeUndefined();
  const retries = await openAll(webhookId);
  expect(retries).toHaveLength(2);
  expect(await waitForSlot(webhookId, "retry")).toBe(15);
  for (const open of retries) await closeCall(open, "succeeded");
  expect(await waitForSlot(webhookId, "first")).toBeUndefined();
  expect(await openAll(webhookId)).toHaveLength(20);
});

it("calls whose dispatchers are gone free their places after a minute", async () => {
  const webhookId = newId("whk");
  await openAll(webhookId);
  vi.setSystemTime(start.getTime() + 59_000);
  // Calls that were not answered for so long say that there is no use in coming back soon.
  expect(await waitForSlot(webhookId, "first")).toBe(15);
  vi.setSystemTime(start.getTime() + 60_001);
  expect(await waitForSlot(webhookId, "first")).toBeUndefined();
  expect(await openAll(webhookId)).toHaveLength(20);
});

it("since when an endpoint has been failing is told by the first failure after a success", async () => {
  const webhookId = newId("whk");
  expect(await call(webhookId, "failed")).toEqual(start);
  vi.setSystemTime(start.getTime() + 1_000_000);
  expect(await call(webhookId, "failed")).toEqual(start);
  expect(await call(webhookId, "succeeded")).toBeUndefined();
  expect(await call(webhookId, "failed")).toEqual(new Date(start.getTime() + 1_000_000));
});
