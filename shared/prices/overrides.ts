import { randomUUID } from "node:crypto";

import * as z from "zod/mini";

import type { OrganizationRecord } from "../accounts/organization-record.ts";
import { Refusal } from "../platform/refusal.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem, transact, type Write } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
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

/** Organisations whose prices a function keeps, of those that it met last. */
const maxKept = 100;

interface Kept {
  readonly version: string;
  readonly card: RateCard;
}

const kept = new Map<string, Kept>();

/** The prices that an organisation has for itself, or undefined where it has none. */
export async function findPriceOverrides({
  id,
  priceOverridesVersion,
}: Pick<OrganizationRecord, "id" | "priceOverridesVersion">): Promise<RateCard | undefined> {
  if (priceOverridesVersion === undefined) return undefined;
  const known = kept.get(id);
  if (known?.version === priceOverridesVersion) return known.card;
  const record = await findItem(PriceOverridesRecord, keys.priceOverrides(id), { consistent: true });
  kept.delete(id);
  if (record === undefined) return undefined;
  const card = new RateCard(record.document);
  kept.set(id, { version: record.version, card });
  const [oldest] = kept.keys();
  if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
  return card;
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
