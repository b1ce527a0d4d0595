import { beforeEach, describe, expect, it, vi } from "vitest";

import { Breakers } from "../../shared/carriers/breaker.ts";
import { Throughput } from "../../shared/carriers/throughput.ts";
import { MessageRecord } from "../../shared/messages/message/record.ts";
import { noteWaiting } from "../../shared/messages/message/transitions.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { DynamoDb, UpdateCommand } from "../../shared/platform/aws/dynamodb.ts";
import { hourMs, minuteMs, secondMs } from "../../shared/platform/clock.ts";
import { updateItem } from "../../shared/platform/table/write.ts";
import { accept, inOrder, only, ScriptedCarrier, throttle, beUnreachable } from "../support/carriers.ts";
import { acceptedMessage, laterJobOf, recordOf, statusOf } from "../support/messages.ts";

const start = new Date("2030-06-01T12:00:00Z");
const at = (ms: number): Date => new Date(start.getTime() + ms);

beforeEach(() => void vi.setSystemTime(start));

it.each([
  ["throttles it", throttle],
  ["cannot be reached", beUnreachable],
])("a message whose carrier %s for six hours fails then, and not before", async (_, answer) => {
  const carrier = new ScriptedCarrier(answer);
  const first = await acceptedMessage();
  // The time before its first attempt does not count.
  vi.setSystemTime(at(30 * hourMs));
  let job = await laterJobOf(first, only(carrier));
  for (const hours of [31, 33, 36]) {
    vi.setSystemTime(at(hours * hourMs));
    job = await laterJobOf(job, only(carrier));
    expect(job.rescheduledSince).toBe(at(30 * hourMs).toISOString());
  }
  vi.setSystemTime(at(36 * hourMs + secondMs));
  await submitMessage(job, only(carrier));
  expect(await statusOf(first)).toBe("failed: MESSAGE_PROVIDER_ERROR");
  expect(carrier.received).toHaveLength(5);
});

it("a message that waits seven hours for its slot is rescheduled when it is throttled, and sent afterwards", async () => {
  const slotAt = at(7 * hourMs);
  const carrier = new ScriptedCarrier((call) => (call === 1 ? throttle() : accept()));
  const sender = inOrder([{ name: "slow", carrier, segmentsPerSecond: 1 }], { throughput: new Throughput() });
  const job = await acceptedMessage();
  vi.setSystemTime(slotAt);
  const slot = { carrier: "slow", startsAt: slotAt.toISOString() };
  const later = await laterJobOf({ ...job, reservedStart: slot }, sender);
  expect(await statusOf(job)).toBe("queued");
  vi.setSystemTime(at(7 * hourMs + minuteMs));
  await submitMessage(later, sender);
  expect(await statusOf(job)).toBe("sent");
});

it("a message whose slot begins while its carrier's breaker is open waits for the breaker", async () => {
  const breakers = new Breakers();
  vi.spyOn(breakers, "openUntil").mockImplementation(async () => at(7 * hourMs + minuteMs).toISOString());
  const carrier = new ScriptedCarrier(accept);
  const job = await acceptedMessage();
  vi.setSystemTime(at(7 * hourMs));
  const later = await laterJobOf(job, only(carrier, { breakers }));
  expect(later.rescheduledSince).toBe(at(7 * hourMs).toISOString());
  expect(await recordOf(job)).toMatchObject({ status: "queued", attempts: 1, unresolvedAttempts: 0 });
  expect(carrier.received).toEqual([]);
});

it("the time for which a message is rescheduled stands still while it waits for a slot", async () => {
  const carrier = new ScriptedCarrier(throttle);
  const slow = { name: `slow-${Date.now()}`, carrier, segmentsPerSecond: 0.001 };
  const throughput = new Throughput();
  // Reserves the first slot, so that the next one is 1,000 seconds away.
  await throughput.reserve(slow.name, slow.segmentsPerSecond, { segments: 1, isMarketing: false });
  const job = { ...(await acceptedMessage()), rescheduledSince: at(-5 * hourMs).toISOString() };
  const later = await laterJobOf(job, inOrder([slow], { throughput }));
  expect(later).toMatchObject({
    reservedStart: { carrier: slow.name },
    rescheduledSince: at(-5 * hourMs + 900 * secondMs).toISOString(),
  });
});

it("a message is noted to wait once, also when the response to the note is lost", async () => {
  const job = await acceptedMessage();
  const note = noteWaiting(await recordOf(job));
  expect(await updateItem(MessageRecord, note)).toMatchObject({ applied: true });
  expect(await updateItem(MessageRecord, note)).toMatchObject({ applied: false });
  expect(await recordOf(job)).toMatchObject({ status: "queued", attempts: 1 });
});

describe("a sender submits only while it has time to wait for the response and to record it", () => {
  it("and acquires no lease without that time", async () => {
    const carrier = new ScriptedCarrier(accept);
    const job = await acceptedMessage();
    await expect(submitMessage(job, only(carrier, { remainingTimeMs: () => 10_999 }))).rejects.toThrow(
      "too little time",
    );
    expect(await recordOf(job)).toMatchObject({ status: "queued", attempts: 0, unresolvedAttempts: 0 });
    await submitMessage(job, only(carrier, { remainingTimeMs: () => 11_000 }));
    expect(await statusOf(job)).toBe("sent");
    expect(carrier.received).toHaveLength(1);
  });

  it("and releases a message whose lease took too long to acquire", async () => {
    const carrier = new ScriptedCarrier(accept);
    const job = await acceptedMessage();
    let remainingMs = 20_000;
    const send = vi.spyOn(DynamoDb.prototype, "send");
    const remainingTimeMs = (): number => {
      const claims = send.mock.calls.filter(
        ([command]: readonly unknown[]) => command instanceof UpdateCommand,
      );
      if (claims.length > 0) remainingMs = 5_000;
      return remainingMs;
    };
    const later = await laterJobOf(job, only(carrier, { remainingTimeMs }));
    expect(carrier.received).toEqual([]);
    expect(await recordOf(job)).toMatchObject({ status: "queued", unresolvedAttempts: 0 });
    expect(later.rescheduledSince).toBeUndefined();
  });
});

it("a message is recorded as sent before its carrier's breaker is updated", async () => {
  const job = await acceptedMessage();
  const breakers = new Breakers();
  const statuses: string[] = [];
  vi.spyOn(breakers, "note").mockImplementation(async () => {
    statuses.push(await statusOf(job));
  });
  await submitMessage(job, only(undefined, { breakers }));
  expect(statuses).toEqual(["sent"]);
});
