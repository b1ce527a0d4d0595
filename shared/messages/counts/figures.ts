import * as z from "zod/mini";

import { now } from "../../platform/clock.ts";
import { itemsIn } from "../../platform/table/lists.ts";
import { marginsOfDay, type DayShard } from "../../platform/table/shards.ts";
import { putItem, putOf } from "../../platform/table/write.ts";
import { countryOfNumber } from "../destinations/numbering-plan.ts";
import type { MessageRecord } from "../message/record.ts";
import { added, sumBy } from "./rows.ts";

/*
 * The figures of messages: their states, their revenue and cost, and their usage. Those of a day are computed when its
 * messages are counted, so that no message costs an extra write. A message counts for the day on which it was accepted.
 */

export const Tally = z.object({
  accepted: z._default(z.int(), 0),
  sent: z._default(z.int(), 0),
  failed: z._default(z.int(), 0),
  cancelled: z._default(z.int(), 0),
  /** Messages with a final receipt. */
  delivered: z._default(z.int(), 0),
  undelivered: z._default(z.int(), 0),
  /** The prices of the messages, without those that were or are being returned; see `accepted-of-day.ts`. */
  spentMicros: z._default(z.int(), 0),
  /** The prices that were or are being returned. */
  returnedMicros: z._default(z.int(), 0),
});
export type Tally = z.infer<typeof Tally>;

export const emptyTally: Tally = Tally.parse({});

const natural = z.int().check(z.nonnegative());

/** Sums of messages that were sent to one country by one carrier. */
const Margin = z.object({
  /** As an ISO 3166-1 code, or XK; `none` for numbers without a country and erased numbers. */
  country: z.string(),
  carrier: z.string(),
  messages: natural,
  segments: natural,
  revenueMicros: natural,
  costMicros: natural,
  /** The number of messages whose cost is unknown and missing from `costMicros`. */
  messagesWithoutCost: natural,
  /** The failed messages with an unknown outcome, which the carrier may charge, and what it may charge. Absent from what 0.4.0 counted. */
  unknownMessages: z._default(natural, 0),
  unknownCostMicros: z._default(natural, 0),
});
export type Margin = z.infer<typeof Margin>;
export const Margins = z.array(Margin);

const UsageRow = z.object({
  /** `none` for messages without a country, campaign or key; `other` for the sum of the smallest rows. */
  name: z.string(),
  /** The messages that were paid for and not returned, and their segments and prices. */
  messages: natural,
  segments: natural,
  amountMicros: natural,
  /** The prices of messages that failed or were cancelled. They were debited, and were or are being returned. */
  refundedMicros: natural,
  /** The fees of verifications that were not returned. Absent from what an older release counted. */
  feeMicros: z._default(natural, 0),
});
export type UsageRow = z.infer<typeof UsageRow>;

/** The messages of an organization and their prices, by the names of each grouping. */
export const Usage = z.object({
  country: z.array(UsageRow),
  campaign: z.array(UsageRow),
  key: z.array(UsageRow),
  /** Absent from what an older release counted. */
  sender: z.optional(z.array(UsageRow)),
});
export type Usage = z.infer<typeof Usage>;

export const noUsage: Usage = { country: [], campaign: [], key: [], sender: [] };

/** The fields of the figures of a day. An organization has one record of each kind for each of its shards. */
const ofDay = {
  sk: z.string(),
  organizationId: z.string(),
  countedAt: z.string(),
  /** When all messages of the day had ended, so that the record is final. */
  closedAt: z.optional(z.string()),
};

export const MarginsRecord = z.object({ entity: z.literal("margins"), ...ofDay, margins: Margins });
export type MarginsRecord = z.infer<typeof MarginsRecord>;

export const UsageRecord = z.object({ entity: z.literal("usage"), ...ofDay, usage: Usage });
export type UsageRecord = z.infer<typeof UsageRecord>;

/** All figures of some messages. */
export interface Figures {
  readonly tally: Tally;
  readonly margins: Margin[];
  readonly usage: Usage;
  /** The messages with a fee that may still return. */
  readonly openFees: number;
}

export const noFigures: Figures = { tally: emptyTally, margins: [], usage: noUsage, openFees: 0 };

/** Calculates the figures of messages. */
export function figuresOf(messages: readonly MessageRecord[]): Figures {
  const openFees = messages.filter(({ fee }) => fee === "open").length;
  return { tally: tallyOf(messages), margins: marginsOf(messages), usage: usageOf(messages), openFees };
}

/** Adds the figures of other messages. */
export function addFigures(one: Figures, other: Figures): Figures {
  return {
    tally: added(one.tally, other.tally),
    margins: sumOfMargins([...one.margins, ...other.margins]),
    usage: addUsage(one.usage, other.usage),
    openFees: one.openFees + other.openFees,
  };
}

/**
 * Records the margins and the usage of a day.
 * @param isFinal whether all its messages have ended. A final record is not overwritten, because every later count has the
 *   same messages in the same states
 */
export async function writeFigures(
  { organizationId, ...keys }: Pick<DayShard, "margins" | "organizationId" | "usage">,
  { margins, usage }: Pick<Figures, "margins" | "usage">,
  isFinal: boolean,
): Promise<void> {
  const countedAt = now().toISOString();
  const record = { organizationId, countedAt, ...(isFinal ? { closedAt: countedAt } : {}) };
  const isOpen = { absent: ["closedAt"] } as const;
  await putItem(putOf(keys.margins, { entity: "margins", ...record, margins }, isOpen));
  await putItem(putOf(keys.usage, { entity: "usage", ...record, usage }, isOpen));
}

