import { randomUUID } from "node:crypto";

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { Breakers } from "../../shared/carriers/breaker.ts";
import type { SubmitResult } from "../../shared/carriers/carrier.ts";
import { Throughput } from "../../shared/carriers/throughput.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { hourMs, minuteMs, secondMs } from "../../shared/platform/clock.ts";
import { writeMetrics } from "../../shared/platform/metrics.ts";
import { breakerEvents, openedBreaker } from "../support/breakers.ts";
import {
  accept,
  inOrder,
  only,
  ScriptedCarrier,
  named,
  beUnreachable,
  loseResponse,
  reject,
  throttle,
} from "../support/carriers.ts";
import { advance } from "../support/clock.ts";
import { recordLog, type RecordedLog } from "../support/log.ts";
import { acceptedMessage, laterJobOf, recordOf, statusOf } from "../support/messages.ts";
import { delayedJobs } from "../support/queues.ts";

/*
 * Messages whose carrier's breaker is open: which of them is the probe, and where the others go.
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

const opened = async (): Promise<Breakers> => openedBreaker(carrier);
const metrics = () => breakerEvents(log, carrier);

/** The counts in the periods of the alarm, while a sender has a one-time code each minute that is never a probe. */
async function countsOfCodes(periods: number): Promise<number[]> {
  const [broken, next] = [new ScriptedCarrier(accept), new ScriptedCarrier(accept)];
  const breakers = await opened();
  const counts: number[] = [];
  for (let period = 0; period < periods; period += 1) {
    for (let minute = 0; minute < 5; minute += 1) {
      const job = await acceptedMessage({ messageType: "otp" });
      await submitMessage(job, inOrder(named({ [carrier]: broken, next }), { breakers }));
      advance(minuteMs);
    }
    counts.push(metrics().opened - counts.reduce((sum, count) => sum + count, 0));
  }
  expect(broken.received).toEqual([]);
  return counts;
}

it("the metric counts a breaker that stays open while messages skip it, and none is its probe", async () => {
  expect(await countsOfCodes(6)).toEqual([1, 5, 5, 5, 5, 5]);
});

describe("the probe", () => {
  const types = ["marketing", "transactional", undefined, "otp"] as const;
  const isProbe = async (
    messageType: (typeof types)[number],
    { afterMs, isAlone = false }: { afterMs: number; isAlone?: boolean },
  ): Promise<boolean> => {
    const breakers = await opened();
    advance(30 * secondMs + afterMs);
    const broken = { [carrier]: new ScriptedCarrier(loseResponse) };
    const next = isAlone ? {} : { next: new ScriptedCarrier(accept) };
    const job = await acceptedMessage({ messageType });
    await submitMessage(job, inOrder(named({ ...broken, ...next }), { breakers })).catch(() => undefined);
    const wasAsked = broken[carrier]?.received.length === 1;
    const { status } = await recordOf(job);
    expect(status).toBe(wasAsked || isAlone ? "queued" : "sent");
    return wasAsked;
  };

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

  const other = (answer: () => SubmitResult) =>
    new ScriptedCarrier((call) => (call === 1 ? answer() : accept()));

  it.each([
    ["otp", "throttles it", throttle],
    ["otp", "is unreachable", beUnreachable],
    [undefined, "throttles it", throttle],
  ] as const)(
    "is no message of the type %s whose other carrier %s: it waits for that one",
    async (...row) => {
      const [messageType, , answer] = row;
      const breakers = await opened();
      advance(minuteMs);
      const broken = new ScriptedCarrier(loseResponse);
      const sender = inOrder(named({ [carrier]: broken, other: other(answer) }), { breakers });
      const job = await acceptedMessage({ messageType });
      await submitMessage(await laterJobOf(job, sender), sender);
      expect(await recordOf(job)).toMatchObject({ status: "sent", carrier: "other", attempts: 2 });
      expect(broken.received).toEqual([]);
    },
  );

  it("is a code that the other carrier has rejected, so that only this one may get it", async () => {
    const breakers = await opened();
    advance(minuteMs);
    const route = named({ [carrier]: new ScriptedCarrier(accept), other: other(reject) });
    const job = await acceptedMessage({ messageType: "otp" });
    await submitMessage(job, inOrder(route, { breakers }));
    expect(await recordOf(job)).toMatchObject({ status: "sent", carrier });
  });
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
  // The alarm counts only the message that no carrier may get.
  writeMetrics();
  expect(log.lines().flatMap((line) => line["MessagesWithoutCarrier"] ?? [])).toEqual([1]);
});

