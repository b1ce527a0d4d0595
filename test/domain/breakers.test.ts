import { randomUUID } from "node:crypto";

import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { Breakers, closeBreaker, readBreakers, type Admission } from "../../shared/carriers/breaker.ts";
import { hourMs, minuteMs, secondMs } from "../../shared/platform/clock.ts";
import { writeMetrics } from "../../shared/platform/metrics.ts";
import { breakerEvents, openedBreaker, reportFailures } from "../support/breakers.ts";
import { advance } from "../support/clock.ts";
import { recordLog, type RecordedLog } from "../support/log.ts";

/*
 * All senders leave a carrier alone that does not respond. They share their state through the table.
 */

const start = new Date("2030-06-01T12:00:00Z");

let carrier: string;
let log: RecordedLog;
beforeEach(() => {
  carrier = `carrier-${randomUUID().slice(0, 8)}`;
  vi.setSystemTime(start);
  log = recordLog();
});
afterEach(writeMetrics);

const toldSoFar = () => breakerEvents(log, carrier);
const opened = async (): Promise<Breakers> => openedBreaker(carrier);
const fail = async (sender: Breakers, times: number): Promise<void> => reportFailures(sender, carrier, times);

function probeOf(admission: Admission): string {
  if (!admission.isAdmitted || admission.probe === undefined) throw new Error("no message was let through");
  return admission.probe;
}

it("five failures that several senders report within a minute open the breaker for all of them", async () => {
  const [first, second, bystander] = [new Breakers(), new Breakers(), new Breakers()];
  expect(await bystander.admit(carrier)).toEqual({ isAdmitted: true });
  await fail(first, 2);
  advance(minuteMs - secondMs);
  await fail(second, 2);
  expect(await second.admit(carrier)).toEqual({ isAdmitted: true });
  expect(toldSoFar()).toEqual({ events: [], opened: 0, closed: 0 });
  await fail(first, 1);
  expect(toldSoFar()).toEqual({ events: ["error carrier.breaker_opened"], opened: 1, closed: 0 });
  const openUntil = new Date(Date.now() + 30 * secondMs).toISOString();
  expect(await first.admit(carrier)).toEqual({ isAdmitted: false, openUntil });
  // The others use a state that is at most ten seconds old.
  advance(10 * secondMs);
  expect(await second.admit(carrier)).toEqual({ isAdmitted: false, openUntil });
  expect(await bystander.openUntil(carrier)).toBe(openUntil);
  expect(await new Breakers().admit(carrier)).toEqual({ isAdmitted: false, openUntil });
});

it("failures that are further apart do not open it", async () => {
  const sender = new Breakers();
  await fail(sender, 4);
  advance(minuteMs);
  await fail(sender, 4);
  expect(await sender.admit(carrier)).toEqual({ isAdmitted: true });
  expect(toldSoFar()).toEqual({ events: [], opened: 0, closed: 0 });
  await fail(sender, 1);
  expect(toldSoFar().opened).toBe(1);
});

it("a carrier that loses less than half of the responses stays in use, and nothing is written", async () => {
  const sender = new Breakers();
  for (let answers = 0; answers < 100; answers += 1)
    await sender.note(carrier, answers % 10 < 6 ? "worked" : "failed");
  expect((await readBreakers()).has(carrier)).toBe(false);
  for (let answers = 0; answers < 20; answers += 1)
    await sender.note(carrier, answers % 2 === 0 ? "worked" : "failed");
  expect(toldSoFar().opened).toBe(1);
});

