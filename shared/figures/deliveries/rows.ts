import {
  durations,
  readArrivals,
  slotOf,
  type Arrivals,
  type Outcomes,
} from "../../messages/counts/arrivals.ts";
import { shareOf } from "../../messages/counts/counts.ts";
import { addTo } from "../../messages/counts/rows.ts";
import { dayMs, dayOf } from "../../platform/clock.ts";

/** The groupings of deliveries. An hour is that in which the messages were sent. */
export const deliveryGroupings = ["carrier", "country", "class", "hour"] as const;
type Grouping = (typeof deliveryGroupings)[number];

/**
 * The deliveries of a group, whose names are in the fields of its groupings. Each attempt counts that a carrier did not accept,
 * also if another carrier accepted the message.
 */
export interface DeliveryRow extends Readonly<Partial<Record<Grouping, string>>>, Outcomes {
  readonly withoutReceipt: number;
  /** The delivered share of the messages with a receipt; null without any. */
  readonly rate: number | null;
  /** The delivered share of all accepted messages; null without any. It shows a carrier that sends no receipts as 0. */
  readonly rateOfAccepted: number | null;
  /** From when a message was due until it was accepted, and from then until its receipt. */
  readonly secondsToSubmit: Percentiles;
  /** The share of the accepted messages that were accepted within ten seconds; null without any. */
  readonly promptShare: number | null;
  readonly secondsToReceipt: Percentiles;
}

/** The seconds within which half of the messages are done, and 95 of 100; null above half an hour, or without messages. */
interface Percentiles {
  readonly half: number | null;
  readonly most: number | null;
}

interface Wanted {
  readonly since: Date;
  readonly until: Date;
  readonly by: readonly Grouping[];
  readonly carrier?: string | undefined;
  readonly country?: string | undefined;
}

/** Reads the deliveries of some time, by groups: the latest hours first, then the groups with the most messages. */
export async function readDeliveries({ since, until, by, ...only }: Wanted): Promise<DeliveryRow[]> {
  const sums = new Map<string, Arrivals & { readonly hour: string }>();
  const from = slotOf(since.toISOString());
  const lastDay = dayOf(until.toISOString());
  for (let at = since; dayOf(at.toISOString()) <= lastDay; at = new Date(at.getTime() + dayMs)) {
    const day = dayOf(at.toISOString());
    for await (const figures of readArrivals(day, day === dayOf(from) ? from : undefined)) {
      const { carrier, country, slot } = figures;
      if ((only.carrier ?? carrier) !== carrier || (only.country ?? country) !== country) continue;
      const row = { ...figures, hour: `${slot.slice(0, "yyyy-mm-ddThh".length)}:00Z` };
      addTo(sums, by.map((grouping) => row[grouping]).join(" "), row);
    }
  }
  const eventsOf = ({ accepted, failed, throttled }: Arrivals): number => accepted + failed + throttled;
  const groups = [...sums.values()].toSorted((one, other) => eventsOf(other) - eventsOf(one));
  if (by.includes("hour")) groups.sort((one, other) => other.hour.localeCompare(one.hour));
  return groups.map((sum) => rowOf(sum, by));
}

function rowOf(sum: Arrivals & { readonly hour: string }, by: readonly Grouping[]): DeliveryRow {
  const { accepted, failed, throttled } = sum;
  // Lost counts may make a sum negative.
  const [delivered, undelivered] = [Math.max(0, sum.delivered), Math.max(0, sum.undelivered)];
  const reported = delivered + undelivered;
  return {
    ...Object.fromEntries(by.map((grouping) => [grouping, sum[grouping]])),
    accepted,
    failed,
    throttled,
    delivered,
    undelivered,
    late: sum.late,
    withoutReceipt: Math.max(0, accepted - reported),
    rate: shareOf(delivered, reported),
    rateOfAccepted: shareOf(delivered, Math.max(accepted, reported)),
    promptShare: shareOf(sum.submitted2 + sum.submitted5 + sum.submitted10, accepted),
    secondsToSubmit: percentilesOf(sum, "submitted", accepted),
    secondsToReceipt: percentilesOf(sum, "received", reported),
  };
}

function percentilesOf(sum: Arrivals, what: "received" | "submitted", all: number): Percentiles {
  const within = (part: number): number | null => {
    let counted = 0;
    for (const seconds of durations) {
      counted += sum[`${what}${seconds}`];
      if (counted > 0 && counted >= part * all) return seconds;
    }
    return null;
  };
  return { half: within(0.5), most: within(0.95) };
}
