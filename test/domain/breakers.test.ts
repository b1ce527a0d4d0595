import { randomUUID } from "node:crypto";

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { Breakers, closeBreaker, readBreakers, type Admission } from "../../shared/carriers/breaker.ts";
import type { SubmitResult } from "../../shared/carriers/carrier.ts";
import { Throughput } from "../../shared/carriers/throughput.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { hourMs, minuteMs, secondMs } from "../../shared/platform/clock.ts";
import { writeMetrics } from "../../shared/platform/metrics.ts";
import { accept, inOrder, only, ScriptedCarrier } from "../support/carriers.ts";
import { acceptedMessage, laterJobOf, recordOf, statusOf } from "../support/messages.ts";
import { useOwnTable } from "../support/own-table.ts";
import { delayedJobs, takeJobs } from "../support/queues.ts";

/*
 * All senders leave a carrier alone that does not respond. They share their state through the table.
 */

// The senders of the shared gateway read all breakers.
await useOwnTable();

const start = new Date("2030-06-01T12:00:00Z");

let carrier: string;
let written: string[];
beforeEach(() => {
  carrier = `carrier-${randomUUID().slice(0, 8)}`;
  vi.useFakeTimers({ toFake: ["Date"], now: start });
  written = [];
  vi.spyOn(process.stdout, "write").mockImplementation((line) => written.push(String(line)) > 0);
});
afterEach(async () => {
  writeMetrics();
  vi.restoreAllMocks();
  vi.useRealTimers();
  for (const queue of ["refunds", "transactionalSends", "webhookDeliveries"] as const) await takeJobs(queue);
});

