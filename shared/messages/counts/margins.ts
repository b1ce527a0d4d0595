import * as z from "zod/mini";

import { now } from "../../platform/clock.ts";
import type { DayShard } from "../../platform/table/shards.ts";
import { putItem, putOf } from "../../platform/table/write.ts";
import { countryOfNumber } from "../destinations/numbering-plan.ts";
import type { MessageRecord } from "../message/record.ts";

/*
 * The revenue and cost of a day's messages, by country and carrier. They are computed when the day's messages are counted,
 * so that no message costs an extra write. A message counts for the day on which it was accepted, once it is sent.
 */

/** Sums of messages that were sent to one country by one carrier. */
const Margin = z.object({
  /** As an ISO 3166-1 code, or XK; `none` for numbers without a country and erased numbers. */
  country: z.string(),
  carrier: z.string(),
  messages: z.int().check(z.nonnegative()),
  segments: z.int().check(z.nonnegative()),
  revenueMicros: z.int().check(z.nonnegative()),
  costMicros: z.int().check(z.nonnegative()),
  /** The number of messages whose cost is unknown and missing from `costMicros`. */
  messagesWithoutCost: z.int().check(z.nonnegative()),
});
export type Margin = z.infer<typeof Margin>;
export const Margins = z.array(Margin);

/** The revenue and cost of a day of an organization. An organization may have several for one day. */
export const MarginsRecord = z.object({
  entity: z.literal("margins"),
  sk: z.string(),
  organizationId: z.string(),
  countedAt: z.string(),
  /** When all messages of the day had ended, so that the record is final. */
  closedAt: z.optional(z.string()),
  margins: Margins,
});
export type MarginsRecord = z.infer<typeof MarginsRecord>;

/** Returns the revenue and cost of the sent messages among those given. */
export function marginsOf(messages: readonly MessageRecord[]): Margin[] {
  return sumOfMargins(
    messages
      .filter(({ status }) => status === "sent")
      .map(({ to, carrier = "unknown", segments, totalMicros, costMicros }) => ({
        country: countryOfNumber(to) ?? "none",
        carrier,
        messages: 1,
        segments,
        revenueMicros: totalMicros,
        costMicros: costMicros ?? 0,
        messagesWithoutCost: costMicros === undefined ? 1 : 0,
      })),
  );
}

/** Adds up margins into one for each country and carrier. */
export function sumOfMargins(margins: readonly Margin[]): Margin[] {
  const sums = new Map<string, Margin>();
  for (const each of margins) {
    const name = `${each.country} ${each.carrier}`;
    const sum = sums.get(name);
    sums.set(name, sum === undefined ? { ...each } : addedMargin(sum, each));
  }
  return [...sums.values()];
}

/** Adds one margin to another. */
export function addedMargin<Sum extends Margin>(sum: Sum, other: Margin): Sum {
  return {
    ...sum,
    messages: sum.messages + other.messages,
    segments: sum.segments + other.segments,
    revenueMicros: sum.revenueMicros + other.revenueMicros,
    costMicros: sum.costMicros + other.costMicros,
    messagesWithoutCost: sum.messagesWithoutCost + other.messagesWithoutCost,
  };
}

/**
 * Records the margins of a day.
 * @param isFinal whether all its messages have ended. A final record is not overwritten, because every later count has the
 *   same messages in the same states
 */
export async function writeMargins(
  { organizationId, margins: key }: Pick<DayShard, "margins" | "organizationId">,
  margins: readonly Margin[],
  isFinal: boolean,
): Promise<void> {
  const countedAt = now().toISOString();
  const record = { entity: "margins", organizationId, countedAt, margins } as const;
  const closed = isFinal ? { closedAt: countedAt } : {};
  await putItem(putOf(key, { ...record, ...closed }, { absent: ["closedAt"] }));
}
