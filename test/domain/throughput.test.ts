import { randomUUID } from "node:crypto";

import { beforeEach, expect, it, vi } from "vitest";

import { Throughput } from "../../shared/carriers/throughput.ts";
import { MessageJob } from "../../shared/messages/message/message-job.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { DynamoDb } from "../../shared/platform/aws/dynamodb.ts";
import { hourMs, minuteMs, secondMs } from "../../shared/platform/clock.ts";
import { between, oneOf, randomFrom } from "../chaos/random.ts";
import { accept, inOrder, ScriptedCarrier, throttle } from "../support/carriers.ts";
import { acceptedMessage, recordOf, statusOf } from "../support/messages.ts";
import { delayedJobs } from "../support/queues.ts";

/*
 * All senders together keep a carrier's throughput, in segments per second. A message that has to wait gets the time of
 * its slot, and is not submitted before that.
 */

const startMs = Date.parse("2030-06-01T12:00:00Z");

let carrier: string;
beforeEach(() => {
  carrier = `carrier-${randomUUID().slice(0, 8)}`;
  vi.setSystemTime(startMs);
});

const urgent = { segments: 1, isMarketing: false };
const marketing = { segments: 1, isMarketing: true };

/** The slots of `count` messages at the same time, in milliseconds from the start, by alternating senders. */
async function momentsOf(
  senders: readonly Throughput[],
  count: number,
  { segmentsPerSecond = 10, ...load }: { segmentsPerSecond?: number } & typeof urgent = urgent,
): Promise<number[]> {
  const taken = Array.from({ length: count }, async (_, index) =>
    senders[index % senders.length]?.reserve(carrier, segmentsPerSecond, load),
  );
  return (await Promise.all(taken)).map((moment = Number.NaN) => moment - startMs).toSorted((a, b) => a - b);
}

function newSenders(count: number): Throughput[] {
  return Array.from({ length: count }, () => new Throughput());
}

function evenly(count: number, everyMs: number, fromMs = 0): number[] {
  return Array.from({ length: count }, (_, index) => fromMs + index * everyMs);
}

it("several senders together keep the throughput, each message with a slot of its own", async () => {
  expect(await momentsOf(newSenders(4), 100)).toEqual(evenly(100, 100));
});

it("a message reserves time for each of its segments", async () => {
  const [one, other] = newSenders(2);
  if (one === undefined || other === undefined) throw new Error("there are two senders");
  expect(await momentsOf([one], 3, { segments: 3, isMarketing: false })).toEqual([0, 300, 600]);
  expect(await momentsOf([other], 1)).toEqual([900]);
});

it("the messages that wait in one sender reserve their slots with one write", async () => {
  const [sender] = newSenders(1);
  if (sender === undefined) throw new Error("there is one sender");
  // The sender has read the carrier's state.
  await momentsOf([sender], 1);
  const requests = vi.spyOn(DynamoDb.prototype, "send");
  await momentsOf([sender], 500);
  // The first does not wait for the others, which join while it writes.
  expect(requests.mock.calls).toHaveLength(2);
});

it("unused time is not made up for", async () => {
  const senders = newSenders(2);
  await momentsOf(senders, 20);
  vi.setSystemTime(startMs + minuteMs);
  expect(await momentsOf(senders, 20)).toEqual(evenly(20, 100, minuteMs));
});

it("marketing uses three quarters, and does not delay the rest, which has a quarter meanwhile", async () => {
  const senders = newSenders(3);
  // Three quarters of ten segments per second are one message of three segments in 400 ms.
  expect(await momentsOf(senders, 250, { segments: 3, isMarketing: true })).toEqual(evenly(250, 400));
  // A quarter is one segment in 400 ms. After the marketing messages, all of it is one in 100 ms.
  expect(await momentsOf(senders, 10)).toEqual(evenly(10, 400));
  vi.setSystemTime(startMs + 3 * minuteMs);
  expect(await momentsOf(senders, 10)).toEqual(evenly(10, 100, 3 * minuteMs));
});

it("marketing waits for the slots that the rest already has", async () => {
  const senders = newSenders(2);
  await momentsOf(senders, 50);
  const [first = 0] = await momentsOf(senders, 5, marketing);
  expect(first).toBe(50 * 100);
});

it("no second ever has more segments than the throughput allows, for any load and time", async () => {
  const seed = Date.now() + Math.floor(performance.now());
  const random = randomFrom(seed);
  const senders = newSenders(3);
  const taken: { readonly at: number; readonly segments: number }[] = [];
  for (let round = 0; round < 20; round += 1) {
    vi.setSystemTime(Date.now() + Math.floor(random() * 2 * secondMs));
    const loads = Array.from({ length: between(random, 1, 12) }, () => ({
      segments: between(random, 1, 4),
      isMarketing: random() < 0.5,
    }));
    const moments = await Promise.all(
      loads.map(async (load) => oneOf(random, senders).reserve(carrier, 20, load)),
    );
    taken.push(...loads.map(({ segments }, index) => ({ at: moments[index] ?? 0, segments })));
  }
  const busiest = taken.map(({ at: from }) =>
    taken
      .filter(({ at }) => at >= from && at < from + secondMs)
      .reduce((sum, { segments }) => sum + segments, 0),
  );
  // One message may begin at the very end of the second with all of its segments.
  expect(Math.max(...busiest), `seed ${seed}`).toBeLessThanOrEqual(20 + 2 * 4);
});

