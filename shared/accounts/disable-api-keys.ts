import type {
  ApiKey,
  DisableApiKeyRequest,
  RevokeAllApiKeysRequest,
  RevokedApiKeys,
} from "../contract/accounts.ts";
import { ApiError } from "../contract/errors.ts";
import { ApiKeyUseRecord } from "../platform/auth/api-key-use.ts";
import type { Actor } from "../platform/auth/authenticate.ts";
import { now } from "../platform/clock.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem, transact, untilUndisturbed } from "../platform/table/table.ts";
import { keyManagerOf, requireEndable } from "./api-key-limits.ts";
import { ApiKeyRecord, endApiKey, presentApiKey, readApiKey } from "./api-key-record.ts";
import { allApiKeys } from "./api-keys.ts";

/** Keys that are disabled side by side. */
const disabledAtOnce = 10;

/**
 * Revokes a key: the next request that carries it is refused. Disabling a disabled key changes nothing. If asked, all that
 * were made with it are revoked too, and those that were made with them.
 * @throws ApiError NOT_FOUND, also for a key of another organisation; INSUFFICIENT_SCOPE for a key that may more than the
 *   one that calls; UNAVAILABLE when not all of them could be: the same call goes on
 */
export async function disableApiKey(
  actor: Actor,
  keyId: string,
  { descendants }: DisableApiKeyRequest,
): Promise<ApiKey> {
  const { organizationId } = actor;
  const [manager, record, use] = await Promise.all([
    keyManagerOf(actor),
    readApiKey(organizationId, keyId),
    findItem(ApiKeyUseRecord, keys.apiKeyUse(organizationId, keyId)),
  ]);
  requireEndable(manager, record);
  const disabled = await disable(record);
  if (disabled === undefined) throw new ApiError("NOT_FOUND");
  // It is disabled and makes no more, so that those that are found now are all.
  if (descendants) await disableAll(organizationId, ({ ancestorIds }) => ancestorIds.includes(keyId));
  return presentApiKey(disabled, use);
}

/**
 * Revokes all keys of an organisation, or all but the one that calls.
 * @throws ApiError INSUFFICIENT_SCOPE when the key that calls may not as much as one of the others; UNAVAILABLE when not
 *   all of them could be: the same call goes on
 */
export async function revokeAllApiKeys(
  actor: Actor,
  { exceptCalling }: RevokeAllApiKeysRequest,
): Promise<RevokedApiKeys> {
  const manager = await keyManagerOf(actor);
  const spared = exceptCalling ? manager.key?.id : undefined;
  return {
    count: await disableAll(actor.organizationId, (record) => {
      requireEndable(manager, record);
      return record.id !== spared;
    }),
  };
}

/**
 * Disables those of an organisation's keys that are meant, until there is none left: keys that are still at work may make
 * others meanwhile.
 * @returns how many this call has disabled
 * @throws ApiError UNAVAILABLE when more came again and again; and whatever `isMeant` throws
 */
async function disableAll(
  organizationId: string,
  isMeant: (record: ApiKeyRecord) => boolean,
): Promise<number> {
  let count = 0;
  return untilUndisturbed(async () => {
    const active = (await allApiKeys(organizationId)).filter(({ disabledAt }) => disabledAt === undefined);
    const meant = active.filter(isMeant);
    if (meant.length === 0) return count;
    for (let start = 0; start < meant.length; start += disabledAtOnce) {
      await Promise.all(meant.slice(start, start + disabledAtOnce).map(disable));
    }
    count += meant.length;
    return undefined;
  });
}

/** @returns the key as it is then; undefined when it has been deleted meanwhile */
async function disable(record: ApiKeyRecord): Promise<ApiKeyRecord | undefined> {
  if (record.disabledAt !== undefined) return record;
  const disabledAt = now().toISOString();
  const disabled = await transact(endApiKey(record, { disabledAt }));
  if (disabled.outcome === "committed") return { ...record, disabledAt };
  // Only another call that disabled or deleted it in the meantime can stand in the way; its time is the one that counts.
  return ApiKeyRecord.optional().parse(disabled.refusals[0]?.found);
}
