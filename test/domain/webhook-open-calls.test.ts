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

type Endpoint = Parameters<typeof openCall>[0];

function newEndpoint(url = "https://example.com/sms", organizationId: string = newId("org")): Endpoint {
  return { id: newId("whk"), organizationId, url };
}

/** Opens as many calls as there are places for, to one endpoint after the other, from several dispatchers at once. */
async function openAll(...endpoints: Endpoint[]): Promise<OpenCall[]> {
  const tries = Array.from(
    { length: 40 },
    (_, index) => endpoints[index % endpoints.length] ?? newEndpoint(),
  );
  const tried = await Promise.all(tries.map(async (endpoint) => openCall(endpoint)));
  return tried.filter((open) => open !== undefined);
}

/** Makes one call, which the endpoint must have a place for. */
async function call(endpoint: Endpoint, outcome: "failed" | "succeeded"): Promise<Date | undefined> {
  const open = await openCall(endpoint);
  if (open === undefined) throw new Error("there is no place");
  return closeCall(open, outcome);
}

it("an endpoint leaves at most 20 calls unanswered at once, however many dispatchers race", async () => {
  const endpoint = newEndpoint();
  expect(await waitForSlot(endpoint, "first")).toBeUndefined();
  const calls = await openAll(endpoint);
  expect(calls).toHaveLength(20);
  expect(await waitForSlot(endpoint, "first")).toBe(1);
  expect(await waitForSlot(endpoint, "retry")).toBe(1);
  for (const open of calls.slice(0, 3)) await closeCall(open, "succeeded");
  expect(await waitForSlot(endpoint, "first")).toBeUndefined();
  expect(await openAll(endpoint)).toHaveLength(3);
});

it("an endpoint has places of its own", async () => {
  await openAll(newEndpoint());
  expect(await openAll(newEndpoint())).toHaveLength(20);
});

it("an endpoint whose last call failed gets no first tries, and two retries at once, until one succeeds", async () => {
  const endpoint = newEndpoint();
  await call(endpoint, "failed");
  expect(await waitForSlot(endpoint, "first")).toBe(15);
  expect(await waitForSlot(endpoint, "retry")).toBeUndefined();
  const retries = await openAll(endpoint);
  expect(retries).toHaveLength(2);
  expect(await waitForSlot(endpoint, "retry")).toBe(15);
  for (const open of retries) await closeCall(open, "succeeded");
  expect(await waitForSlot(endpoint, "first")).toBeUndefined();
  expect(await openAll(endpoint)).toHaveLength(20);
});

it("calls whose dispatchers are gone free their places after a minute", async () => {
  const endpoint = newEndpoint();
  await openAll(endpoint);
  vi.setSystemTime(start.getTime() + 59_000);
  // Calls that were not answered for so long say that there is no use in coming back soon.
  expect(await waitForSlot(endpoint, "first")).toBe(15);
  vi.setSystemTime(start.getTime() + 60_001);
  expect(await waitForSlot(endpoint, "first")).toBeUndefined();
  expect(await openAll(endpoint)).toHaveLength(20);
});

it("since when an endpoint has been failing is told by the first failure after a success", async () => {
  const endpoint = newEndpoint();
  expect(await call(endpoint, "failed")).toEqual(start);
  vi.setSystemTime(start.getTime() + 1_000_000);
  expect(await call(endpoint, "failed")).toEqual(start);
  expect(await call(endpoint, "succeeded")).toBeUndefined();
  expect(await call(endpoint, "failed")).toEqual(new Date(start.getTime() + 1_000_000));
});

it("a host leaves at most 20 calls of an organisation unanswered, however many endpoints are at it", async () => {
  const organizationId = newId("org");
  const endpoints = Array.from({ length: 40 }, (_, index) =>
    // A name with a dot at its end is the same host.
    newEndpoint(`https://hooks.example.com${index % 2 === 0 ? "." : ""}/${index}`, organizationId),
  );
  const calls = await openAll(...endpoints);
  expect(calls).toHaveLength(20);
  const [first = newEndpoint()] = endpoints;
  expect(await waitForSlot(first, "first")).toBe(1);
  // Neither another host nor another organisation has to wait.
  const elsewhere = newEndpoint("https://example.com/sms", organizationId);
  const ofOthers = newEndpoint("https://hooks.example.com/0");
  for (const other of [elsewhere, ofOthers]) {
    expect(await waitForSlot(other, "first")).toBeUndefined();
    expect(await openAll(other)).toHaveLength(20);
  }
  for (const open of calls) await closeCall(open, "succeeded");
  expect(await waitForSlot(first, "first")).toBeUndefined();
  expect(await openAll(...endpoints)).toHaveLength(20);
});

it("an endpoint whose host has no place keeps none of its own", async () => {
  const organizationId = newId("org");
  const [busy, waiting] = [newEndpoint(undefined, organizationId), newEndpoint(undefined, organizationId)];
  const calls = await openAll(busy);
  for (let count = 0; count < 20; count += 1) expect(await openCall(waiting)).toBeUndefined();
  for (const open of calls) await closeCall(open, "succeeded");
  expect(await openAll(waiting)).toHaveLength(20);
});
