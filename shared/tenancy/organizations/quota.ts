import { keys } from "../../platform/table/keys.ts";
import { type Update, updateOf } from "../../platform/table/write.ts";
import { findOrganization, type QuotaCount } from "./record.ts";

/*
 * An organization has a limited number of some kinds of items. Its record counts them, in the transactions that make
 * and remove them.
 */

/** Returns the write that takes `taken` items out of the quota. It is rejected when fewer are left. */
export function takeQuota(
  organizationId: string,
  count: QuotaCount,
  max: number,
  taken = 1,
): Update<"organization"> {
  return updateOf(
    keys.organization(organizationId),
    { add: { [count]: taken } },
    { present: ["pk"], ifPresent: { atMost: { [count]: max - taken } } },
  );
}

/** Returns the write that releases one item. */
export function releaseQuota(organizationId: string, count: QuotaCount): Update<"organization"> {
  return updateOf(keys.organization(organizationId), { add: { [count]: -1 } }, { above: { [count]: 0 } });
}

/** Returns how many items of a kind an organization has. The read is consistent. */
export async function usedQuota(organizationId: string, count: QuotaCount): Promise<number> {
  return (await findOrganization(organizationId, { consistent: true }))?.[count] ?? 0;
}
