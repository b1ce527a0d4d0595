import { readFile } from "node:fs/promises";

import * as z from "zod/mini";

import type { OrganizationRecord } from "../../shared/accounts/organization-record.ts";
import { readCarriers, type CarrierBook } from "../../shared/carriers/record.ts";
import { now } from "../../shared/platform/clock.ts";
import { rowsOfPrefix } from "../../shared/prices/list.ts";
import {
  findPriceOverrides,
  maxPriceOverrides,
  replacePriceOverrides,
} from "../../shared/prices/overrides.ts";
import { publishRateCard, restoreRateCard } from "../../shared/prices/publish.ts";
import { carriersWithCosts, documentOf, RateCard, type PriceRow } from "../../shared/prices/rate-card.ts";
import {
  findCurrentVersion,
  findRateCard,
  listRateCards,
  readRateCard,
  type RateCardRecord,
} from "../../shared/prices/record.ts";
import { microsOfText } from "../../shared/wallet/money.ts";
import { command, count, Organization, part, RequiredText } from "./command.ts";
import type { Context } from "./context.ts";
import { AllowLoss, guardAgainstLoss, marketOf } from "./loss-guard.ts";
import { readOrganization } from "./organizations.ts";
import type { Column, Output } from "./output.ts";
import { amountText, priceChanges, textOfChanges, type PriceChanges } from "./price-changes.ts";
import { maxAmountMicros, parseRates, type Problem, type Rates } from "./rates-file.ts";

/** A stage's own carrier is there without having been made. */
const stageCarriers: ReadonlySet<string> = new Set(["aws", "sandbox"]);

const OrganizationOption = part(
  "--organization <organisation>",
  "the prices that an organisation has for itself, by its id or the email of its user",
  z.optional(RequiredText),
  { isPersonal: true },
);

const Prefix = part(
  "<prefix>",
  "what the numbers begin with",
  z.string("is missing").check(z.regex(/^[1-9]\d{0,14}$/, "must be 1 to 15 digits, country code first")),
);

interface CurrentPrices {
  /** Undefined where none have been imported. */
  readonly version: number | undefined;
  readonly card: RateCard;
}

async function readCurrent(): Promise<CurrentPrices> {
  const version = await findCurrentVersion();
  return { version, card: version === undefined ? new RateCard("") : await readRateCard(version) };
}

const importPrices = command({
  name: "prices import",
  summary: "Take the prices of a CSV file in the place of all that there are",
  details:
    "Columns: prefix, country, price, valid_from, and cost:CARRIER for each carrier whose costs are known; amounts are in " +
    "USD for a segment (shared/prices/README.md). Each line is checked before anything happens, and what changes is shown. " +
    "A price below what a carrier of its route takes is refused. The new prices count within a minute.",
  examples: [
    "rates.csv --dry-run",
    "rates.csv --stage prod",
    "acme.csv --organization ada@example.com --stage prod",
  ],
  asksFirst: true,
  input: z.object({
    file: part("<file>", "a CSV file, in UTF-8 and with commas", RequiredText),
    dryRun: part(
      "--dry-run",
      "only check the file and show what would change",
      z._default(z.boolean(), false),
    ),
    allowLoss: AllowLoss,
    organization: OrganizationOption,
  }),
  run: async ({ file, dryRun, allowLoss, organization }, context) => {
    const content = await readFile(file).catch((error: unknown) => {
      throw new Error(`There is no file ${file} that can be read.`, { cause: error });
    });
    const decision = { isDryRun: dryRun, allowLoss };
    if (organization === undefined) await importCard(content, decision, context);
    else await importOverrides(await readOrganization(organization), content, decision, context);
  },
});

/** What an operator has said about a change of prices. */
interface Decision {
  readonly isDryRun?: boolean;
  readonly allowLoss: boolean;
}

