import * as z from "zod/mini";

import { readMargins, type Margin } from "../../shared/messages/counts/figures.ts";
import { readMarginsOfMessages } from "../../shared/messages/counts/recount.ts";
import { addTo } from "../../shared/messages/counts/rows.ts";
import { amountOf } from "../../shared/money/wallet/money.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { dayMs, dayOf, now } from "../../shared/platform/clock.ts";
import { config } from "../../shared/platform/config.ts";
import { shardsOfDay } from "../../shared/platform/table/shards.ts";
import { command, count, flag, part } from "./command.ts";
import { hasSentSince, maxReadUnits } from "./messages-find.ts";
import { searchOrganizations } from "./organization.ts";
import { right, type Columns, type Output } from "./output.ts";
import { amountText } from "./price-changes.ts";
import { countingReadUnits } from "./read-units.ts";

const groupings = ["day", "country", "carrier", "organization"] as const;
type Grouping = (typeof groupings)[number];

/** Margins of one organization on one day. */
type MarginOfDay = Margin & { readonly day: string; readonly organization: string };

/** The margin of one day, country, carrier or organization. */
interface MarginRow extends Omit<Margin, "carrier" | "country"> {
  readonly name: string;
  readonly marginMicros: number;
}

const margins = command({
  name: "margins",
  summary: "Show the revenue, carrier cost and margin of sent messages",
  details:
    "A sent message counts for the day (UTC) on which it was accepted. Refunded messages have no revenue. A day is calculated " +
    "one hour after its end; scheduled messages are added later. Costs are those of the rate card at the time of submission. " +
    "The end states the read units. With --today it stops to read messages after 5 million of them.",
  examples: ["", "--days 7 --by country --stage prod", "--by organization --csv --stage prod > margins.csv"],
  input: z.object({
    days: part("--days <days>", "number of past days; default: 30", z._default(count(400), 30)),
    by: part(
      "--by <group>",
      `${groupings.join(", ")}; default: day`,
      z._default(z.enum(groupings, `must be one of ${groupings.join(", ")}`), "day"),
    ),
    today: flag("--today", "include today, and yesterday if it is not calculated yet, from their messages"),
    csv: flag("--csv", "print a CSV file"),
  }),
  run: async ({ days, by, today, csv }, { output }) => {
    // All margins of a month would not fit into the memory with 100,000 organizations.
    const sums = new Map<string, MarginOfDay>();
    let open = 0;
    const add = (margin: MarginOfDay): void => addTo(sums, margin[by], margin);
    const units = await countingReadUnits(async (readUnits) => {
      for (const day of daysBefore(days, today)) {
        const isRecent = today && day >= dayAgo(1);
        const counted = new Set<string>();
        for await (const { organizationId, sk, closedAt, margins: ofDay } of readMargins(day)) {
          counted.add(sk);
          if (closedAt === undefined) open += 1;
          for (const margin of ofDay) add({ ...margin, day, organization: organizationId });
        }
        if (isRecent) for (const margin of await uncounted(day, { counted, readUnits, output })) add(margin);
        output.progress(`${day} read`);
      }
      return readUnits();
    });
    const rows = rowsOf(sums, by);
    if (csv) return output.csv(rows, columnsOf(by));
    output.table(rows, columnsOf(by));
    showTotals(rows, output);
    if (!today) output.note("The messages of today are not included: --today reads them.");
    output.note(`${units} read units`);
    if (open > 0) output.note(`Not final: ${open} days of organizations have scheduled messages.`);
  },
});

interface Uncounted {
  /** The parts of organizations that have been calculated. */
  readonly counted: ReadonlySet<string>;
  readonly readUnits: () => number;
  readonly output: Output;
}

/** The margins of a day's messages that have not been calculated yet. */
async function uncounted(
  day: string,
  { counted, readUnits, output }: Uncounted,
): Promise<readonly MarginOfDay[]> {
  const search = async (organization: string): Promise<MarginOfDay[]> => {
    const wallet = await readWallet(organization);
    if (!hasSentSince(wallet, new Date(day))) return [];
    const shards = shardsOfDay(wallet, day).filter(({ margins: { sk } }) => !counted.has(sk));
    const found = await Promise.all(shards.map(readMarginsOfMessages));
    return found.flat().map((margin) => ({ ...margin, day, organization }));
  };
  const isEnough = (): boolean => readUnits() >= maxReadUnits;
  const { found, searched, isWhole } = await searchOrganizations(search, output, {
    isEnough,
    most: Infinity,
  });
  if (!isWhole)
    output.aside(`Warning: only the messages of the first ${searched} organizations were read for ${day}.`);
  return found;
}

function dayAgo(days: number): string {
  return dayOf(new Date(now().getTime() - days * dayMs).toISOString());
}

/** Oldest first. */
function daysBefore(howMany: number, withToday: boolean): string[] {
  const days = Array.from({ length: howMany }, (_, index) => dayAgo(howMany - index));
  return withToday ? [...days, dayAgo(0)] : days;
}

function rowsOf(sums: ReadonlyMap<string, MarginOfDay>, by: Grouping): MarginRow[] {
  const rows = [...sums].map(
    ([name, { messages, segments, revenueMicros, costMicros, messagesWithoutCost }]) => ({
      name,
      messages,
      segments,
      revenueMicros,
      costMicros,
      marginMicros: revenueMicros - costMicros,
      messagesWithoutCost,
    }),
  );
  if (by === "day") return rows.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return rows.toSorted((one, other) => other.revenueMicros - one.revenueMicros);
}

function showTotals(rows: readonly MarginRow[], output: Output): void {
  const total = (of: (row: MarginRow) => number): number => rows.reduce((sum, row) => sum + of(row), 0);
  const [revenue, cost] = [total((row) => row.revenueMicros), total((row) => row.costMicros)];
  const without = total((row) => row.messagesWithoutCost);
  output.note(
    `Total of ${total((row) => row.messages)} messages: revenue ${amountText(revenue)}, cost ${amountText(cost)}, ` +
      `margin ${amountText(revenue - cost)} ${config.currency()} (${shareText(revenue - cost, revenue) || "-"})`,
  );
  if (without > 0) output.note(`The costs of ${without} messages are unknown and not included.`);
}

function columnsOf(by: Grouping): Columns<MarginRow> {
  return {
    [by.toUpperCase()]: "name",
    MESSAGES: "messages",
    SEGMENTS: "segments",
    REVENUE: ({ revenueMicros }) => right(amountText(revenueMicros)),
    COST: ({ costMicros }) => right(amountText(costMicros)),
    MARGIN: ({ marginMicros }) => right(amountText(marginMicros)),
    SHARE: ({ marginMicros, revenueMicros }) => right(shareText(marginMicros, revenueMicros)),
    "WITHOUT COST": "messagesWithoutCost",
  };
}

function shareText(marginMicros: number, revenueMicros: number): string {
  return revenueMicros === 0
    ? ""
    : `${((100 * amountOf(marginMicros)) / amountOf(revenueMicros)).toFixed(1)}%`;
}

export const marginCommands = [margins];
