import * as z from "zod/mini";

import { CarrierName, readCarriers } from "../../shared/carriers/record.ts";
import { publishRateCard } from "../../shared/money/prices/publish.ts";
import { documentOf, RateCard, type PriceRow } from "../../shared/money/prices/rate-card.ts";
import { now } from "../../shared/platform/clock.ts";
import { config } from "../../shared/platform/config.ts";
import { RejectedError } from "../../shared/platform/rejected-error.ts";
import { command, flag, part, RequiredText } from "./command.ts";
import { CostsOfRows, countryOfRow, readCostList, type CostList } from "./cost-list.ts";
import { AllowLoss } from "./loss-guard.ts";
import { readCurrent, showChanges } from "./price-changes.ts";
import { guardCard, stageCarriers, versionText } from "./prices.ts";
import { maxRows, showProblems } from "./rates-file.ts";

export const Rate = part(
  "--rate <number>",
  "price of one unit of the file's currency in the stage's currency",
  z.optional(
    z.pipe(
      z.string().check(z.regex(/^(?!0*(\.0*)?$)\d{1,6}(\.\d{1,8})?$/, "must be a number such as 1.0842")),
      z.transform(Number),
    ),
  ),
);

/** How many countries or prefixes a warning names. */
const maxNamed = 20;

/** `prices import-costs` */
export const importCosts = command({
  name: "prices import-costs",
  summary: "Replace the costs of one carrier with those of its price list",
  details:
    "Reads the list as the carrier sends it: CSV or Excel, by prefix, by country, or by MCC and MNC. A later cost counts only " +
    "from its day. Prices and other carriers' costs stay. The command shows which prices are then below the cost, and rejects them. " +
    "Prefixes that are not in the list keep their cost (see shared/money/prices/README.md).",
  examples: ["acme acme-2026-12.csv --dry-run", "acme acme-2026-12.xlsx --rate 1.0842 --stage prod"],
  asksFirst: true,
  input: z.object({
    carrier: part("<carrier>", "name of the carrier", CarrierName),
    file: part("<file>", "price list of the carrier", RequiredText),
    rate: Rate,
    dryRun: flag("--dry-run", "check the list and show the changes, without applying them"),
    allowLoss: AllowLoss,
  }),
  run: async ({ carrier, file, rate, dryRun, allowLoss }, context) => {
    const { output, confirm, changed } = context;
    const book = await readCarriers();
    if (!book.carriers.has(carrier) && !stageCarriers.has(carrier))
      throw new RejectedError(`There is no carrier ${carrier}. See carriers list.`);
    const list = await readCostList(file, { rate, currency: config.currency() });
    if ("errors" in list) return showProblems(list.errors, output);
    const { version: seen, card } = await readCurrent();
    if (seen === undefined) throw new RejectedError("There are no prices yet. Run prices import first.");
    const before = card.rows();
    const { rows, unchanged, unsold } = withCosts(before, { carrier, list, at: now() });
    if (rows.length > maxRows)
      throw new RejectedError(
        `The prices would have ${rows.length} rows, and the maximum is ${maxRows}. Import fewer later costs.`,
      );
    output.note(
      `${list.lines} costs of ${list.ofCountries.size} countries and ${list.ofPrefixes.size} prefixes`,
    );
    const counts = showChanges(before, rows, output);
    warnOf(
      "These destinations of the list have no price, and are not sold",
      [...unsoldIn(list, before), ...unsold],
      output,
    );
    warnOf(`These prefixes are not in the list, and keep their cost of ${carrier}`, unchanged, output);
    await guardCard(new RateCard(documentOf(rows)), { allowLoss, before: card, book }, context);
    if (dryRun) return output.note("Nothing was changed.");
    await confirm(`replace the costs of ${carrier} in ${versionText(seen)}`, { before: { version: seen } });
    const version = await publishRateCard(rows, seen);
    changed({ version, carrier, ...counts });
    output.result({ version, ...counts }, `version ${version} of the prices applies within a minute`);
  },
});

function warnOf(text: string, names: readonly string[], output: { aside: (text: string) => void }): void {
  if (names.length === 0) return;
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : "";
  output.aside(`Warning: ${text}: ${names.slice(0, maxNamed).join(", ")}${more}`);
}

function unsoldIn({ ofCountries }: CostList, rows: readonly PriceRow[]): string[] {
  const sold = new Set(rows.map(countryOfRow));
  return [...ofCountries.keys()].filter((country) => !sold.has(country)).toSorted();
}

/** A list of one carrier, and the moment of its import. */
interface Costs {
  readonly carrier: string;
  readonly list: CostList;
  readonly at: Date;
}

/**
 * Returns rows with a carrier's costs by its list. The present rows and later ones get the cost of their time. A cost that begins
 * later gets a row of its own.
 * @param before in the order of their times
 * @returns also the prefixes that the list does not have, and those of the list without a row
 */
export function withCosts(
  before: readonly PriceRow[],
  { carrier, list, at }: Costs,
): { readonly rows: PriceRow[]; readonly unchanged: string[]; readonly unsold: readonly string[] } {
  const byPrefix = Map.groupBy(before, ({ prefix }) => prefix);
  const costs = new CostsOfRows(list, [...byPrefix.keys()]);
  const present = at.toISOString();
  const moments = [present, ...costs.moments().filter((moment) => moment > present)];
  const unchanged: string[] = [];
  const rows = [...byPrefix].flatMap(([prefix, ofPrefix]) => {
    const rowAt = (moment: string): PriceRow | undefined =>
      ofPrefix.findLast(({ validFrom = "" }) => validFrom <= moment);
    const withCost = (row: PriceRow, moment: string): PriceRow => {
      const cost = costs.costOf(row, moment);
      return cost === undefined ? row : { ...row, costMicros: { ...row.costMicros, [carrier]: cost } };
    };
    const existing = ofPrefix.map((row) => {
      const { validFrom = "" } = row;
      if (validFrom > present) return withCost(row, validFrom);
      return row === rowAt(present) ? withCost(row, present) : row;
    });
    const added = moments.flatMap((moment, index) => {
      const row = rowAt(moment);
      if (row === undefined || moment === present || row.validFrom === moment) return [];
      const isNew = costs.costOf(row, moment) !== costs.costOf(row, moments[index - 1] ?? present);
      return isNew ? [withCost({ ...row, validFrom: moment }, moment)] : [];
    });
    if (!moments.some((moment) => costs.costOf({ prefix, ...rowAt(moment) }, moment) !== undefined))
      unchanged.push(prefix);
    return [...existing, ...added];
  });
  return { rows, unchanged, unsold: costs.unsoldPrefixes() };
}