async function importCard(
  content: Uint8Array,
  { isDryRun = false, allowLoss }: Decision,
  context: Context,
): Promise<void> {
  const { output, confirm, changed } = context;
  const rates = parseRates(content, { required: ["prefix", "country", "price"], hasCosts: true });
  if (reportErrors(rates, output)) return;
  const { rows } = rates;
  const { version: seen, card } = await readCurrent();
  const book = await readCarriers();
  const unknown = carriersWithCosts(rows).filter(
    (name) => !book.carriers.has(name) && !stageCarriers.has(name),
  );
  if (unknown.length > 0) {
    output.aside(`Warning: there is no carrier ${unknown.join(", ")}, whose costs these may come to be.`);
  }
  const waiting = rowsWithoutPresent(rows);
  if (waiting.length > 0) {
    output.aside(
      `Warning: ${waiting.length} prefixes have no price yet, for their first is of later: ${waiting.slice(0, 10).join(", ")}`,
    );
  }
  const changes = priceChanges(card.rows(), rows);
  showChanges(changes, output);
  await guardCard(new RateCard(documentOf(rows)), { allowLoss, before: card, book }, context);
  if (isDryRun) return output.note("Nothing was changed.");
  const counts = countsOf(changes);
  await confirm(`let these ${rows.length} prices count in the place of ${versionText(seen)}`, {
    before: { version: seen ?? "none" },
  });
  const version = await publishRateCard(rows, seen);
  changed({ version, ...counts });
  output.result({ version, ...counts }, `version ${version} of the prices counts within a minute`);
}

/** Holds a rate card that is to count against what carriers take, and the prices of organizations against its costs. */
async function guardCard(
  card: RateCard,
  { allowLoss, before, book }: Decision & { readonly before: RateCard; readonly book: CarrierBook },
  context: Context,
): Promise<void> {
  const concernsAll = { before: marketOf(before, book, context) };
  const market = marketOf(card, book, context);
  await guardAgainstLoss({ market, prefixes: card.prefixes(), concernsAll, allowLoss }, context);
}

async function importOverrides(
  organization: OrganizationRecord,
  content: Uint8Array,
  decision: Decision,
  context: Context,
): Promise<void> {
  const { output } = context;
  const rates = parseRates(content, { required: ["prefix", "price"], hasCosts: false });
  if (reportErrors(rates, output)) return;
  if (rates.rows.length > maxPriceOverrides) {
    throw new Error(`An organisation has at most ${maxPriceOverrides} prices of its own.`);
  }
  await changeOverrides(organization, () => rates.rows, decision, context);
}

/**
 * Gives an organisation prices of its own in the place of those that it has, once that was agreed to.
 * @param decide says which, of those that it has
 * @param prefixes of those that are held against what carriers take; without them it is all
 */
async function changeOverrides(
  organization: OrganizationRecord,
  decide: (before: readonly PriceRow[]) => readonly PriceRow[],
  { isDryRun = false, allowLoss, prefixes }: Decision & { readonly prefixes?: readonly string[] },
  context: Context,
): Promise<void> {
  const { output, confirm, changed } = context;
  const { id, name } = organization;
  const before = (await findPriceOverrides(organization))?.rows() ?? [];
  const rows = decide(before);
  const changes = priceChanges(before, rows);
  showChanges(changes, output);
  const own = { organizationId: id, prices: new RateCard(documentOf(rows)) };
  const market = marketOf((await readCurrent()).card, await readCarriers(), context);
  await guardAgainstLoss({ market, own, prefixes: prefixes ?? own.prices.prefixes(), allowLoss }, context);
  if (isDryRun) return output.note("Nothing was changed.");
  const counts = countsOf(changes);
  await confirm(`let ${name} (${id}) have ${rows.length} prices for itself`, {
    organizationId: id,
    before: { prices: before.length },
  });
  await replacePriceOverrides(organization, rows);
  changed({ prices: rows.length, ...counts });
  output.result(
    { organizationId: id, prices: rows.length, ...counts },
    `${id} has ${rows.length} prices for itself, from its next message on`,
  );
}

