import { RateCard, type PriceRow } from "../../shared/money/prices/rate-card.ts";
import { findCurrentVersion, readRateCard } from "../../shared/money/prices/record.ts";
import { amountOf } from "../../shared/money/wallet/money.ts";
import type { Output } from "./output.ts";

/** The operator's options for a change of prices. */
export interface Decision {
  readonly isDryRun?: boolean;
  readonly allowLoss: boolean;
}

/** The current rate card, which is empty and without a version if no prices have been imported. */
export async function readCurrent() {
  const version = await findCurrentVersion();
  return { version, card: version === undefined ? new RateCard("") : await readRateCard(version) };
}

/** The difference between two sets of prices. */
export interface PriceChanges {
  readonly added: readonly PriceRow[];
  readonly removed: readonly PriceRow[];
  readonly changed: readonly { readonly before: PriceRow; readonly after: PriceRow }[];
  readonly unchanged: number;
}

/** Compares rows with those that they replace, by prefix and time. */
export function priceChanges(before: readonly PriceRow[], after: readonly PriceRow[]): PriceChanges {
  const left = new Map(before.map((row) => [nameOf(row), row]));
  const added: PriceRow[] = [];
  const changed: { before: PriceRow; after: PriceRow }[] = [];
  for (const row of after) {
    const old = left.get(nameOf(row));
    left.delete(nameOf(row));
    if (old === undefined) added.push(row);
    else if (contentOf(old) !== contentOf(row)) changed.push({ before: old, after: row });
  }
  const removed = [...left.values()];
  return { added, removed, changed, unchanged: after.length - added.length - changed.length };
}

function nameOf({ prefix, validFrom = "" }: PriceRow): string {
  return `${prefix} ${validFrom}`;
}

function contentOf({ country = "", priceMicros, costMicros }: PriceRow): string {
  const costs = sortedCosts(costMicros);
  return JSON.stringify([country, priceMicros, costs]);
}

/** Costs in the order of their carriers, which a file can list in any order. */
function sortedCosts(costMicros: PriceRow["costMicros"]): [string, number][] {
  return Object.entries(costMicros).toSorted(([one], [other]) => (one < other ? -1 : 1));
}

const shownOfEach = 10;

function countsOf({ added, removed, changed, unchanged }: PriceChanges): Record<string, number> {
  return { added: added.length, removed: removed.length, changed: changed.length, unchanged };
}

/** Compares rows with those that they replace, and shows the changes. @returns the number of each kind */
export function showChanges(
  before: readonly PriceRow[],
  after: readonly PriceRow[],
  output: Output,
): Record<string, number> {
  const changes = priceChanges(before, after);
  const counts = countsOf(changes);
  output.result({ changes: counts }, textOfChanges(changes));
  return counts;
}

/** Describes the changes: the number of each kind, and the first of them. */
export function textOfChanges(changes: PriceChanges): string {
  const { added, removed, changed } = changes;
  const counts = Object.entries(countsOf(changes)).map(([kind, count]) => `${count} ${kind}`);
  return [
    counts.join(", "),
    ...linesOf(added, (row) => `+ ${rowText(row)}`),
    ...linesOf(removed, (row) => `- ${rowText(row)}`),
    ...linesOf(changed, (each) => `~ ${rowText(each.before)}  ->  ${contentText(each.after)}`),
  ].join("\n");
}

function linesOf<Row>(rows: readonly Row[], text: (row: Row) => string): string[] {
  const lines = rows.slice(0, shownOfEach).map((row) => `  ${text(row)}`);
  return rows.length > shownOfEach ? [...lines, `  and ${rows.length - shownOfEach} more`] : lines;
}

function rowText(row: PriceRow): string {
  const { prefix, validFrom } = row;
  return `${prefix}${validFrom === undefined ? "" : ` from ${validFrom}`}: ${contentText(row)}`;
}

function contentText({ country, priceMicros, costMicros }: PriceRow): string {
  const costs = sortedCosts(costMicros).map(([carrier, micros]) => `${carrier} ${amountText(micros)}`);
  return [country ?? "no country", amountText(priceMicros), ...costs].join(", ");
}

/** An amount as in a price file. */
export function amountText(micros: number): string {
  return amountOf(micros)
    .toFixed(6)
    .replace(/\.?0+$/, "");
}
