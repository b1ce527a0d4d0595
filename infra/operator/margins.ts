import * as z from "zod/mini";

import { Month } from "../../shared/api/contract/primitives.ts";
import { periodOf } from "../../shared/figures/books/closing.ts";
import { daysFrom } from "../../shared/figures/books/costs.ts";
import { readMargins, type Margin } from "../../shared/messages/counts/figures.ts";
import { readMarginsOfMessages } from "../../shared/messages/counts/recount.ts";
import { addTo } from "../../shared/messages/counts/rows.ts";
import { amountOf } from "../../shared/money/wallet/money.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { dayMs, dayOf, now } from "../../shared/platform/clock.ts";
import { config } from "../../shared/platform/config.ts";
import { RejectedError } from "../../shared/platform/rejected-error.ts";
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

/** The margin of one day, country, carrier or organization, or of a combination of these. */
interface MarginRow extends Omit<Margin, "carrier" | "country"> {
  /** The names of the groups, in their order. */
  readonly name: string;
  readonly marginMicros: number;
  /** The mean cost of a segment; undefined if the costs of some messages are unknown. */
  readonly unitCostMicros: number | undefined;
}

const byRule = `must be one of ${groupings.join(", ")}, or several separated by commas`;
const By = z.pipe(
  z.pipe(
    z.string(byRule),
    z.transform((text) => [...new Set(text.split(","))]),
  ),
  z.array(z.enum(groupings, byRule)),
);

export const showMargins = command({
  name: "margins",
  summary: "Show the revenue, carrier cost and margin of sent messages",
  details:
    "A sent message counts for the day (UTC) on which it was accepted. Refunded messages have no revenue. A day is calculated " +
    "one hour after its end; scheduled messages are added later. Costs are those of the rate card at the time of submission. " +
    "The end states the read units. With --today it stops to read messages after 5 million of them.",
  examples: [
    "",
    "--days 7 --by country --stage prod",
    "--month 2026-11 --by carrier,country --csv --stage prod > margins.csv",
  ],
  input: z.object({
    days: part("--days <days>", "number of past days; default: 30", z._default(count(400), 30)),
    month: part("--month <month>", "a month (UTC) such as 2026-11, in place of --days", z.optional(Month)),
    by: part(
      "--by <groups>",
      `${groupings.join(", ")}, or several of them; default: day`,
      z._default(By, ["day"]),
    ),
    today: flag("--today", "include today, and yesterday if it is not calculated yet, from their messages"),
    csv: flag("--csv", "print a CSV file"),
  }),
  run: async ({ days, month, by, today, csv }, { output }) => {
    if (month !== undefined && today) throw new RejectedError("--month and --today exclude each other.");
    // All margins of a month would not fit into the memory with 100,000 organizations.
    const sums = new Map<string, MarginOfDay>();
    let open = 0;
    const add = (margin: MarginOfDay): void => addTo(sums, by.map((each) => margin[each]).join(" "), margin);
    const wanted = month === undefined ? daysBefore(days, today) : daysOfMonth(month);
    const units = await countingReadUnits(async (readUnits) => {
      for (const day of wanted) {
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
    if (!today && (month === undefined || periodOf(month).end > now().toISOString()))
      output.note("The messages of today are not included: --today reads them.");
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

/** Returns the past days, oldest first. */
export function daysBefore(howMany: number, withToday: boolean): string[] {
  const days = Array.from({ length: howMany }, (_, index) => dayAgo(howMany - index));
  return withToday ? [...days, dayAgo(0)] : days;
}

/** Returns the days of a month until yesterday. */
function daysOfMonth(month: string): string[] {
  const { start, end } = periodOf(month);
  return daysFrom(start, end).filter((day) => day < dayAgo(0));
}

function rowsOf(sums: ReadonlyMap<string, MarginOfDay>, by: readonly Grouping[]): MarginRow[] {
  const rows = [...sums].map(
    ([name, { day: _day, organization: _organization, country: _country, carrier: _carrier, ...sum }]) => ({
      name,
      ...sum,
      marginMicros: sum.revenueMicros - sum.costMicros,
      unitCostMicros:
        sum.messagesWithoutCost > 0 || sum.segments === 0 ? undefined : sum.costMicros / sum.segments,
    }),
  );
  if (by[0] === "day") return rows.toSorted((one, other) => (one.name < other.name ? -1 : 1));
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
  const [unknown, possible] = [total((row) => row.unknownMessages), total((row) => row.unknownCostMicros)];
  if (unknown > 0)
    output.note(
      `The outcome of ${unknown} messages is unknown. Carriers may charge ${amountText(possible)} for them, which is not included.`,
    );
  if (without > 0) output.note(`The costs of ${without} messages are unknown and not included.`);
}

function columnsOf(by: readonly Grouping[]): Columns<MarginRow> {
  const names = by.map(
    (each, index) => [each.toUpperCase(), ({ name }: MarginRow) => name.split(" ")[index]] as const,
  );
  return {
    ...Object.fromEntries(names),
    MESSAGES: "messages",
    SEGMENTS: "segments",
    REVENUE: ({ revenueMicros }) => right(amountText(revenueMicros)),
    COST: ({ costMicros }) => right(amountText(costMicros)),
    MARGIN: ({ marginMicros }) => right(amountText(marginMicros)),
    SHARE: ({ marginMicros, revenueMicros }) => right(shareText(marginMicros, revenueMicros)),
    "WITHOUT COST": "messagesWithoutCost",
    UNKNOWN: "unknownMessages",
    "UNKNOWN COST": ({ unknownCostMicros }) => right(amountText(unknownCostMicros)),
    "UNIT COST": ({ unitCostMicros }) =>
      right(unitCostMicros === undefined ? "" : amountText(unitCostMicros)),
  };
}

function shareText(marginMicros: number, revenueMicros: number): string {
  return revenueMicros === 0
    ? ""
    : `${((100 * amountOf(marginMicros)) / amountOf(revenueMicros)).toFixed(1)}%`;
}
