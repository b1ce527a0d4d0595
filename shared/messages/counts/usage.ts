import * as z from "zod/mini";

import { now } from "../../platform/clock.ts";
import type { DayShard } from "../../platform/table/shards.ts";
import { putItem, putOf } from "../../platform/table/write.ts";
import { countryOfNumber } from "../destinations/numbering-plan.ts";
import type { MessageRecord } from "../message/record.ts";

/*
 * The usage of an organization in a day: its messages and their prices, by country, campaign and API key. It is computed when
 * the day's messages are counted, so that no message costs an extra write. A message counts for the day on which it was
 * accepted.
 */

const UsageRow = z.object({
  /** `none` for messages without a country, campaign or key; `other` for the sum of the smallest rows. */
  name: z.string(),
  /** The messages that were paid for and not returned, and their segments and prices. */
  messages: z.int().check(z.nonnegative()),
  segments: z.int().check(z.nonnegative()),
  amountMicros: z.int().check(z.nonnegative()),
  /** The prices of messages that failed or were cancelled. They were debited, and were or are being returned. */
  refundedMicros: z.int().check(z.nonnegative()),
});
export type UsageRow = z.infer<typeof UsageRow>;

export const Usage = z.object({
  country: z.array(UsageRow),
  campaign: z.array(UsageRow),
  key: z.array(UsageRow),
});
export type Usage = z.infer<typeof Usage>;

export const noUsage: Usage = { country: [], campaign: [], key: [] };

/** The usage of a day. An organization has one for each of its shards. */
export const UsageRecord = z.object({
  entity: z.literal("usage"),
  sk: z.string(),
  organizationId: z.string(),
  countedAt: z.string(),
  /** When all messages of the day had ended, so that the record is final. */
  closedAt: z.optional(z.string()),
  usage: Usage,
});
export type UsageRecord = z.infer<typeof UsageRecord>;

/** The most rows of campaigns and of keys. There are fewer countries than that, and `none`. */
const maxRows = 300;

const other = "other";

/** Calculates the usage of messages. */
export function usageOf(messages: readonly MessageRecord[]): Usage {
  const by = (nameOf: (message: MessageRecord) => string | undefined): UsageRow[] =>
    sumOfRows(messages.map((message) => rowOf(nameOf(message) ?? "none", message)));
  return {
    country: by(({ to }) => countryOfNumber(to)),
    campaign: by(({ campaignId }) => campaignId),
    key: by(({ apiKeyId }) => apiKeyId),
  };
}

function rowOf(name: string, { segments, totalMicros, refund }: MessageRecord): UsageRow {
  return refund === undefined
    ? { name, messages: 1, segments, amountMicros: totalMicros, refundedMicros: 0 }
    : { name, messages: 0, segments: 0, amountMicros: 0, refundedMicros: totalMicros };
}

/** Adds up usages. */
export function sumOfUsage(one: Usage, two: Usage): Usage {
  return {
    country: sumOfRows([...one.country, ...two.country]),
    campaign: sumOfRows([...one.campaign, ...two.campaign]),
    key: sumOfRows([...one.key, ...two.key]),
  };
}

/** Adds up rows into one for each name, the largest first. If there are too many, the last row has the sum of the smallest. */
export function sumOfRows(rows: readonly UsageRow[], limit = maxRows): UsageRow[] {
  const sums = [...Map.groupBy(rows, ({ name }) => name)]
    .map(([name, each]) => sumAs(name, each))
    .toSorted(
      (one, two) => Number(one.name === other) - Number(two.name === other) || sizeOf(two) - sizeOf(one),
    );
  return sums.length <= limit ? sums : [...sums.slice(0, limit - 1), sumAs(other, sums.slice(limit - 1))];
}

/** Returns the sum of rows under one name. */
export function sumAs(name: string, rows: readonly UsageRow[]): UsageRow {
  const sum = { name, messages: 0, segments: 0, amountMicros: 0, refundedMicros: 0 };
  for (const { messages, segments, amountMicros, refundedMicros } of rows) {
    sum.messages += messages;
    sum.segments += segments;
    sum.amountMicros += amountMicros;
    sum.refundedMicros += refundedMicros;
  }
  return sum;
}

function sizeOf({ amountMicros, refundedMicros }: UsageRow): number {
  return amountMicros + refundedMicros;
}

/**
 * Records the usage of a day.
 * @param isFinal whether all its messages have ended. A final record is not overwritten, because every later count has the
 *   same messages in the same states
 */
export async function writeUsage(
  { organizationId, usage: key }: Pick<DayShard, "organizationId" | "usage">,
  usage: Usage,
  isFinal: boolean,
): Promise<void> {
  const countedAt = now().toISOString();
  const record = { entity: "usage" as const, organizationId, countedAt, usage };
  const closed = isFinal ? { closedAt: countedAt } : {};
  await putItem(putOf(key, { ...record, ...closed }, { absent: ["closedAt"] }));
}