function advance(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

/** The breaker's events in the log so far, and the count of each of its metrics. */
function toldSoFar(): { readonly events: string[]; readonly opened: number; readonly closed: number } {
  writeMetrics();
  const lines = written.map((line): Record<string, unknown> => JSON.parse(line));
  const count = (metric: string): number =>
    lines.reduce((sum, line) => sum + Number("_aws" in line ? (line[metric] ?? 0) : 0), 0);
  return {
    events: lines
      .filter((line) => line["carrier"] === carrier)
      .map((line) => `${String(line["level"])} ${String(line["event"])}`),
    opened: count("CarrierBreakersOpened"),
    closed: count("CarrierBreakersClosed"),
  };
}

async function fail(sender: Breakers, times: number): Promise<void> {
  for (let failures = 0; failures < times; failures += 1) await sender.note(carrier, false);
}

/** A breaker that has just opened. @returns a sender that has seen it */
async function opened(): Promise<Breakers> {
  const sender = new Breakers();
  await fail(sender, 5);
  expect(await sender.admit(carrier)).toMatchObject({ isAdmitted: false });
  return sender;
}

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
  for (let answers = 0; answers < 100; answers += 1) await sender.note(carrier, answers % 10 < 6);
  expect((await readBreakers()).has(carrier)).toBe(false);
  for (let answers = 0; answers < 20; answers += 1) await sender.note(carrier, answers % 2 === 0);
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
  await prober?.note(carrier, true, probeOf(admission));
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

it("a breaker stays open for another period when the message that it let through has failed", async () => {
  const sender = await opened();
  advance(30 * secondMs);
  await sender.note(carrier, false, probeOf(await sender.admit(carrier)));
  expect(toldSoFar()).toMatchObject({ opened: 2, closed: 0 });
  expect(toldSoFar().events.at(-1)).toBe("error carrier.breaker_opened");
  advance(60 * secondMs - 1);
  expect(await sender.admit(carrier)).toMatchObject({ isAdmitted: false });
  advance(1);
  expect(await sender.admit(carrier)).toMatchObject({ isAdmitted: true });
});

it("the time before the next probe doubles with each failed one, up to ten minutes", async () => {
  await opened();
  for (const seconds of [30, 60, 120, 240, 480, 600, 600]) {
    advance(seconds * secondMs - 1);
    expect((await new Breakers().admit(carrier)).isAdmitted, `${seconds}`).toBe(false);
    advance(1);
    const sender = new Breakers();
    await sender.note(carrier, false, probeOf(await sender.admit(carrier)));
  }
  const closer = new Breakers();
  advance(600 * secondMs);
  await closer.note(carrier, true, probeOf(await closer.admit(carrier)));
  expect(toldSoFar()).toMatchObject({ opened: 8, closed: 1 });
});

it.each([
  ["a probe", async (sender: Breakers) => sender.note(carrier, true, probeOf(await sender.admit(carrier)))],
  ["the operator", async () => closeBreaker(carrier)],
])("a breaker that %s closed begins again with the shortest time", async (_, close) => {
  const sender = await opened();
  for (const waitMs of [30 * secondMs, minuteMs]) {
    advance(waitMs);
    await sender.note(carrier, false, probeOf(await sender.admit(carrier)));
  }
  advance(2 * minuteMs);
  await close(sender);
  expect((await readBreakers()).get(carrier)).toEqual({ entity: "breaker", sk: carrier });
  advance(minuteMs);
  const next = await opened();
  advance(30 * secondMs);
  await next.note(carrier, false, probeOf(await next.admit(carrier)));
  expect((await readBreakers()).get(carrier)?.leaseUntil).toBe(new Date(Date.now() + minuteMs).toISOString());
});

describe("the metric of open breakers", () => {
  /** The counts in the periods of the alarm, while a sender has a one-time code each minute that is never a probe. */
  async function countsOfCodes(periods: number): Promise<number[]> {
    const broken = { name: carrier, carrier: new ScriptedCarrier(accept) };
    const next = { name: "next", carrier: new ScriptedCarrier(accept) };
    const breakers = await opened();
    const counts: number[] = [];
    for (let period = 0; period < periods; period += 1) {
      for (let minute = 0; minute < 5; minute += 1) {
        await submitMessage(
          await acceptedMessage({ messageType: "otp" }),
          inOrder([broken, next], { breakers }),
        );
        advance(minuteMs);
      }
      counts.push(toldSoFar().opened - counts.reduce((sum, count) => sum + count, 0));
    }
    expect(broken.carrier.received).toEqual([]);
    return counts;
  }

  it("counts one that stays open while messages skip it, and none is its probe", async () => {
    expect(await countsOfCodes(6)).toEqual([1, 5, 5, 5, 5, 5]);
  });

  it("counts a state once, whatever the number of messages, and none of a breaker that was just opened", async () => {
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
});

it("the operator closes it by a test, and an outcome of an earlier probe changes nothing", async () => {
  const sender = await opened();
  advance(30 * secondMs);
  const probe = probeOf(await sender.admit(carrier));
  expect([await closeBreaker(carrier), await closeBreaker(carrier)]).toEqual([true, false]);
  await sender.note(carrier, false, probe);
  expect(await new Breakers().admit(carrier)).toEqual({ isAdmitted: true });
});

describe("the probe", () => {
  const types = ["marketing", "transactional", undefined, "otp"] as const;
  const isProbe = async (
    messageType: (typeof types)[number],
    { afterMs, isAlone = false }: { afterMs: number; isAlone?: boolean },
  ): Promise<boolean> => {
    const breakers = await opened();
    advance(30 * secondMs + afterMs);
    const broken = { name: carrier, carrier: new ScriptedCarrier(silent) };
    const next = { name: "next", carrier: new ScriptedCarrier(accept) };
    const job = await acceptedMessage({ messageType });
    const sender = inOrder(isAlone ? [broken] : [broken, next], { breakers });
    await submitMessage(job, sender).catch(() => undefined);
    const wasAsked = broken.carrier.received.length > 0;
    const { status } = await recordOf(job);
    expect(status).toBe(wasAsked || isAlone ? "queued" : "sent");
    return wasAsked;
  };
  const silent = async (): Promise<SubmitResult> => Promise.reject(new Error("the response was lost"));

  it.each([
    [0, [true, false, false, false]],
    [30 * secondMs, [true, true, false, false]],
    [10 * minuteMs, [true, true, true, false]],
    [hourMs, [true, true, true, false]],
  ])(
    "%d ms after its time is a message that may be lost, never a code for another carrier",
    async (afterMs, expected) => {
      const probed: boolean[] = [];
      for (const type of types) {
        carrier = `carrier-${randomUUID().slice(0, 8)}`;
        probed.push(await isProbe(type, { afterMs }));
      }
      expect(probed).toEqual(expected);
    },
  );

  it.each(types)(
    "is a message of the type %s where there is no other carrier, half a minute later",
    async (type) => {
      const isMarketing = type === "marketing";
      expect(await isProbe(type, { afterMs: 29 * secondMs, isAlone: true })).toBe(isMarketing);
      carrier = `carrier-${randomUUID().slice(0, 8)}`;
      expect(await isProbe(type, { afterMs: 30 * secondMs, isAlone: true })).toBe(true);
    },
  );

  const other = (answer: SubmitResult) => {
    const scripted = new ScriptedCarrier((call) => (call === 1 ? answer : accept()));
    return { name: "other", carrier: scripted };
  };

  it.each([
    ["otp", "throttles it", { outcome: "throttled" }],
    ["otp", "is unreachable", { outcome: "unreachable", reason: "ECONNREFUSED" }],
    [undefined, "throttles it", { outcome: "throttled" }],
  ] as const)(
    "is no message of the type %s whose other carrier %s: it waits for that one",
    async (...row) => {
      const [messageType, , answer] = row;
      const breakers = await opened();
      advance(minuteMs);
      const broken = { name: carrier, carrier: new ScriptedCarrier(silent) };
      const sender = inOrder([broken, other(answer)], { breakers });
      const job = await acceptedMessage({ messageType });
      await submitMessage(await laterJobOf(job, sender), sender);
      expect(await recordOf(job)).toMatchObject({ status: "sent", carrier: "other", attempts: 2 });
      expect(broken.carrier.received).toEqual([]);
    },
  );

  it("is a code that the other carrier has rejected, so that only this one may get it", async () => {
    const breakers = await opened();
    advance(minuteMs);
    const rejecting = other({ outcome: "rejected", errorCode: "MESSAGE_UNROUTABLE" });
    const broken = { name: carrier, carrier: new ScriptedCarrier(accept) };
    const job = await acceptedMessage({ messageType: "otp" });
    await submitMessage(job, inOrder([broken, rejecting], { breakers }));
    expect(await recordOf(job)).toMatchObject({ status: "sent", carrier });
  });
});

it("another message is let through after the first one got lost, and a late result of the first changes nothing", async () => {
  const sender = await opened();
  advance(30 * secondMs);
  const lost = probeOf(await sender.admit(carrier));
  advance(30 * secondMs);
  const next = probeOf(await new Breakers().admit(carrier));
  await sender.note(carrier, true, lost);
  expect(toldSoFar().closed).toBe(0);
  expect((await readBreakers()).get(carrier)).toMatchObject({ leaseToken: next });
  await sender.note(carrier, false, next);
  expect(toldSoFar()).toMatchObject({ opened: 2, closed: 0 });
});

it("while it is open a message goes to the next carrier, and waits without a lease where there is none", async () => {
  const breakers = await opened();
  const [alone, passedOn] = [await acceptedMessage(), await acceptedMessage()];
  const broken = { name: carrier, carrier: new ScriptedCarrier(accept), segmentsPerSecond: 1 };
  const next = { name: "next", carrier: new ScriptedCarrier(accept) };
  const throughput = new Throughput();
  const take = vi.spyOn(throughput, "reserve");
  const waiting = await delayedJobs(async () =>
    submitMessage(alone, inOrder([broken], { breakers, throughput })),
  );
  expect(waiting).toMatchObject([{ body: alone }]);
  // Not before the breaker lets a message through, and spread over time.
  expect(waiting[0]?.delaySeconds).toBeGreaterThanOrEqual(60);
  expect(waiting[0]?.delaySeconds).toBeLessThan(90);
  expect(await recordOf(alone)).toMatchObject({ status: "queued", attempts: 0 });
  await submitMessage(passedOn, inOrder([broken, next], { breakers, throughput }));
  expect(await recordOf(passedOn)).toMatchObject({ status: "sent", carrier: "next" });
  expect([broken, next].map((each) => each.carrier.received.length)).toEqual([0, 1]);
  // A carrier that gets no message loses no throughput either.
  expect(take).not.toHaveBeenCalled();
});

it.each([
  [
    "a lost response",
    async (): Promise<SubmitResult> => Promise.reject(new Error("the response was lost")),
    true,
  ],
  ["no connection", (): SubmitResult => ({ outcome: "unreachable", reason: "ECONNREFUSED" }), true],
  ["throttling", (): SubmitResult => ({ outcome: "throttled" }), false],
  ["a rejection", (): SubmitResult => ({ outcome: "rejected", errorCode: "MESSAGE_UNROUTABLE" }), false],
])("five messages that end with %s open the breaker, or not", async (_, answer, isOpened) => {
  const breakers = new Breakers();
  const sender = inOrder([{ name: carrier, carrier: new ScriptedCarrier(answer) }], { breakers });
  for (let count = 0; count < 5; count += 1) {
    await submitMessage(await acceptedMessage(), sender).catch(() => undefined);
  }
  expect((await breakers.admit(carrier)).isAdmitted).toBe(!isOpened);
});

it("a message that is let through closes it for the messages after it", async () => {
  const breakers = await opened();
  advance(60 * secondMs);
  const scripted = new ScriptedCarrier(accept);
  const sender = inOrder([{ name: carrier, carrier: scripted }], { breakers });
  for (let count = 1; count <= 2; count += 1) {
    const job = await acceptedMessage();
    await submitMessage(job, sender);
    expect(await statusOf(job)).toBe("sent");
  }
  expect(toldSoFar().closed).toBe(1);
});

it("the outcome of a message does not depend on whether the breaker could be updated", async () => {
  const breakers = new Breakers();
  vi.spyOn(breakers, "note").mockRejectedValue(new Error("the table is busy"));
  const job = await acceptedMessage();
  await submitMessage(job, only(new ScriptedCarrier(accept), { breakers }));
  expect(await statusOf(job)).toBe("sent");
  expect(written.join("")).toContain('"event":"carrier.breaker_not_noted"');
});
