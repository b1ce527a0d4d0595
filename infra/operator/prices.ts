import * as z from "zod/mini";

import { readCarriers, type RoutingTable } from "../../shared/carriers/record.ts";
import { rowsOfPrefix } from "../../shared/money/prices/list.ts";
import { findPriceOverrides } from "../../shared/money/prices/overrides.ts";
import { publishRateCard, restoreRateCard } from "../../shared/money/prices/publish.ts";
import {
  carriersWithCosts,
  documentOf,
  RateCard,
  verificationFee,
  type PriceRow,
} from "../../shared/money/prices/rate-card.ts";
import {
  findRateCard,
  listRateCards,
  readRateCard,
  findCurrentVersion,
  type RateCardRecord,
} from "../../shared/money/prices/record.ts";
import { now } from "../../shared/platform/clock.ts";
import { command, count, flag, limit, OrganizationOption, part, RequiredText } from "./command.ts";
import type { Context } from "./context.ts";
import { AllowLoss, guardAgainstLoss, marketOf } from "./loss-guard.ts";
import { readOrganization } from "./organization.ts";
import { right, type Columns, type Output } from "./output.ts";
import { amountText, readCurrent, showChanges, type Decision } from "./price-changes.ts";
import { scheduleRiseNotices, warnOfSuddenRises } from "./price-notices.ts";
import { importOverrides } from "./price-overrides.ts";
import { readRates } from "./rates-file.ts";

/** Columns of costs that need no `carriers set`: the carriers of stages, and the fee of a verification. */
export const stageCarriers: ReadonlySet<string> = new Set(["aws", "sandbox", verificationFee]);

const importPrices = command({
  name: "prices import",
  summary: "Replace all prices with those of a CSV file",
  details:
    "Columns: prefix, country, price, valid_from, verification_fee, and cost:CARRIER for each carrier with known costs. " +
    "Amounts are for a segment, and the fee for an approved verification, in the stage's currency (see " +
    "shared/money/prices/README.md). The command first checks all lines and shows the " +
    "changes. A price below the cost of a carrier of its route is rejected. The new prices apply within a minute.",
  examples: [
    "rates.csv --dry-run",
    "rates.csv --stage prod",
    "acme.csv --organization ada@example.com --stage prod",
  ],
  asksFirst: true,
  input: z.object({
    file: part("<file>", "CSV file in UTF-8, with commas", RequiredText),
    dryRun: flag("--dry-run", "check the file and show the changes, without applying them"),
    allowLoss: AllowLoss,
    organization: OrganizationOption,
  }),
  run: async ({ file, dryRun, allowLoss, organization }, context) => {
    const decision = { isDryRun: dryRun, allowLoss };
    if (organization === undefined) await importCard(file, decision, context);
    else await importOverrides(await readOrganization(organization), file, decision, context);
  },
});

async function importCard(
  file: string,
  { isDryRun = false, allowLoss }: Decision,
  context: Context,
): Promise<void> {
  const { output, confirm, changed } = context;
  const options = { required: ["prefix", "country", "price"], hasCosts: true } as const;
  const rows = await readRates(file, options, output);
  if (rows === undefined) return;
  const { version: seen, card } = await readCurrent();
  const book = await readCarriers();
  warnOf(rows, book, output);
  const counts = showChanges(card.rows(), rows, output);
  const imported = new RateCard(documentOf(rows));
  await guardCard(imported, { allowLoss, before: card, book }, context);
  warnOfSuddenRises({ card }, { card: imported }, context);
  if (isDryRun) return output.note("Nothing was changed.");
  await confirm(`replace ${versionText(seen)} with these ${rows.length} prices`, {
    before: { version: seen ?? "none" },
  });
  const version = await publishRateCard(rows, seen);
  changed({ version, ...counts });
  await scheduleRiseNotices(imported, undefined, context);
  output.result({ version, ...counts }, `version ${version} of the prices applies within a minute`);
}

/** Warns of costs of unknown carriers, and of prefixes without a present price. */
function warnOf(rows: readonly PriceRow[], book: RoutingTable, output: Output): void {
  const names = carriersWithCosts(rows);
  const unknown = names.filter((name) => !book.carriers.has(name) && !stageCarriers.has(name));
  if (unknown.length > 0)
    output.aside(`Warning: the file has costs of unknown carriers: ${unknown.join(", ")}`);
  const time = now().toISOString();
  const present = rows.filter(({ validFrom = "" }) => validFrom <= time);
  const priced = new Set(present.map(({ prefix }) => prefix));
  const waiting = [...new Set(rows.map(({ prefix }) => prefix))].filter((prefix) => !priced.has(prefix));
  if (waiting.length === 0) return;
  output.aside(
    `Warning: ${waiting.length} prefixes have only prices that are not yet valid: ${waiting.slice(0, 10).join(", ")}`,
  );
}