it.each([
  ["a lost response", loseResponse, true],
  ["no connection", beUnreachable, true],
  ["a buffered message", (): SubmitResult => ({ outcome: "accepted", isBuffered: true }), true],
  ["throttling", throttle, false],
  ["a rejection", reject, false],
])("five messages that end with %s open the breaker, or not", async (_, answer, isOpened) => {
  const breakers = new Breakers();
  const sender = inOrder(named({ [carrier]: new ScriptedCarrier(answer) }), { breakers });
  for (let count = 0; count < 5; count += 1) {
    await submitMessage(await acceptedMessage(), sender).catch(() => undefined);
  }
  expect((await breakers.admit(carrier)).isAdmitted).toBe(!isOpened);
});

it("a message that is let through closes it for the messages after it", async () => {
  const breakers = await opened();
  advance(60 * secondMs);
  const sender = inOrder(named({ [carrier]: new ScriptedCarrier(accept) }), { breakers });
  for (let count = 1; count <= 2; count += 1) {
    const job = await acceptedMessage();
    await submitMessage(job, sender);
    expect(await statusOf(job)).toBe("sent");
  }
  expect(metrics().closed).toBe(1);
});

it("the outcome of a message does not depend on whether the breaker could be updated", async () => {
  const breakers = new Breakers();
  vi.spyOn(breakers, "note").mockRejectedValue(new Error("the table is busy"));
  const job = await acceptedMessage();
  await submitMessage(job, only(undefined, { breakers }));
  expect(await statusOf(job)).toBe("sent");
  expect(log.of("carrier.breaker_not_noted")).toHaveLength(1);
});

describe("a carrier that takes seven seconds", () => {
  const slow = (): SubmitResult => {
    advance(7 * secondMs);
    return accept();
  };
  const sendCode = async (route: Readonly<Record<string, ScriptedCarrier>>, breakers: Breakers) => {
    const job = await acceptedMessage({ messageType: "otp" });
    await submitMessage(job, inOrder(named(route), { breakers }));
    return statusOf(job);
  };

  it("gets no more codes that have another carrier, except a probe, and all again once it is fast", async () => {
    let isSlow = true;
    const first = new ScriptedCarrier(() => (isSlow ? slow() : accept()));
    const next = new ScriptedCarrier(accept);
    const breakers = new Breakers();
    for (let code = 1; code <= 8; code += 1) await sendCode({ [carrier]: first, next }, breakers);
    expect([first.received.length, next.received.length]).toEqual([5, 3]);
    expect(log.of("carrier.breaker_opened")).toMatchObject([{ carrier, errorCode: "Slow" }]);
    advance(31 * secondMs);
    isSlow = false;
    for (let code = 1; code <= 3; code += 1) await sendCode({ [carrier]: first, next }, breakers);
    expect([first.received.length, next.received.length]).toEqual([8, 3]);
    expect(metrics()).toMatchObject({ opened: 1, closed: 1 });
  });

  it("gets all codes that have no other carrier", async () => {
    const first = new ScriptedCarrier(slow);
    const breakers = new Breakers();
    for (let code = 1; code <= 12; code += 1)
      expect(await sendCode({ [carrier]: first }, breakers)).toBe("sent");
    expect(first.received).toHaveLength(12);
    expect(metrics().opened).toBeGreaterThan(0);
  });

  it("is in use for marketing", async () => {
    const [first, next] = [new ScriptedCarrier(slow), new ScriptedCarrier(accept)];
    const breakers = new Breakers();
    for (let message = 1; message <= 8; message += 1) {
      const job = await acceptedMessage({ messageType: "marketing" });
      await submitMessage(job, inOrder(named({ [carrier]: first, next }), { breakers }));
    }
    expect([first.received.length, next.received.length]).toEqual([8, 0]);
  });
});
