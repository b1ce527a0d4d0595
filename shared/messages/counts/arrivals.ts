import * as z from "zod/mini";

import { trafficClass } from "../../carriers/traffic-class.ts";
import { dayMs, epochSeconds, minuteMs, now, secondMs } from "../../platform/clock.ts";
import { shardIndex } from "../../platform/ids.ts";
import { log } from "../../platform/log.ts";
import { countMetrics, type CarrierMetricName } from "../../platform/metrics.ts";
import { keys, type Key } from "../../platform/table/keys.ts";
import { itemsIn } from "../../platform/table/lists.ts";
import { updateItem, updateOf } from "../../platform/table/write.ts";
import { countryOfNumber } from "../destinations/numbering-plan.ts";
import { effectsOf } from "../message/effects.ts";
import type { MessageRecord } from "../message/record.ts";
import type { RecordedReceipt } from "./counts.ts";
import { added } from "./rows.ts";

/*
 * The figures of what arrives: one item for each slot of five minutes, carrier, country and traffic class, without customers.
 * An hour would be too long a slot: a fault has to be noticed within a quarter of one. A receipt counts for the slot in which
 * its message was sent.
 *
 * They are a measure for operators, and no money follows from them. An instance of a function adds up what it has seen, and
 * writes it at the end of a batch. While it has seen few events of a kind in a slot it writes each, later five together.
 * An instance that ends may lose four events of a kind, and a failed write is lost.
 */

export const slotMs = 5 * minuteMs;
const keptMs = 90 * dayMs;

/** The partitions of a day: DynamoDB accepts 1,000 writes a second in one. Each instance of a function writes to one of them. */
export const partitions = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] as const;
const partition = Math.floor(Math.random() * partitions.length);

/** The most events of a kind and slot that wait in an instance, and their share in those that it has written in this slot. */
const maxWaiting = 4;
const waitingShare = 1 / 8;

/** The time within which an urgent message should reach the carrier, and half of it: see the objectives in `infra/SCALE.md`. */
const overdueMs = 10 * secondMs;
const lateMs = overdueMs / 2;

/** The longest durations of each bucket, in seconds. Longer ones are in no bucket. */
export const durations = [2, 5, 10, 30, 60, 300, 1_800] as const;

/**
 * The outcomes of submissions and receipts, with the names of those of one half of all organizations. The other half shows
 * whether one organization is the cause alone. An attempt has failed if it was rejected, or if its outcome is unknown. A
 * message that is no marketing was late if it took longer than {@link lateMs} until it was accepted.
 */
export const oddNames = {
  accepted: "oddAccepted",
  failed: "oddFailed",
  throttled: "oddThrottled",
  delivered: "oddDelivered",
  undelivered: "oddUndelivered",
  late: "oddLate",
} as const;
export type Outcomes = Readonly<Record<keyof typeof oddNames, number>>;

/** Other counts are the times from when a message was due until it was accepted, and from then until its first receipt. */
type Bucket = `${"received" | "submitted"}${(typeof durations)[number]}`;
type CountName = Bucket | keyof Outcomes | (typeof oddNames)[keyof Outcomes];

function countsOf<Value>(value: Value): Record<CountName, Value> {
  const buckets = durations.flatMap((seconds) => [`submitted${seconds}`, `received${seconds}`]);
  const names = [...Object.entries(oddNames).flat(), ...buckets];
  // The compiler has no type for the keys of a new object.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(names.map((name) => [name, value])) as Record<CountName, Value>;
}

export const ArrivalsRecord = z.object({
  entity: z.literal("arrivals"),
  sk: z.string(),
  ...countsOf(z._default(z.int(), 0)),
});
export type ArrivalCounts = Readonly<Record<CountName, number>>;

/** The figures of a slot, and what they are of. */
export type Arrivals = ArrivalCounts & {
  /** When the slot began: `2026-03-01T09:35`. */
  readonly slot: string;
  readonly carrier: string;
  /** As an ISO 3166-1 code, or XK; `none` for numbers without a country and erased numbers. */
  readonly country: string;
  readonly class: string;
};

/** Returns the slot of a moment in ISO 8601. */
export function slotOf(moment: string): string {
  const startMs = Math.floor(Date.parse(moment) / slotMs) * slotMs;
  return new Date(startMs).toISOString().slice(0, "yyyy-mm-ddThh:mm".length);
}

/** Reads the figures of a day, from a slot on: those of each partition in the order of time. */
export async function* readArrivals(day: string, from = `${day}T00:00`): AsyncGenerator<Arrivals, undefined> {
  for (const each of [undefined, ...partitions]) {
    const { pk } = keys.arrivals(day, "", each);
    const list = { pk, from: from.slice("yyyy-mm-ddT".length), skipsUnreadable: true };
    for await (const { sk, entity: _entity, ...figures } of itemsIn(ArrivalsRecord, list)) {
      const [time = "", carrier = "", country = "", ofClass = ""] = sk.split("#");
      yield { ...figures, slot: `${day}T${time}`, carrier, country, class: ofClass };
    }
  }
}

/** Whether some events of a kind wait in an instance that has written others in this slot. */
export function mayWait(events: number, before: number): boolean {
  return events <= Math.min(maxWaiting, waitingShare * before);
}

