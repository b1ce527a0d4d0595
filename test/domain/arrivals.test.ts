import { randomUUID } from "node:crypto";

import { afterEach, beforeEach, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { readDeliveries } from "../../shared/figures/deliveries/rows.ts";
import {
  countArrivals,
  countAttempt,
  countSent,
  readArrivals,
  type Arrivals,
  partitions,
} from "../../shared/messages/counts/arrivals.ts";
import type { MessageRecord } from "../../shared/messages/message/record.ts";
import { dayMs, minuteMs, secondMs } from "../../shared/platform/clock.ts";
import { config } from "../../shared/platform/config.ts";
import { newId, newTestId } from "../../shared/platform/ids.ts";
import { writeMetrics } from "../../shared/platform/metrics.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { writeSlot } from "../support/arrivals.ts";
import { advance } from "../support/clock.ts";
import { recordLog, type RecordedLog } from "../support/log.ts";
import { sentMessage } from "../support/message-records.ts";

/*
 * The figures of what arrives, from the messages and receipts of batches.
 */

const start = Date.parse("2032-05-04T10:31:00Z");
let carrier: string;
let log: RecordedLog;
beforeEach(() => {
  carrier = `carrier-${randomUUID().slice(0, 8)}`;
  vi.setSystemTime(start);
  log = recordLog();
});
afterEach(writeMetrics);

/** A message that is sent after some seconds. */
function sent(fields: Partial<MessageRecord> = {}, seconds = 1): MessageRecord {
  const queuedAt = new Date().toISOString();
  const sentAt = new Date(Date.now() + seconds * secondMs).toISOString();
  const organizationId = "org_01J00000000000000000000000";
  return sentMessage(organizationId, { carrier, queuedAt, sentAt, to: "447700900123", ...fields });
}

/** The figures of the carrier that are not 0, with their slot, country and class. */
async function written(): Promise<Record<string, object>> {
  const found: Record<string, object> = {};
  for await (const { slot, country, class: ofClass, ...figures } of readArrivals("2032-05-04")) {
    if (figures.carrier !== carrier) continue;
    const counts = Object.entries(figures).filter(([, count]) => typeof count === "number" && count !== 0);
    found[`${slot.slice(-5)} ${country} ${ofClass}`] = Object.fromEntries(counts);
  }
  return found;
}

async function record(...messages: MessageRecord[]): Promise<void> {
  await countSent(messages);
}

it("sums what one batch sent by slot, country and traffic class, with the time until it was accepted", async () => {
  const dueAt = new Date(start + 50 * secondMs).toISOString();
  await record(
    sent({ messageType: "otp" }),
    sent({ messageType: "otp" }, 20),
    sent({ to: "33612345678", campaignId: "cmp_1" }, 3_000),
    sent({ to: "removed" }),
    // A scheduled message is due later than it was queued.
    sent({ messageType: "otp", scheduledAt: dueAt }, 54),
  );
  expect(await written()).toEqual({
    "10:30 GB otp": { accepted: 3, late: 1, submitted2: 1, submitted5: 1, submitted30: 1 },
    "11:20 FR marketing": { accepted: 1 },
    "10:30 none transactional": { accepted: 1, submitted2: 1 },
  });
});

it("counts attempts that are not accepted, and one half of the organizations separately", async () => {
  const odd = sent({ organizationId: "org_01J00000000000000000000001" });
  countAttempt(odd, carrier, "CarrierRejected");
  countAttempt(sent(), carrier, "CarrierOutcomeUnknown");
  countAttempt(odd, carrier, "CarrierThrottled");
  countAttempt(odd, carrier, "CarrierInvalidDestinations");
  await record(odd);
  const all = { failed: 2, throttled: 1, accepted: 1, submitted2: 1 };
  expect(await written()).toEqual({
    "10:30 GB transactional": { ...all, oddFailed: 1, oddThrottled: 1, oddAccepted: 1 },
  });
});

it("counts a receipt for the slot in which its message was sent, and once", async () => {
  const message = sent();
  await record(message);
  advance(10 * minuteMs);
  const deliveryAt = new Date().toISOString();
  const undelivered = { ...message, deliveryAt, deliveryStatus: "undelivered" as const };
  await countArrivals([{ message: undelivered, before: undefined }]);
  const submitted = { accepted: 1, submitted2: 1, received1800: 1 };
  expect(await written()).toEqual({ "10:30 GB transactional": { ...submitted, undelivered: 1 } });
  await countArrivals([{ message: { ...undelivered, deliveryStatus: "delivered" }, before: "undelivered" }]);
  await countArrivals([{ message: { ...undelivered, deliveryStatus: "unknown" }, before: undefined }]);
  expect(await written()).toEqual({ "10:30 GB transactional": { ...submitted, delivered: 1 } });
});

it("counts no test message", async () => {
  const message = { ...sent(), id: newTestId("msg") };
  countAttempt(message, carrier, "CarrierRejected");
  await countArrivals([{ message: { ...message, deliveryStatus: "delivered" }, before: undefined }]);
  await record(message);
  expect(await written()).toEqual({});
});

it("writes each event while there are few, later five together, and the rest when the slot is over", async () => {
  const writes: number[] = [];
  for (let sents = 1; sents <= 60; sents += 1) {
    await record(sent());
    const [{ accepted = 0 } = {}] = Object.values(await written()) as Partial<Arrivals>[];
    if (writes.at(-1) !== accepted) writes.push(accepted);
  }
  expect(writes.slice(0, 10)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 10, 12]);
  expect(writes.slice(-4)).toEqual([43, 48, 53, 58]);
  advance(5 * minuteMs);
  await record();
  expect(await written()).toEqual({ "10:30 GB transactional": { accepted: 60, submitted2: 60 } });
});

