import * as z from "zod/mini";

import { owedStop } from "../../notices/emails/email-job.ts";
import { now } from "../../platform/clock.ts";
import { transact, untilUndisturbed } from "../../platform/table/transact.ts";
import type { Put } from "../../platform/table/write.ts";
import { allApiKeys, ApiKeyRecord, endApiKey, hookIdOf } from "../../tenancy/api-keys/record.ts";
import { mayHave, type ActiveMember } from "../../tenancy/organizations/member-record.ts";
import type { UserRecord } from "../../tenancy/users/record.ts";

/** The number of keys that are disabled in parallel. */
const disabledAtOnce = 10;

/**
 * Revokes the keys of a user who is removed: the keys that they made, and the keys that were made with those.
 * @throws ApiError UNAVAILABLE when not all keys were revoked: the same call continues
 */
export async function endApiKeysMadeBy({ id, organizationId }: UserRecord): Promise<number> {
  return endAll(organizationId, ({ userId }) => userId === id);
}

/**
 * Revokes the keys of a user that have more scopes than a role, with the keys that were made with them.
 * @throws ApiError UNAVAILABLE when not all keys were revoked: the same call continues
 */
export async function endApiKeysBeyond({ id, organizationId, role }: ActiveMember): Promise<number> {
  return endAll(organizationId, ({ userId, scopes }) => userId === id && !mayHave(role, scopes));
}

/**
 * Revokes a key or a hook for an operator, with the keys that were made with it. Owners and administrators get an email within
 * twenty minutes. A key that was disabled before causes none.
 * @returns the key as it is then, and how many others this call disabled; undefined when the key was deleted meanwhile
 * @throws ApiError UNAVAILABLE when not all keys were revoked: the same call continues
 */
export async function endForOperator(
  record: ApiKeyRecord,
): Promise<{ readonly key: ApiKeyRecord; readonly others: number } | undefined> {
  const { organizationId, id, hook } = record;
  const notice =
    hook === undefined
      ? owedStop(organizationId, "apiKey", id)
      : owedStop(organizationId, "hook", hookIdOf(id));
  const key = await endNow(record, { endsMadeKeys: true }, [notice]);
  return key && { key, others: await endKeysMadeWith(organizationId, id) };
}

/**
 * Revokes the keys that were made with a disabled key, directly or indirectly. It makes no more keys, so this finds all.
 * @returns how many keys this call disabled
 * @throws ApiError UNAVAILABLE when not all keys were revoked: the same call continues
 */
export async function endKeysMadeWith(organizationId: string, keyId: string): Promise<number> {
  return endAll(organizationId, ({ ancestorIds }) => ancestorIds.includes(keyId));
}

/**
 * Disables the matching keys of an organization until none is left, because active keys may make others meanwhile.
 * @returns how many keys this call disabled
 * @throws ApiError UNAVAILABLE when there were new keys in every attempt. Errors of `isMeant`
 */
export async function endAll(
  organizationId: string,
  isMeant: (record: ApiKeyRecord) => boolean,
): Promise<number> {
  let count = 0;
  return untilUndisturbed(async () => {
    const all = await allApiKeys(organizationId);
    const meant = all.filter((record) => record.disabledAt === undefined && isMeant(record));
    if (meant.length === 0) return count;
    for (let start = 0; start < meant.length; start += disabledAtOnce) {
      await Promise.all(meant.slice(start, start + disabledAtOnce).map(async (record) => endNow(record)));
    }
    count += meant.length;
    return undefined;
  });
}

/**
 * Disables a key.
 * @param notices the writes of the emails that it causes
 * @returns the key as it is then; undefined when it was deleted meanwhile
 */
export async function endNow(
  record: ApiKeyRecord,
  marks: Pick<ApiKeyRecord, "endsMadeKeys"> = {},
  notices: readonly Put[] = [],
): Promise<ApiKeyRecord | undefined> {
  if (record.disabledAt !== undefined) return record;
  const disabledAt = now().toISOString();
  const disabled = await transact({ ...endApiKey(record, { disabledAt }, marks), notices });
  if (disabled.outcome === "committed") return { ...record, disabledAt };
  // Only another call that disabled or deleted the key can cause this. The time of that call counts.
  return z.optional(ApiKeyRecord).parse(disabled.rejections.key?.found);
}