/** Events of one kind that have not been written. */
interface Waiting {
  readonly key: Key<"arrivals">;
  /** The slot in which the first one was counted. */
  readonly since: string;
  readonly events: number;
  readonly figures: ArrivalCounts;
}

const waiting = new Map<string, Waiting>();
/** The events of the present slot that were written. Those of earlier slots must not let events of a quiet slot wait. */
const written = new Map<string, number>();
let writtenIn = "";

/** Counts an attempt that a carrier has not accepted. Each attempt counts. */
export function countAttempt(message: MessageRecord, carrier: string, metric: CarrierMetricName): void {
  const figures = metric === "CarrierThrottled" ? { throttled: 1 } : { failed: 1 };
  const counted = metric === "CarrierInvalidDestinations" ? {} : figures;
  add(message, { carrier, at: now().toISOString(), metric, figures: counted });
}

/** Counts messages of a batch that have ended. Each message counts once, however often it was submitted. */
export async function countSent(ended: readonly MessageRecord[]): Promise<void> {
  for (const message of ended) {
    const { sentAt, carrier, queuedAt, scheduledAt = queuedAt } = message;
    if (sentAt === undefined || carrier === undefined) continue;
    const dueAt = scheduledAt > queuedAt ? scheduledAt : queuedAt;
    const isUrgent = trafficClass(message) !== "marketing";
    const tookMs = Date.parse(sentAt) - Date.parse(dueAt);
    const isLate = isUrgent && tookMs > lateMs;
    if (isUrgent && effectsOf(message).isCounted)
      countMetrics({ UrgentMessages: 1, OverdueMessages: tookMs > overdueMs ? 1 : 0 });
    const figures = { accepted: 1, ...(isLate && { late: 1 }), ...took("submitted", dueAt, sentAt) };
    add(message, { carrier, at: sentAt, metric: "CarrierAccepted", figures });
  }
  await write();
}

/** Counts receipts of a batch that have changed something. */
export async function countArrivals(recorded: readonly RecordedReceipt[]): Promise<void> {
  for (const { message, before } of recorded) {
    const { carrier, deliveryStatus, deliveryAt = now().toISOString(), sentAt: at = deliveryAt } = message;
    if (carrier === undefined || deliveryStatus === undefined || deliveryStatus === "unknown") continue;
    const metric = deliveryStatus === "delivered" ? "CarrierDelivered" : "CarrierUndelivered";
    const isLater = before === "undelivered";
    const figures = isLater ? { undelivered: -1 } : took("received", at, deliveryAt);
    add(message, { carrier, at, metric, figures: { ...figures, [deliveryStatus]: 1 } });
  }
  await write();
}

interface Event {
  readonly carrier: string;
  readonly at: string;
  readonly metric: CarrierMetricName;
  readonly figures: Partial<ArrivalCounts>;
}

function add(message: MessageRecord, { carrier, at, metric, figures }: Event): void {
  if (!effectsOf(message).isCounted) return;
  countMetrics({ [metric]: 1 }, carrier);
  if (Object.keys(figures).length === 0) return;
  const kind = `${carrier}#${countryOfNumber(message.to) ?? "none"}#${trafficClass(message)}`;
  const key = keys.arrivals(slotOf(at), kind, partition);
  const name = `${key.pk} ${key.sk}`;
  const first = { key, since: slotOf(now().toISOString()), events: 0, figures: countsOf(0) };
  const sum = waiting.get(name) ?? first;
  const isOdd = shardIndex(2, message.organizationId) === 1;
  const odd = Object.entries(oddNames).map(([outcome, oddName]) => [oddName, { ...figures }[outcome] ?? 0]);
  const all = { ...figures, ...(isOdd ? Object.fromEntries(odd) : {}) };
  waiting.set(name, { ...sum, events: sum.events + 1, figures: { ...added(sum.figures, all) } });
}

/** Writes the events that have waited for long enough. It never throws. */
async function write(): Promise<void> {
  const present = slotOf(now().toISOString());
  if (writtenIn !== present) written.clear();
  writtenIn = present;
  const isDue = (name: string, { since, events }: Waiting): boolean =>
    since !== present || !mayWait(events, written.get(name) ?? 0);
  const due = [...waiting].filter(([name, each]) => isDue(name, each));
  await Promise.all(
    due.map(async ([name, { key, events, figures }]) => {
      waiting.delete(name);
      written.set(name, (written.get(name) ?? 0) + events);
      const numbers = Object.fromEntries(Object.entries(figures).filter(([, number]) => number !== 0));
      const expiresAt = epochSeconds(new Date(now().getTime() + keptMs));
      try {
        const changes = { set: { entity: "arrivals", expiresAt }, add: numbers } as const;
        await updateItem(ArrivalsRecord, updateOf(key, changes), { bestEffort: true });
      } catch (error) {
        log.warn("arrivals.not_written", { error });
      }
    }),
  );
}

/** Returns the bucket of a duration, if it has one. */
function took(what: "received" | "submitted", from: string, to: string): Partial<ArrivalCounts> {
  const seconds = (Date.parse(to) - Date.parse(from)) / secondMs;
  const bucket = durations.find((longest) => seconds <= longest);
  return bucket === undefined ? {} : { [`${what}${bucket}`]: 1 };
}