it("writes each event of a quiet slot, also after busy ones", async () => {
  for (let sents = 1; sents <= 60; sents += 1) await record(sent());
  advance(15 * minuteMs);
  await record();
  for (let sents = 1; sents <= 4; sents += 1) {
    await record(sent());
    expect((await written())["10:45 GB transactional"]).toEqual({ accepted: sents, submitted2: sents });
  }
});

it("lets few events of a slot wait after it, when the next one is quiet", async () => {
  const messages = Array.from({ length: 60 }, () => sent({ deliveryStatus: "delivered" }));
  for (const message of messages.slice(4)) await countArrivals([{ message, before: undefined }]);
  advance(5 * minuteMs);
  for (const message of messages.slice(0, 4)) await countArrivals([{ message, before: undefined }]);
  expect(await written()).toMatchObject({ "10:30 GB transactional": { delivered: 60 } });
});

it("keeps figures for 90 days", async () => {
  await record(sent());
  const [found] = await itemsOfPartitions();
  expect(new Date((found?.expiresAt ?? 0) * secondMs)).toEqual(new Date(start + 90 * dayMs));
});

/** The items of the carrier's figures, one for each partition that has some. */
async function itemsOfPartitions(): Promise<
  { expiresAt?: number | undefined; accepted?: number | undefined }[]
> {
  const kind = `${carrier}#GB#transactional`;
  const all = partitions.map(async (partition) =>
    findItem(
      z.object({ expiresAt: z.optional(z.int()), accepted: z.optional(z.int()) }),
      keys.arrivals("2032-05-04T10:30", kind, partition),
    ),
  );
  return (await Promise.all(all)).flatMap((item) => item ?? []);
}

it("each instance writes to one partition, and the figures of a day are those of all, and of 0.4.0", async () => {
  for (const random of [0, 0.3, 0.99]) {
    vi.spyOn(Math, "random").mockReturnValue(random);
    vi.resetModules();
    const instance = await import("../../shared/messages/counts/arrivals.ts");
    await instance.countSent([sent(), sent()]);
  }
  vi.restoreAllMocks();
  expect((await itemsOfPartitions()).map(({ accepted }) => accepted)).toEqual([2, 2, 2]);
  await writeSlot(new Date(), { carrier, country: "GB", ofClass: "transactional" }, { accepted: 4 });
  const rows = await readDeliveries({ since: new Date(start), until: new Date(), by: ["carrier"], carrier });
  expect(rows).toMatchObject([{ accepted: 10 }]);
});

it("a failed write is only logged", async () => {
  vi.spyOn(config, "tableName").mockReturnValue("nothing-here");
  await record(sent({ id: newId("msg") }));
  expect(log.of("arrivals.not_written")).toHaveLength(1);
});

it("writes the metrics of each carrier", async () => {
  countAttempt(sent(), carrier, "CarrierRejected");
  await countArrivals([{ message: sent({ deliveryStatus: "delivered" }), before: undefined }]);
  await record(sent(), sent());
  writeMetrics();
  const metrics = log.lines().filter((line) => "_aws" in line && line["carrier"] === carrier);
  expect(metrics).toMatchObject([
    { stage: "local", CarrierRejected: 1, CarrierDelivered: 1, CarrierAccepted: 2 },
  ]);
});
