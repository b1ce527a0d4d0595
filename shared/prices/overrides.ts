import { randomUUID } from "node:crypto";

import * as z from "zod/mini";

import type { OrganizationRecord } from "../accounts/organization-record.ts";
import { Refusal } from "../platform/refusal.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem, transact, type Write } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
import { TtlCache } from "../platform/ttl-cache.ts";
import { documentOf, RateCard, type PriceRow } from "./rate-card.ts";

/*
 * Prices that one organisation has in the place of those of the rate card. The record of the organisation, which every
 * call reads anyway, says which version of them counts: who has none costs no read, and a change counts at once.
 */

/** They are one item, which takes this many at 60 bytes each six times over. */
export const maxPriceOverrides = 1_000;

const PriceOverridesRecord = z.object({
  entity: z.literal("priceOverrides"),
  organizationId: z.string(),
  version: z.string(),
  /** As `documentOf` makes it. */
  document: z.string(),
});

/** The prices of some organizations, by version: a version never changes. */
const cache = new TtlCache<RateCard | undefined>({ maxKeys: 100 });

/** The prices that an organisation has for itself, or undefined where it has none. */
export async function findPriceOverrides({
  id,
  priceOverridesVersion,
}: Pick<OrganizationRecord, "id" | "priceOverridesVersion">): Promise<RateCard | undefined> {
  if (priceOverridesVersion === undefined) return undefined;
  return cache.read(async () => {
    const record = await findItem(PriceOverridesRecord, keys.priceOverrides(id), { consistent: true });
    return record && new RateCard(record.document);
  }, `${id} ${priceOverridesVersion}`);
}

/**
 * Gives an organisation these prices for itself, in the place of those that it had; none takes them away.
 * @param organization its record, as it was when that was decided
 * @throws Error in words for the operator when they are too many, or others were given meanwhile
 */
export async function replacePriceOverrides(
  { id, priceOverridesVersion: seen }: Pick<OrganizationRecord, "id" | "priceOverridesVersion">,
  rows: readonly PriceRow[],
): Promise<void> {
  if (rows.length > maxPriceOverrides) {
    throw new Refusal(`An organisation has at most ${maxPriceOverrides} prices of its own.`);
  }
  const version = randomUUID();
  const record = { entity: "priceOverrides", organizationId: id, version, document: documentOf(rows) };
  const item: Write =
    rows.length === 0
      ? { delete: keys.priceOverrides(id) }
      : { put: { ...keys.priceOverrides(id), ...record } };
  const changes =
    rows.length === 0 ? { remove: ["priceOverridesVersion"] } : { set: { priceOverridesVersion: version } };
  const noted = updateOf(
    keys.organization(id),
    changes,
    seen === undefined
      ? { present: ["pk"], absent: ["priceOverridesVersion"] }
      : { is: { priceOverridesVersion: seen } },
  );
  const { outcome } = await transact([noted, item]);
  if (outcome === "refused") {
    throw new Refusal(
      "The organisation's prices were changed meanwhile. Nothing was changed now: look again.",
    );
  }
}