it("after its open period it lets one message of all senders through, and closes when that gets a response", async () => {
  const sender = await opened();
  advance(30 * secondMs - 1);
  expect(await sender.admit(carrier)).toMatchObject({ isAdmitted: false });
  advance(1);
  const senders = [sender, ...Array.from({ length: 9 }, () => new Breakers())];
  expect(await sender.openUntil(carrier)).toBeUndefined();
  const admissions = await Promise.all(senders.map(async (each) => each.admit(carrier)));
  const admitted = admissions.filter(({ isAdmitted }) => isAdmitted);
  expect(admitted).toHaveLength(1);
  expect(toldSoFar().events).toEqual(["error carrier.breaker_opened", "info carrier.breaker_half_open"]);

  const [admission] = admitted;
  if (admission === undefined) throw new Error("no one was admitted");
  const prober = senders[admissions.indexOf(admission)];
  await prober?.note(carrier, "worked", probeOf(admission));
  expect(toldSoFar()).toEqual({
    events: ["error carrier.breaker_opened", "info carrier.breaker_half_open", "info carrier.breaker_closed"],
    opened: 1,
    closed: 1,
  });
  advance(10 * secondMs);
  expect(await Promise.all(senders.map(async (each) => each.admit(carrier)))).toEqual(
    senders.map(() => ({ isAdmitted: true })),
  );
  // The failures of before no longer count.
  if (prober !== undefined) await fail(prober, 4);
  expect(toldSoFar().opened).toBe(1);
});

it("the time before the next probe doubles with each failed one, up to ten minutes", async () => {
  await opened();
  for (const seconds of [30, 60, 120, 240, 480, 600, 600]) {
    advance(seconds * secondMs - 1);
    expect((await new Breakers().admit(carrier)).isAdmitted, `${seconds}`).toBe(false);
    advance(1);
    const sender = new Breakers();
    await sender.note(carrier, "failed", probeOf(await sender.admit(carrier)));
  }
  const closer = new Breakers();
  advance(600 * secondMs);
  await closer.note(carrier, "worked", probeOf(await closer.admit(carrier)));
  expect(toldSoFar()).toMatchObject({ opened: 8, closed: 1 });
});

it.each([
  [
    "a probe",
    async (sender: Breakers) => sender.note(carrier, "worked", probeOf(await sender.admit(carrier))),
  ],
  ["the operator", async () => closeBreaker(carrier)],
])("a breaker that %s closed begins again with the shortest time", async (_, close) => {
  const sender = await opened();
  for (const waitMs of [30 * secondMs, minuteMs]) {
    advance(waitMs);
    await sender.note(carrier, "failed", probeOf(await sender.admit(carrier)));
  }
  advance(2 * minuteMs);
  await close(sender);
  expect((await readBreakers()).get(carrier)).toEqual({ entity: "breaker", sk: carrier });
  advance(minuteMs);
  const next = await opened();
  advance(30 * secondMs);
  await next.note(carrier, "failed", probeOf(await next.admit(carrier)));
  expect((await readBreakers()).get(carrier)?.leaseUntil).toBe(new Date(Date.now() + minuteMs).toISOString());
});

it("the metric counts a state once, whatever the number of messages, and none of a breaker that was just opened", async () => {
  const sender = await opened();
  for (const waitMs of [0, 4 * minuteMs, 59 * secondMs]) {
    advance(waitMs);
    await sender.openUntil(carrier, hourMs);
  }
  expect(toldSoFar().opened).toBe(1);
  advance(secondMs);
  for (let message = 0; message < 3; message += 1) await sender.openUntil(carrier, hourMs);
  expect(toldSoFar().opened).toBe(2);
  advance(10 * secondMs);
  await sender.openUntil(carrier, hourMs);
  expect(toldSoFar().opened).toBe(3);
});

it("the operator closes it by a test, and an outcome of an earlier probe changes nothing", async () => {
  const sender = await opened();
  advance(30 * secondMs);
  const probe = probeOf(await sender.admit(carrier));
  expect([await closeBreaker(carrier), await closeBreaker(carrier)]).toEqual([true, false]);
  await sender.note(carrier, "failed", probe);
  expect(await new Breakers().admit(carrier)).toEqual({ isAdmitted: true });
});

it("another message is let through after the first one got lost, and a late result of the first changes nothing", async () => {
  const sender = await opened();
  advance(30 * secondMs);
  const lost = probeOf(await sender.admit(carrier));
  advance(30 * secondMs);
  const next = probeOf(await new Breakers().admit(carrier));
  await sender.note(carrier, "worked", lost);
  expect(toldSoFar().closed).toBe(0);
  expect((await readBreakers()).get(carrier)).toMatchObject({ leaseToken: next });
  await sender.note(carrier, "failed", next);
  expect(toldSoFar()).toMatchObject({ opened: 2, closed: 0 });
});