const setOverride = command({
  name: "prices set-override",
  summary: "Give an organisation a price of its own for numbers with a prefix",
  details:
    "It counts from the next message on, also where the rate card has a longer prefix. What else the organisation had for " +
    "the prefix goes. A price below what a carrier of its route takes is refused.",
  examples: ["ada@example.com 44 0.0385 --stage prod"],
  asksFirst: true,
  input: z.object({
    organization: Organization,
    prefix: Prefix,
    price: part(
      "<price>",
      "in USD for a segment, with at most 6 decimals",
      z
        .pipe(
          z.string("is missing"),
          z.transform((text) => microsOfText(text) ?? Number.NaN),
        )
        .check(
          z.refine(
            (micros) => micros <= maxAmountMicros,
            "must be a number up to 1000 with at most 6 decimals",
          ),
        ),
    ),
    allowLoss: AllowLoss,
  }),
  run: async ({ organization, prefix, price, allowLoss }, context) => {
    const own = { prefix, priceMicros: price, costMicros: {} };
    const found = await readOrganization(organization);
    const decide = (before: readonly PriceRow[]): readonly PriceRow[] => [...without(before, prefix), own];
    await changeOverrides(found, decide, { allowLoss, prefixes: [prefix] }, context);
  },
});

const removeOverride = command({
  name: "prices remove-override",
  summary: "Take a price of its own from an organisation",
  details: "What the rate card says counts again, from the next message on.",
  examples: ["ada@example.com 44 --stage prod"],
  asksFirst: true,
  input: z.object({ organization: Organization, prefix: Prefix }),
  run: async ({ organization, prefix }, context) => {
    const found = await readOrganization(organization);
    const remove = (before: readonly PriceRow[]): readonly PriceRow[] => {
      const others = without(before, prefix);
      if (others.length === before.length)
        throw new Error(`${found.id} has no price of its own for ${prefix}.`);
      return others;
    };
    await changeOverrides(found, remove, { allowLoss: false, prefixes: [] }, context);
  },
});

function without(rows: readonly PriceRow[], prefix: string): readonly PriceRow[] {
  return rows.filter((row) => row.prefix !== prefix);
}

/** Rows that are shown where nothing is said. */
const usualRows = 50;

