import * as z from "zod/mini";

import { readCarriers } from "../../shared/carriers/record.ts";
import {
  findPriceOverrides,
  maxPriceOverrides,
  replacePriceOverrides,
} from "../../shared/money/prices/overrides.ts";
import { documentOf, RateCard, type PriceRow } from "../../shared/money/prices/rate-card.ts";
import { microsOfText } from "../../shared/money/wallet/money.ts";
import type { OrganizationRecord } from "../../shared/tenancy/organizations/record.ts";
import { command, Organization, part } from "./command.ts";
import type { Context } from "./context.ts";
import { AllowLoss, guardAgainstLoss, marketOf } from "./loss-guard.ts";
import { readOrganization } from "./organization.ts";
import { readCurrent, showChanges, type Decision } from "./price-changes.ts";
import { scheduleRiseNotices, warnOfSuddenRises } from "./price-notices.ts";
import { maxAmountMicros, readRates } from "./rates-file.ts";

export const Prefix = part(
  "<prefix>",
  "first digits of the numbers",
  z.string("is missing").check(z.regex(/^[1-9]\d{0,14}$/, "must be 1 to 15 digits, country code first")),
);

const priceRule = "must be a number up to 1000 with at most 6 decimals";
const Price = z
  .pipe(
    z.string("is missing"),
    z.transform((text) => microsOfText(text) ?? Number.NaN),
  )
  .check(z.refine((micros) => micros <= maxAmountMicros, priceRule));

/** `prices import --organization` */
export async function importOverrides(
  organization: OrganizationRecord,
  file: string,
  decision: Decision,
  context: Context,
): Promise<void> {
  const rows = await readRates(file, { required: ["prefix", "price"], hasCosts: false }, context.output);
  if (rows === undefined) return;
  if (rows.length > maxPriceOverrides) {
    throw new Error(`An organization can have at most ${maxPriceOverrides} price overrides.`);
  }
  await changeOverrides(organization, () => rows, decision, context);
}

/**
 * Replaces an organization's price overrides, after confirmation.
 * @param decide returns the new overrides, from the present ones
 * @param prefixes the prefixes to compare with carriers' costs; all by default
 */
async function changeOverrides(
  organization: OrganizationRecord,
  decide: (before: readonly PriceRow[]) => readonly PriceRow[],
  { isDryRun = false, allowLoss, prefixes }: Decision & { readonly prefixes?: readonly string[] },
  context: Context,
): Promise<void> {
  const { output, confirm, changed } = context;
  const { id, name } = organization;
  const present = await findPriceOverrides(organization);
  const before = present?.rows() ?? [];
  const rows = decide(before);
  const counts = showChanges(before, rows, output);
  const own = { organizationId: id, prices: new RateCard(documentOf(rows)) };
  const { card } = await readCurrent();
  const market = marketOf(card, await readCarriers(), context);
  await guardAgainstLoss({ market, own, prefixes: prefixes ?? own.prices.prefixes(), allowLoss }, context);
  warnOfSuddenRises({ card, own: present }, { card, own: own.prices }, context);
  if (isDryRun) return output.note("Nothing was changed.");
  await confirm(`set ${rows.length} price overrides for ${name} (${id})`, {
    organizationId: id,
    before: { prices: before.length },
  });
  await replacePriceOverrides(organization, rows);
  changed({ prices: rows.length, ...counts });
  await scheduleRiseNotices(card, id, context);
  output.result(
    { organizationId: id, prices: rows.length, ...counts },
    `${id} has ${rows.length} price overrides, from its next message on`,
  );
}

const setOverride = command({
  name: "prices set-override",
  summary: "Set an organization's own price for a prefix",
  details:
    "It applies from the next message on, even if the rate card has a longer prefix. It replaces all overrides of the " +
    "prefix. A price below the cost of a carrier of its route is rejected.",
  examples: ["ada@example.com 44 0.0385 --stage prod"],
  asksFirst: true,
  input: z.object({
    organization: Organization,
    prefix: Prefix,
    price: part("<price>", "price of a segment in the stage's currency, with at most 6 decimals", Price),
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
  summary: "Remove an organization's own price for a prefix",
  details: "The rate card applies again, from the next message on.",
  examples: ["ada@example.com 44 --stage prod"],
  asksFirst: true,
  input: z.object({ organization: Organization, prefix: Prefix }),
  run: async ({ organization, prefix }, context) => {
    const found = await readOrganization(organization);
    const remove = (before: readonly PriceRow[]): readonly PriceRow[] => {
      const others = without(before, prefix);
      if (others.length < before.length) return others;
      throw new Error(`${found.id} has no price override for ${prefix}.`);
    };
    await changeOverrides(found, remove, { allowLoss: false, prefixes: [] }, context);
  },
});

function without(rows: readonly PriceRow[], prefix: string): readonly PriceRow[] {
  return rows.filter((row) => row.prefix !== prefix);
}

export const priceOverrideCommands = [setOverride, removeOverride];