/** Compares a rate card with carriers' costs, and price overrides with the card's costs. */
export async function guardCard(
  card: RateCard,
  { allowLoss, before, book }: Decision & { readonly before: RateCard; readonly book: RoutingTable },
  context: Context,
): Promise<void> {
  const beforeForOverrides = marketOf(before, book, context);
  const market = marketOf(card, book, context);
  await guardAgainstLoss({ market, prefixes: card.prefixes(), beforeForOverrides, allowLoss }, context);
}

const list = command({
  name: "prices list",
  summary: "List the current prices and carriers' costs",
  details: "The output of --csv can be edited and imported again.",
  examples: ["--prefix 4477", "--csv --stage prod > rates.csv", "--organization ada@example.com"],
  input: z.object({
    prefix: part(
      "--prefix <digits>",
      "only prices that apply to a number or prefix",
      z.optional(z.string().check(z.regex(/^\d{1,15}$/, "must be 1 to 15 digits"))),
    ),
    limit: limit(50, 200_000, "rows"),
    csv: flag("--csv", "print all rows as a CSV file"),
    organization: OrganizationOption,
  }),
  run: async ({ prefix, limit: wanted, csv, organization }, { output }) => {
    const { rows, of } = await pricesToShow(organization);
    const found = prefix === undefined ? rows : rowsOfPrefix(rows, prefix);
    if (csv) return output.csv(found, columnsOf(found));
    output.table(found.slice(0, wanted), columnsOf(found));
    output.note(`${found.length} rows${found.length > wanted ? ` (${wanted} shown)` : ""}, ${of}`);
  },
});

interface Shown {
  readonly rows: readonly PriceRow[];
  readonly of: string;
}

async function pricesToShow(organization: string | undefined): Promise<Shown> {
  if (organization === undefined) {
    const { version, card } = await readCurrent();
    return { rows: card.rows(), of: versionText(version) };
  }
  const found = await readOrganization(organization);
  const rows = (await findPriceOverrides(found))?.rows() ?? [];
  return { rows, of: `overrides of ${found.name} (${found.id})` };
}

function columnsOf(rows: readonly PriceRow[]): Columns<PriceRow> {
  const costs = carriersWithCosts(rows).map((carrier) => {
    const cost = ({ costMicros: { [carrier]: micros } }: PriceRow) =>
      micros === undefined ? "" : right(amountText(micros));
    return [carrier === verificationFee ? "VERIFICATION FEE" : `COST:${carrier}`, cost] as const;
  });
  return {
    PREFIX: "prefix",
    COUNTRY: "country",
    PRICE: ({ priceMicros }) => right(amountText(priceMicros)),
    "VALID FROM": "validFrom",
    ...Object.fromEntries(costs),
  };
}

const listVersions = command({
  name: "prices list-versions",
  summary: "List the versions of the prices, newest first",
  details: "The stage's audit log has the operators who imported and restored them.",
  examples: ["--stage prod"],
  input: z.object({ limit: limit(20, 1_000, "versions") }),
  run: async ({ limit: wanted }, { output }) => {
    const [current, cards] = await Promise.all([findCurrentVersion(), listRateCards(wanted)]);
    const rows = cards.map(({ version, importedAt, rows: rowCount, carriers, completedAt }) => ({
      version,
      importedAt,
      rows: rowCount,
      carriers,
      state: stateOf({ version, completedAt }, current),
    }));
    output.table(rows, {
      VERSION: "version",
      IMPORTED: "importedAt",
      ROWS: "rows",
      "COSTS OF": ({ carriers }) => carriers.join(", "),
      STATE: "state",
    });
    if (rows.length === 0) output.note("No prices have been imported.");
  },
});

function stateOf(
  { version, completedAt }: Pick<RateCardRecord, "completedAt" | "version">,
  current: number | undefined,
): string {
  if (version === current) return "current";
  return completedAt === undefined ? "incomplete" : "available";
}

const restore = command({
  name: "prices restore",
  summary: "Restore an earlier version of the prices",
  examples: ["7 --stage prod"],
  asksFirst: true,
  input: z.object({
    version: part("<version>", "version, as shown by prices list-versions", count(999_999_999)),
    allowLoss: AllowLoss,
  }),
  run: async ({ version, allowLoss }, context) => {
    const { output, confirm, changed } = context;
    const found = await findRateCard(version);
    if (found?.completedAt === undefined) throw new Error(`There is no version ${version} of the prices.`);
    const { version: seen, card } = await readCurrent();
    const restored = await readRateCard(version);
    showChanges(card.rows(), restored.rows(), output);
    await guardCard(restored, { allowLoss, before: card, book: await readCarriers() }, context);
    warnOfSuddenRises({ card }, { card: restored }, context);
    await confirm(`replace ${versionText(seen)} with version ${version}`, {
      before: { version: seen ?? "none" },
    });
    await restoreRateCard(version, seen);
    changed({ version });
    await scheduleRiseNotices(restored, undefined, context);
    output.result({ version }, `version ${version} of the prices applies within a minute`);
  },
});

export function versionText(version: number | undefined): string {
  return version === undefined ? "the sample prices, or none" : `version ${version} of the prices`;
}

export const priceCommands = [importPrices, list, listVersions, restore];
