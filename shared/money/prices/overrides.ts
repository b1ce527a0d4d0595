import { randomUUID } from "node:crypto";

import * as z from "zod/mini";

import { RejectedError } from "../../platform/rejected-error.ts";
import type { Changes } from "../../platform/table/expressions.ts";
import { keys } from "../../platform/table/keys.ts";
import { findItem } from "../../platform/table/read.ts";
import { transact } from "../../platform/table/transact.ts";
import { updateOf, type Write, deleteOf, putOf } from "../../platform/table/write.ts";
import { TtlCache } from "../../platform/ttl-cache.ts";
import type { OrganizationRecord } from "../../tenancy/organizations/record.ts";
import { documentOf, RateCard, type PriceRow } from "./rate-card.ts";

/*
 * Price overrides: prices of one organization that replace those of the rate card. The organization's record, which every call
 * reads anyway, names their current version. An organization without overrides costs no read, and a change takes effect within
 * about a second.
 */

/** The most overrides. They are one item, which has capacity for six times as many at 60 bytes each. */
export const maxPriceOverrides = 1_000;

export const PriceOverridesRecord = z.object({
  entity: z.literal("priceOverrides"),
  organizationId: z.string(),
  version: z.string(),
  /** As `documentOf` makes it. */
  document: z.string(),
});

/** The prices of some organizations, by version, which never changes. */
const cache = new TtlCache<RateCard | undefined>({ maxKeys: 100 });

/** Returns an organization's own prices; undefined if it has none. */
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
 * Replaces an organization's own prices. An empty list removes them.
 * @param organization its record, as it was when the operator decided
 * @throws Error for the operator when they are too many, or another change came first
 */
export async function replacePriceOverrides(
  { id, priceOverridesVersion: seen }: Pick<OrganizationRecord, "id" | "priceOverridesVersion">,
  rows: readonly PriceRow[],
): Promise<void> {
  if (rows.length > maxPriceOverrides) {
    throw new RejectedError(`An organization has at most ${maxPriceOverrides} prices of its own.`);
  }
  const version = randomUUID();
  const document = documentOf(rows);
  const record = { entity: "priceOverrides", organizationId: id, version, document } as const;
  const item: Write =
    rows.length === 0 ? deleteOf(keys.priceOverrides(id)) : putOf(keys.priceOverrides(id), record);
  const changes: Changes<"organization"> =
    rows.length === 0 ? { remove: ["priceOverridesVersion"] } : { set: { priceOverridesVersion: version } };
  const noted = updateOf(
    keys.organization(id),
    changes,
    seen === undefined
      ? { present: ["pk"], absent: ["priceOverridesVersion"] }
      : { is: { priceOverridesVersion: seen } },
  );
  const { outcome } = await transact({ noted, item });
  if (outcome === "rejected") {
    throw new RejectedError(
      "The organization's prices changed meanwhile. This command changed nothing: look at the prices again.",
    );
  }
}