/** Reads the revenue and cost of all organizations' messages of a day, if they have been counted. */
export function readMargins(day: string): AsyncGenerator<MarginsRecord> {
  return itemsIn(MarginsRecord, { pk: marginsOfDay(day), consistent: true });
}

/** Counts the statuses and prices of messages. */
export function tallyOf(messages: readonly MessageRecord[]): Tally {
  const tally = { ...emptyTally };
  for (const { status, refund, totalMicros, deliveryStatus } of messages) {
    tally.accepted += 1;
    if (deliveryStatus === "delivered" || deliveryStatus === "undelivered") tally[deliveryStatus] += 1;
    if (status !== "queued") tally[status] += 1;
    if (refund === undefined) tally.spentMicros += totalMicros;
    else tally.returnedMicros += totalMicros;
  }
  return tally;
}

/** Returns the revenue and cost of the sent messages among those given, and the possible cost of those with an unknown outcome. */
export function marginsOf(messages: readonly MessageRecord[]): Margin[] {
  return sumOfMargins(
    messages.flatMap(({ to, carrier = "unknown", status, errorCode, ...message }) => {
      const destination = { country: countryOfNumber(to) ?? "none", carrier };
      const { segments, totalMicros, costMicros } = message;
      if (status === "sent")
        return {
          ...noMessages,
          ...destination,
          messages: 1,
          segments,
          revenueMicros: totalMicros,
          costMicros: costMicros ?? 0,
          messagesWithoutCost: costMicros === undefined ? 1 : 0,
        };
      if (errorCode !== "MESSAGE_OUTCOME_UNKNOWN") return [];
      return { ...noMessages, ...destination, unknownMessages: 1, unknownCostMicros: costMicros ?? 0 };
    }),
  );
}

/** The sums of no messages. */
export const noMessages = {
  messages: 0,
  segments: 0,
  revenueMicros: 0,
  costMicros: 0,
  messagesWithoutCost: 0,
  unknownMessages: 0,
  unknownCostMicros: 0,
};

/** Adds up margins into one for each country and carrier. */
export function sumOfMargins(margins: readonly Margin[]): Margin[] {
  return sumBy(margins, nameOfMargin);
}

export function nameOfMargin({ country, carrier }: Margin): string {
  return `${country} ${carrier}`;
}

const usageNames: { readonly [By in keyof Usage]-?: (message: MessageRecord) => string | undefined } = {
  country: ({ to }) => countryOfNumber(to),
  campaign: ({ campaignId }) => campaignId,
  key: ({ apiKeyId }) => apiKeyId,
  sender: ({ senderId }) => senderId,
};

function usageOf(messages: readonly MessageRecord[]): Usage {
  return usageBy((by) => messages.map((message) => usageRow(usageNames[by](message) ?? "none", message)));
}

function usageRow(name: string, message: MessageRecord): UsageRow {
  const { segments, totalMicros, refund, fee } = message;
  const feeMicros = fee === "returned" ? 0 : (message.feeMicros ?? 0);
  return refund === undefined
    ? { name, messages: 1, segments, amountMicros: totalMicros, refundedMicros: 0, feeMicros }
    : { name, messages: 0, segments: 0, amountMicros: 0, refundedMicros: totalMicros, feeMicros };
}

/** Adds up the usages of different messages. */
export function addUsage(one: Usage, other: Usage): Usage {
  const { sender, ...sums } = usageBy((by) => [...(one[by] ?? []), ...(other[by] ?? [])]);
  return one.sender === undefined || other.sender === undefined ? sums : { ...sums, sender };
}

function usageBy(rowsBy: (by: keyof Usage) => readonly UsageRow[]): Required<Usage> {
  return {
    country: sumOfRows(rowsBy("country")),
    campaign: sumOfRows(rowsBy("campaign")),
    key: sumOfRows(rowsBy("key")),
    sender: sumOfRows(rowsBy("sender")),
  };
}

/** The most rows of campaigns, keys and senders. There are fewer countries than that, and `none`. */
const maxRows = 300;

const other = "other";

/** Adds up rows into one for each name, the largest first. If there are too many, the last row has the sum of the smallest. */
export function sumOfRows(rows: readonly UsageRow[]): UsageRow[] {
  const sums = sumBy(rows, ({ name }) => name).toSorted(
    (one, two) => Number(one.name === other) - Number(two.name === other) || sizeOf(two) - sizeOf(one),
  );
  return sums.length <= maxRows
    ? sums
    : [...sums.slice(0, maxRows - 1), sumAs(other, sums.slice(maxRows - 1))];
}

/** Returns the sum of rows under one name. */
export function sumAs(name: string, rows: readonly UsageRow[]): UsageRow {
  const none: UsageRow = {
    name,
    messages: 0,
    segments: 0,
    amountMicros: 0,
    refundedMicros: 0,
    feeMicros: 0,
  };
  return rows.reduce((sum, row) => added(sum, row), none);
}

function sizeOf({ amountMicros, refundedMicros, feeMicros }: UsageRow): number {
  return amountMicros + refundedMicros + feeMicros;
}
