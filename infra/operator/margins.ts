import * as z from "zod/mini";

import { addedMargin, type Margin } from "../../shared/messages/margins.ts";
import { readMargins, readMarginsOfMessages } from "../../shared/messages/read-margins.ts";
import { dayMs, dayOf, now } from "../../shared/platform/clock.ts";
import { partNames } from "../../shared/platform/table/keys.ts";
import { amountOf } from "../../shared/wallet/money.ts";
import { listWallets, readWallet } from "../../shared/wallet/record.ts";
import { command, count, part } from "./command.ts";
import type { Column, Output } from "./output.ts";
import { amountText } from "./price-changes.ts";

const groupings = ["day", "country", "carrier", "organization"] as const;
type Grouping = (typeof groupings)[number];

/** Margins of one organisation on one day. */
interface MarginOfDay extends Margin {
  readonly day: string;
  readonly organization: string;
}

/** What is shown of one day, country, carrier or organisation. */
interface MarginRow extends Omit<Margin, "carrier" | "country"> {
  readonly name: string;
  readonly marginMicros: number;
}

const margins = command({
  name: "margins",
  summary: "Show what messages brought in, what carriers took for them, and what is left",
  details:
    "A message counts for the day (UTC) on which it was accepted, once it is sent; what was refunded brings in nothing. A day " +
    "is computed from its messages an hour after it is over, and exact when all of them have ended: what waits " +
    "for its time is added day by day. Costs are those of the rate card when a message was handed over.",
  examples: ["", "--days 7 --by country --stage prod", "--by organization --csv --stage prod > margins.csv"],
  input: z.object({
    days: part(
      "--days <days>",
      "the last days that are over, 30 where nothing is said",
      z._default(count(400), 30),
    ),
    by: part(
      "--by <what>",
      `${groupings.join(", ")}; day where nothing is said`,
      z._default(z.enum(groupings, `must be one of ${groupings.join(", ")}`), "day"),
    ),
    today: part(
      "--today",
      "also what is not computed yet, by reading the messages of today and yesterday",
      z._default(z.boolean(), false),
    ),
    csv: part("--csv", "as a CSV file", z._default(z.boolean(), false)),
  }),
  run: async ({ days, by, today, csv }, { output }) => {
    const found: MarginOfDay[] = [];
    let open = 0;
    for (const day of daysBefore(days, today)) {
      const isRecent = today && day >= dayAgo(1);
      const counted = new Set<string>();
      for await (const { organizationId, sk, closedAt, margins: ofPart } of readMargins(day)) {
        counted.add(sk);
        if (closedAt === undefined) open += 1;
        found.push(...ofPart.map((margin) => ({ ...margin, day, organization: organizationId })));
      }
      if (isRecent) found.push(...(await uncounted(day, counted, output)));
      output.progress(`${day} read`);
    }
    show(rowsBy(found, by), { by, isCsv: csv, output });
    if (csv) return;
    if (open > 0) output.note(`${open} days of organisations have messages that wait for their time.`);
  },
});

/** The margins of a day's messages that have not been computed yet. */
async function uncounted(day: string, counted: ReadonlySet<string>, output: Output): Promise<MarginOfDay[]> {
  const found: MarginOfDay[] = [];
  let read = 0;
  for await (const organization of listWallets()) {
    for (const name of partNames((await readWallet(organization)).messageParts)) {
      if (counted.has(name === "" ? organization : `${organization}#${name}`)) continue;
      const ofPart = await readMarginsOfMessages(organization, name, day);
      found.push(...ofPart.map((margin) => ({ ...margin, day, organization })));
    }
    read += 1;
    output.progress(`${day}: messages of ${read} organisations read`);
  }
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

function rowsBy(found: readonly MarginOfDay[], by: Grouping): MarginRow[] {
  const sums = new Map<string, MarginOfDay>();
  for (const each of found) {
    const sum = sums.get(each[by]);
    sums.set(each[by], sum === undefined ? each : addedMargin(sum, each));
  }
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

interface Shown {
  readonly by: Grouping;
  readonly isCsv: boolean;
  readonly output: Output;
}

function show(rows: readonly MarginRow[], { by, isCsv, output }: Shown): void {
  const columns = columnsOf(by);
  if (isCsv) {
    output.note(columns.map(({ heading }) => heading.replaceAll(" ", "_")).join(","));
    for (const row of rows) output.result(row, columns.map(({ text }) => text(row)).join(","));
    return;
  }
  output.table(rows, columns);
  const total = (of: (row: MarginRow) => number): number => rows.reduce((sum, row) => sum + of(row), 0);
  const [revenue, cost] = [total((row) => row.revenueMicros), total((row) => row.costMicros)];
  const without = total((row) => row.messagesWithoutCost);
  output.note(
    `In all ${total((row) => row.messages)} messages: revenue ${amountText(revenue)}, cost ${amountText(cost)}, ` +
      `margin ${amountText(revenue - cost)} USD (${shareText(revenue - cost, revenue) || "-"})`,
  );
  if (without > 0) {
    output.note(`What carriers took for ${without} of them is not known, and not in the costs.`);
  }
}

function columnsOf(by: Grouping): Column<MarginRow>[] {
  const number = (heading: string, text: (row: MarginRow) => string): Column<MarginRow> => ({
    heading,
    text,
    isNumber: true,
  });
  return [
    { heading: by, text: ({ name }) => name },
    number("messages", ({ messages }) => String(messages)),
    number("segments", ({ segments }) => String(segments)),
    number("revenue", ({ revenueMicros }) => amountText(revenueMicros)),
    number("cost", ({ costMicros }) => amountText(costMicros)),
    number("margin", ({ marginMicros }) => amountText(marginMicros)),
    number("share", ({ marginMicros, revenueMicros }) => shareText(marginMicros, revenueMicros)),
    number("without cost", ({ messagesWithoutCost }) => String(messagesWithoutCost)),
  ];
}

function shareText(marginMicros: number, revenueMicros: number): string {
  return revenueMicros === 0
    ? ""
    : `${((100 * amountOf(marginMicros)) / amountOf(revenueMicros)).toFixed(1)}%`;
}

export const marginCommands = [margins];
