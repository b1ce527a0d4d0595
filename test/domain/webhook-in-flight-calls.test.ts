import { beforeEach, expect, it, vi } from "vitest";

import { dayMs } from "../../shared/platform/clock.ts";
import { newId } from "../../shared/platform/ids.ts";
import {
  closeCall,
  findFailingHealth,
  isToBeDisabled,
  openCall,
  timedOut,
  waitForSlot,
  type FailingHealth,
  type Failure,
  type InFlightCall,
} from "../../shared/webhooks/in-flight-calls.ts";

const start = new Date("2031-03-01T12:00:00.000Z");
beforeEach(() => void vi.setSystemTime(start));

type Endpoint = Parameters<typeof openCall>[0];

function newEndpoint(url = "https://example.com/sms", organizationId: string = newId("org")): Endpoint {
  return { id: newId("whk"), organizationId, url };
}

/** Opens as many calls as possible to alternating endpoints, from several dispatchers at the same time. */
async function openAll(...endpoints: Endpoint[]): Promise<InFlightCall[]> {
  const tries = Array.from(
    { length: Math.max(40, endpoints.length) },
    (_, index) => endpoints[index % endpoints.length] ?? newEndpoint(),
  );
  const tried = await Promise.all(tries.map(async (endpoint) => openCall(endpoint)));
  return tried.filter((open) => open !== undefined);
}

/** Makes one call, which the endpoint must have capacity for. */
async function call(endpoint: Endpoint, failure?: Failure): Promise<FailingHealth | undefined> {
  const open = await openCall(endpoint);
  if (open === undefined) throw new Error("there is no place");
  return closeCall(open, failure);
}

const rejected = { status: 500, error: "responded with 500" };

it("an endpoint has at most 20 calls in flight, however many dispatchers race", async () => {
  const endpoint = newEndpoint();
  expect(await waitForSlot(endpoint, "first")).toBeUndefined();
  const calls = await openAll(endpoint);
  expect(calls).toHaveLength(20);
  expect(await waitForSlot(endpoint, "first")).toBe(1);
  expect(await waitForSlot(endpoint, "retry")).toBe(1);
  for (const open of calls.slice(0, 3)) await closeCall(open, undefined);
  expect(await waitForSlot(endpoint, "first")).toBeUndefined();
  expect(await openAll(endpoint)).toHaveLength(3);
});

it("an endpoint has a limit of its own", async () => {
  await openAll(newEndpoint());
  expect(await openAll(newEndpoint())).toHaveLength(20);
});

it("an endpoint whose last call failed gets no first tries, and two parallel retries, until one succeeds", async () => {
  const endpoint = newEndpoint();
  await call(endpoint, rejected);
  expect(await waitForSlot(endpoint, "first")).toBe(15);
  expect(await waitForSlot(endpoint, "retry")).toBeUndefined();
  const retries = await openAll(endpoint);
  expect(retries).toHaveLength(2);
  expect(await waitForSlot(endpoint, "retry")).toBe(15);
  for (const open of retries) await closeCall(open, undefined);
  expect(await waitForSlot(endpoint, "first")).toBeUndefined();
  expect(await openAll(endpoint)).toHaveLength(20);
});

it("calls of lost dispatchers no longer count after a minute", async () => {
  const endpoint = newEndpoint();
  await openAll(endpoint);
  vi.setSystemTime(start.getTime() + 59_000);
  // Calls without a response for a minute mean that an early retry is useless.
  expect(await waitForSlot(endpoint, "first")).toBe(15);
  vi.setSystemTime(start.getTime() + 60_001);
  expect(await waitForSlot(endpoint, "first")).toBeUndefined();
  expect(await openAll(endpoint)).toHaveLength(20);
});

it("the first failure after a success is the time since when an endpoint has been failing", async () => {
  const endpoint = newEndpoint();
  expect(await call(endpoint, rejected)).toEqual({
    failingSince: start.toISOString(),
    failedCalls: 1,
    lastFailure: { at: start.toISOString(), ...rejected },
  });
  const later = new Date(start.getTime() + 1_000_000);
  vi.setSystemTime(later);
  const failing = await call(endpoint, { error: "timed out" });
  expect(failing).toEqual({
    failingSince: start.toISOString(),
    failedCalls: 2,
    lastFailure: { at: later.toISOString(), error: "timed out" },
  });
  expect(await findFailingHealth(endpoint.id)).toEqual(failing);
  expect(await call(endpoint)).toBeUndefined();
  expect(await findFailingHealth(endpoint.id)).toBeUndefined();
  expect(await call(endpoint, rejected)).toMatchObject({ failingSince: later.toISOString(), failedCalls: 1 });
});

