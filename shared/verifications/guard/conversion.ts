import type { VerificationConversion } from "../../api/contract/verifications.ts";
import { sumBy } from "../../messages/counts/rows.ts";
import { dayMs, now } from "../../platform/clock.ts";
import { keys } from "../../platform/table/keys.ts";
import { itemsIn } from "../../platform/table/lists.ts";
import { deleteItem } from "../../platform/table/write.ts";
import { Conversion, RecentStarts } from "./rules.ts";

/** Adds up the verifications of the last days by country. */
export async function readConversion(organizationId: string, days: number): Promise<VerificationConversion> {
  const since = new Date(now().getTime() - days * dayMs).toISOString();
  const { pk } = keys.conversion(organizationId, "");
  const rows: VerificationConversion["countries"] = [];
  for await (const item of itemsIn(Conversion, {
    pk,
    from: "COUNTRY#",
    to: "COUNTRY#~",
    skipsUnreadable: true,
  })) {
    const [, country = "", slot = ""] = item.sk.split("#");
    const { started, approved, undelivered } = item;
    if (slot >= since) rows.push({ country, started, approved, undelivered });
  }
  return { countries: sumBy(rows, ({ country }) => country) };
}

/** A range that is blocked for an organization: the digits that its numbers begin with. */
export interface BlockedRange {
  readonly range: string;
  readonly blockedUntil: string;
  readonly reason: string;
}

export async function readBlockedRanges(organizationId: string): Promise<BlockedRange[]> {
  const { pk, sk: from } = keys.recentStarts(organizationId, "RANGE#");
  const blocked: BlockedRange[] = [];
  for await (const item of itemsIn(RecentStarts, { pk, from, to: `${from}~`, skipsUnreadable: true })) {
    const { sk, blockedUntil = "", reason = "" } = item;
    if (blockedUntil > now().toISOString())
      blocked.push({ range: sk.slice(from.length), blockedUntil, reason });
  }
  return blocked;
}

/** Ends the block of a range, whose starts so far count no longer. */
export async function unblockRange(organizationId: string, range: string): Promise<void> {
  await deleteItem(keys.recentStarts(organizationId, `RANGE#${range}`));
}