const show = command({
  name: "prices list",
  summary: "Show the prices that count, and what the carriers take",
  details: "With --csv it is a file that can be changed and imported again.",
  examples: ["--prefix 4477", "--csv --stage prod > rates.csv", "--organization ada@example.com"],
  input: z.object({
    prefix: part(
      "--prefix <digits>",
      "a number, or what numbers begin with: the rows that are for them",
      z.optional(z.string().check(z.regex(/^\d{1,15}$/, "must be 1 to 15 digits"))),
    ),
    limit: part(
      "--limit <rows>",
      `how many of them, ${usualRows} where nothing is said`,
      z._default(count(200_000), usualRows),
    ),
    csv: part("--csv", "all of them, as a CSV file", z._default(z.boolean(), false)),
    organization: OrganizationOption,
  }),
  run: async ({ prefix, limit, csv, organization }, { output }) => {
    const { rows, of } = await pricesToShow(organization);
    const wanted = prefix === undefined ? rows : rowsOfPrefix(rows, prefix);
    if (csv) {
      showCsv(wanted, output);
      return;
    }
    const carriers = carriersWithCosts(wanted);
    output.table(wanted.slice(0, limit), columnsOf(carriers));
    output.note(
      `${wanted.length} rows${wanted.length > limit ? `, of which ${limit} are shown` : ""}, ${of}`,
    );
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
  return { rows, of: `that ${found.name} (${found.id}) has for itself` };
}

const history = command({
  name: "prices list-versions",
  summary: "List the versions of the prices, newest first",
  details: "Who imported or restored which is in the audit log of the stage.",
  examples: ["--stage prod"],
  input: z.object({
    limit: part("--limit <versions>", "how many, 20 where nothing is said", z._default(count(1_000), 20)),
  }),
  run: async ({ limit }, { output }) => {
    const [current, cards] = await Promise.all([findCurrentVersion(), listRateCards(limit)]);
    const rows = cards.map(({ version, importedAt, rows: rowCount, carriers, completedAt }) => ({
      version,
      importedAt,
      rows: rowCount,
      carriers,
      state: stateOf({ version, completedAt }, current),
    }));
    output.table(rows, [
      { heading: "version", text: ({ version }) => String(version), isNumber: true },
      { heading: "imported", text: ({ importedAt }) => importedAt },
      { heading: "rows", text: ({ rows: rowCount }) => String(rowCount), isNumber: true },
      { heading: "costs of", text: ({ carriers }) => carriers.join(", ") },
      { heading: "state", text: ({ state }) => state },
    ]);
    if (rows.length === 0) output.note("No prices have been imported.");
  },
});

function stateOf(
  { version, completedAt }: Pick<RateCardRecord, "completedAt" | "version">,
  current: number | undefined,
): string {
  if (version === current) return "counts";
  return completedAt === undefined ? "not finished" : "kept";
}

const restore = command({
  name: "prices restore",
  summary: "Let an older version of the prices count again",
  examples: ["7 --stage prod"],
  asksFirst: true,
  input: z.object({
    version: part("<version>", "as prices list-versions names it", count(999_999_999)),
    allowLoss: AllowLoss,
  }),
  run: async ({ version, allowLoss }, context) => {
    const { output, confirm, changed } = context;
    const found = await findRateCard(version);
    if (found?.completedAt === undefined) throw new Error(`There is no version ${version} of the prices.`);
    const { version: seen, card } = await readCurrent();
    const restored = await readRateCard(version);
    const changes = priceChanges(card.rows(), restored.rows());
    showChanges(changes, output);
    await guardCard(restored, { allowLoss, before: card, book: await readCarriers() }, context);
    await confirm(`let version ${version} of the prices count in the place of ${versionText(seen)}`, {
      before: { version: seen ?? "none" },
    });
    await restoreRateCard(version, seen);
    changed({ version });
    output.result({ version }, `version ${version} of the prices counts within a minute`);
  },
});

/** Says what is wrong with a file. @returns whether anything is */
function reportErrors({ errors }: Rates, output: Output): boolean {
  if (errors.length === 0) return false;
  output.table(errors, [{ heading: "what is wrong", text: problemText }]);
  output.aside(`Nothing was changed: ${errors.length} mistakes.`);
  process.exitCode = 1;
  return true;
}

function problemText({ line, column, problem }: Problem): string {
  return `line ${line}${column === "" ? "" : `, ${column}`}: ${problem}`;
}

/** Prefixes that have rows of later and none that counts now. */
function rowsWithoutPresent(rows: readonly PriceRow[]): string[] {
  const moment = now().toISOString();
  const priced = new Set(
    rows.filter(({ validFrom = "" }) => validFrom <= moment).map(({ prefix }) => prefix),
  );
  return [...new Set(rows.map(({ prefix }) => prefix))].filter((prefix) => !priced.has(prefix));
}

function showChanges(changes: PriceChanges, output: Output): void {
  output.result({ changes: countsOf(changes) }, textOfChanges(changes));
}

function countsOf({ added, removed, changed, unchanged }: PriceChanges): Record<string, number> {
  return { added: added.length, removed: removed.length, changed: changed.length, unchanged };
}

function versionText(version: number | undefined): string {
  return version === undefined ? "the sample, or no prices" : `version ${version} of the prices`;
}

function columnsOf(carriers: readonly string[]): Column<PriceRow>[] {
  return [
    { heading: "prefix", text: ({ prefix }) => prefix },
    { heading: "country", text: ({ country = "" }) => country },
    { heading: "price", text: ({ priceMicros }) => amountText(priceMicros), isNumber: true },
    { heading: "valid from", text: ({ validFrom = "" }) => validFrom },
    ...carriers.map((carrier) => ({
      heading: `cost:${carrier}`,
      text: ({ costMicros }: PriceRow) => costText(costMicros[carrier]),
      isNumber: true,
    })),
  ];
}

function showCsv(rows: readonly PriceRow[], output: Output): void {
  const carriers = carriersWithCosts(rows);
  output.note(
    ["prefix", "country", "price", "valid_from", ...carriers.map((name) => `cost:${name}`)].join(","),
  );
  for (const row of rows) {
    const { prefix, country = "", priceMicros, validFrom = "", costMicros } = row;
    const costs = carriers.map((carrier) => costText(costMicros[carrier]));
    output.result(row, [prefix, country, amountText(priceMicros), validFrom, ...costs].join(","));
  }
}

function costText(costMicros: number | undefined): string {
  return costMicros === undefined ? "" : amountText(costMicros);
}

export const priceCommands = [importPrices, show, history, restore, setOverride, removeOverride];