/** Fails `calls` times in a period of `days`, with the first and the last call at its ends. */
async function failOver(endpoint: Endpoint, days: number, calls: number): Promise<FailingHealth> {
  let health: FailingHealth | undefined;
  for (let each = 0; each < calls; each += 1) {
    vi.setSystemTime(start.getTime() + (each * days * dayMs) / (calls - 1));
    health = await call(endpoint, rejected);
  }
  if (health === undefined) throw new Error("it does not fail");
  return health;
}

it.each([
  ["ten calls over five days", 5, 10, true],
  ["ten calls over a little less", 4.99, 10, false],
  ["nine calls over five days", 5, 9, false],
  ["two calls with nothing between them", 5, 2, false],
  ["ten calls that are two days apart", 18, 10, true],
  ["twenty calls that are more than two days apart", 39, 20, false],
])("an endpoint that fails in %s is to be disabled or not", async (_name, days, calls, isExpected) => {
  expect(isToBeDisabled(await failOver(newEndpoint(), days, calls))).toBe(isExpected);
});

it("a host has at most 20 calls of an organization in flight, however many endpoints it has", async () => {
  const organizationId = newId("org");
  const endpoints = Array.from({ length: 40 }, (_, index) =>
    // A name with a dot at its end is the same host.
    newEndpoint(`https://hooks.example.com${index % 2 === 0 ? "." : ""}/${index}`, organizationId),
  );
  const calls = await openAll(...endpoints);
  expect(calls).toHaveLength(20);
  const [first = newEndpoint()] = endpoints;
  expect(await waitForSlot(first, "first")).toBe(1);
  // Neither another host nor another organization has to wait.
  const elsewhere = newEndpoint("https://example.com/sms", organizationId);
  const ofOthers = newEndpoint("https://hooks.example.com/0");
  for (const other of [elsewhere, ofOthers]) {
    expect(await waitForSlot(other, "first")).toBeUndefined();
    expect(await openAll(other)).toHaveLength(20);
  }
  for (const open of calls) await closeCall(open, undefined);
  expect(await waitForSlot(first, "first")).toBeUndefined();
  expect(await openAll(...endpoints)).toHaveLength(20);
});

it("an endpoint whose host is full keeps no capacity reserved", async () => {
  const organizationId = newId("org");
  const [busy, waiting] = [newEndpoint(undefined, organizationId), newEndpoint(undefined, organizationId)];
  const calls = await openAll(busy);
  for (let count = 0; count < 20; count += 1) expect(await openCall(waiting)).toBeUndefined();
  for (const open of calls) await closeCall(open, undefined);
  expect(await openAll(waiting)).toHaveLength(20);
});

/** Endpoints of one organization, each on a host of its own. */
function onManyHosts(organizationId: string, options: Partial<Endpoint> = {}): Endpoint[] {
  return Array.from({ length: 60 }, (_, index) => ({
    ...newEndpoint(`https://hooks-${index}.example.com/`, organizationId),
    ...options,
  }));
}

it("an organization has at most 40 calls in flight, however many hosts it names, and 10 for test messages", async () => {
  const organizationId = newId("org");
  const endpoints = onManyHosts(organizationId);
  const tests = onManyHosts(organizationId, { test: true });
  const callbacks = onManyHosts(organizationId, { id: `callbacks#${organizationId}#test` });
  expect(await openAll(...tests)).toHaveLength(10);
  expect(await openAll(...callbacks)).toHaveLength(0);
  // A test key does not delay live events.
  const calls = await openAll(...endpoints);
  expect(calls).toHaveLength(40);
  const elsewhere = newEndpoint("https://example.com/", organizationId);
  expect(await waitForSlot(elsewhere, "first")).toBe(1);
  expect(await waitForSlot(newEndpoint(), "first")).toBeUndefined();
  for (const open of calls.slice(0, 30)) await closeCall(open, rejected);
  expect(await waitForSlot(elsewhere, "first")).toBeUndefined();
  expect(await openAll(elsewhere)).toHaveLength(20);
});

it("a call that timed out counts for a minute, so that an organization cannot hold more than a few workers", async () => {
  const organizationId = newId("org");
  const [elsewhere, other] = [newEndpoint("https://example.com/", organizationId), newEndpoint()];
  const calls = await openAll(...onManyHosts(organizationId));
  vi.setSystemTime(start.getTime() + 10_000);
  for (const open of calls) await closeCall(open, { error: timedOut });
  expect(await waitForSlot(elsewhere, "retry")).toBe(15);
  expect(await openCall(elsewhere)).toBeUndefined();
  expect(await waitForSlot(other, "first")).toBeUndefined();
  vi.setSystemTime(start.getTime() + 60_001);
  expect(await waitForSlot(elsewhere, "retry")).toBeUndefined();
  expect(await openAll(elsewhere)).toHaveLength(20);
});
