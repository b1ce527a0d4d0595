import { keys } from "../platform/table/keys.ts";
import type { Update } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
import { findOrganization, type QuotaCount } from "./organization-record.ts";

/*
 * An organisation has a limited number of some kinds of things. How many it has is counted in its record, in the
 * transaction that makes or removes one.
 */

/** The write that takes so many of a kind out of the quota; it is refused when there are not as many left. */
export function takeQuota(organizationId: string, count: QuotaCount, max: number, taken = 1): Update {
  return updateOf(
    keys.organization(organizationId),
    { add: { [count]: taken } },
    {
      present: ["pk"],
      where: `attribute_not_exists(#${count}) OR #${count} <= :highest`,
      values: { ":highest": max - taken },
    },
  );
}

/** The write that gives one back. */
export function releaseQuota(organizationId: string, count: QuotaCount): Update {
  return updateOf(
    keys.organization(organizationId),
    { add: { [count]: -1 } },
    { where: `#${count} > :zero`, values: { ":zero": 0 } },
  );
}

/** How many of a kind an organisation has now. */
export async function usedQuota(organizationId: string, count: QuotaCount): Promise<number> {
  return (await findOrganization(organizationId, { consistent: true }))?.[count] ?? 0;
}