it("a throughput that the operator changes starts fresh, also for senders with slots at the old one", async () => {
  const senders = newSenders(2);
  await momentsOf(senders, 100, { segmentsPerSecond: 1, ...urgent });
  expect(await momentsOf(senders, 100, { segmentsPerSecond: 100, ...urgent })).toEqual(evenly(100, 10));
});

it("a message without a free slot returns once, at its slot, and reserves no other", async () => {
  const throughput = new Throughput();
  const scripted = new ScriptedCarrier(accept);
  const sender = inOrder([{ name: carrier, carrier: scripted, segmentsPerSecond: 0.1 }], { throughput });
  const [first, second, third] = [await acceptedMessage(), await acceptedMessage(), await acceptedMessage()];
  await submitMessage(first, sender);
  const waiting = [
    ...(await delayedJobs(async () => submitMessage(second, sender))),
    ...(await delayedJobs(async () => submitMessage(third, sender))),
  ];
  const slotAfter = (seconds: number): MessageJob["reservedStart"] => ({
    carrier,
    startsAt: new Date(startMs + seconds * secondMs).toISOString(),
  });
  expect(waiting).toMatchObject([
    { body: { ...second, reservedStart: slotAfter(10) }, delaySeconds: 10 },
    { body: { ...third, reservedStart: slotAfter(20) }, delaySeconds: 20 },
  ]);
  expect(scripted.received).toHaveLength(1);
  expect(await recordOf(second)).toMatchObject({ status: "queued", attempts: 0 });

  // Their jobs have returned in time, one a little late.
  vi.setSystemTime(startMs + 25 * secondMs);
  for (const { body } of waiting) await submitMessage(MessageJob.parse(body), sender);
  expect(await Promise.all([first, second, third].map(statusOf))).toEqual(["sent", "sent", "sent"]);
  // The next slot comes after theirs, because they have not reserved a second one.
  expect(await momentsOf([throughput], 1, { segmentsPerSecond: 0.1, ...urgent })).toEqual([30 * secondMs]);
});

it("a slot further away than the longest delay of a queue is reached in steps", async () => {
  const throughput = new Throughput();
  const scripted = new ScriptedCarrier(accept);
  const sender = inOrder([{ name: carrier, carrier: scripted, segmentsPerSecond: 0.001 }], { throughput });
  const [first, second] = [await acceptedMessage(), await acceptedMessage()];
  await submitMessage(first, sender);
  const [step] = await delayedJobs(async () => submitMessage(second, sender));
  expect(step?.delaySeconds).toBe(900);
  vi.setSystemTime(startMs + 900 * secondMs);
  const job = MessageJob.parse(step?.body);
  const [rest] = await delayedJobs(async () => submitMessage(job, sender));
  // The waiting is recorded in the message, so that its sender has to read it.
  expect(rest).toEqual({ ...step, body: { ...job, facts: undefined }, delaySeconds: 100 });
  vi.setSystemTime(startMs + 1_000 * secondMs);
  await submitMessage(job, sender);
  expect(await statusOf(second)).toBe("sent");
});

it("a missed slot is not used, and the message gets another one", async () => {
  const throughput = new Throughput();
  const scripted = new ScriptedCarrier(accept);
  const sender = inOrder([{ name: carrier, carrier: scripted, segmentsPerSecond: 0.01 }], { throughput });
  const job = await acceptedMessage();
  vi.setSystemTime(startMs + minuteMs);
  await momentsOf([throughput], 1, { segmentsPerSecond: 0.01, ...urgent });
  const missed = { ...job, reservedStart: { carrier, startsAt: new Date(startMs).toISOString() } };
  const [waiting] = await delayedJobs(async () => submitMessage(missed, sender));
  expect(waiting).toMatchObject({ delaySeconds: 100 });
  expect(scripted.received).toEqual([]);
});

it("a message that waits hours for its slot does not fail as rescheduled too long", async () => {
  const throughput = new Throughput();
  const scripted = new ScriptedCarrier(accept);
  const sender = inOrder([{ name: carrier, carrier: scripted, segmentsPerSecond: 1 }], { throughput });
  const job = await acceptedMessage();
  const startsAt = new Date(startMs + 8 * hourMs).toISOString();
  vi.setSystemTime(startMs + 7 * hourMs);
  const [waiting] = await delayedJobs(async () =>
    submitMessage({ ...job, reservedStart: { carrier, startsAt } }, sender),
  );
  expect(waiting).toMatchObject({ body: { reservedStart: { startsAt } }, delaySeconds: 900 });
  vi.setSystemTime(startMs + 8 * hourMs);
  await submitMessage({ ...job, reservedStart: { carrier, startsAt } }, sender);
  expect(await statusOf(job)).toBe("sent");
});

it("a message that a carrier throttles goes to the next one at that one's throughput", async () => {
  const throughput = new Throughput();
  const busy = new ScriptedCarrier(throttle);
  const next = new ScriptedCarrier(accept);
  const route = [
    { name: `${carrier}-busy`, carrier: busy },
    { name: carrier, carrier: next, segmentsPerSecond: 0.05 },
  ];
  const sender = inOrder(route, { throughput });
  const [first, second] = [await acceptedMessage(), await acceptedMessage()];
  await submitMessage(first, sender);
  const waiting = await delayedJobs(async () => submitMessage(second, sender));
  expect([busy, next].map(({ received }) => received.length)).toEqual([2, 1]);
  expect(waiting).toMatchObject([{ body: { ...second, reservedStart: { carrier } }, delaySeconds: 20 }]);
  expect(await recordOf(second)).toMatchObject({ status: "queued", unresolvedAttempts: 0 });
});
