import * as z from "zod/mini";

import { now } from "../platform/clock.ts";
import { transact, untilUndisturbed } from "../platform/table/table.ts";
import { allApiKeys, ApiKeyRecord, endApiKey } from "./api-key-record.ts";
import { mayHave, type ActiveMember } from "./member-record.ts";
import type { UserRecord } from "./user-record.ts";

/** Keys that are disabled side by side. */
const disabledAtOnce = 10;

/**
 * Revokes the keys of a user who is removed: those that they have made, and those that were made with them. Keys that are
 * older than the knowledge of who made them stay.
 * @throws ApiError UNAVAILABLE when not all of them could be: the same call goes on
 */
export async function endApiKeysMadeBy({ id, organizationId }: UserRecord): Promise<number> {
  return endAll(organizationId, (record, all) => isOf(id, record, all));
}

/**
 * Revokes those of a user's keys that may more than a role does, with whatever was made with them.
 * @throws ApiError UNAVAILABLE when not all of them could be: the same call goes on
 */
export async function endApiKeysBeyond({ id, organizationId, role }: ActiveMember): Promise<number> {
  return endAll(organizationId, (record, all) => !mayHave(role, record.scopes) && isOf(id, record, all));
}

/** Whether a user stands behind a key: they have made it, or a key of theirs has. */
function isOf(userId: string, record: ApiKeyRecord, all: readonly ApiKeyRecord[]): boolean {
  const firstId = record.ancestorIds[0] ?? record.id;
  return record.userId === userId || all.find(({ id }) => id === firstId)?.createdBy?.id === userId;
}

/**
 * Disables those of an organisation's keys that are meant, until there is none left: keys that are still at work may make
 * others meanwhile.
 * @returns how many this call has disabled
 * @throws ApiError UNAVAILABLE when more came again and again; and whatever `isMeant` throws
 */
export async function endAll(
  organizationId: string,
  isMeant: (record: ApiKeyRecord, all: readonly ApiKeyRecord[]) => boolean,
): Promise<number> {
  let count = 0;
  return untilUndisturbed(async () => {
    const all = await allApiKeys(organizationId);
    const meant = all.filter((record) => record.disabledAt === undefined && isMeant(record, all));
    if (meant.length === 0) return count;
    for (let start = 0; start < meant.length; start += disabledAtOnce) {
      await Promise.all(meant.slice(start, start + disabledAtOnce).map(endNow));
    }
    count += meant.length;
    return undefined;
  });
}

/** Disables a key. @returns the key as it is then; undefined when it has been deleted meanwhile */
export async function endNow(record: ApiKeyRecord): Promise<ApiKeyRecord | undefined> {
  if (record.disabledAt !== undefined) return record;
  const disabledAt = now().toISOString();
  const disabled = await transact(endApiKey(record, { disabledAt }));
  if (disabled.outcome === "committed") return { ...record, disabledAt };
  // Only another call that disabled or deleted it in the meantime can stand in the way; its time is the one that counts.
  return z.optional(ApiKeyRecord).parse(disabled.refusals.key?.found);
}
