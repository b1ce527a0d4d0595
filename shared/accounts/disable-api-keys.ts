import type {
  ApiKey,
  DisableApiKeyRequest,
  RevokeAllApiKeysRequest,
  RevokedApiKeys,
} from "../contract/accounts.ts";
import { ApiError } from "../contract/errors.ts";
import type { Actor } from "../platform/auth/actor.ts";
import { ApiKeyUseRecord } from "../platform/auth/api-key-use.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem } from "../platform/table/table.ts";
import { keyManagerOf, requireEndable } from "./api-key-limits.ts";
import { presentApiKey, readApiKey } from "./api-key-record.ts";
import { endAll, endNow } from "./end-api-keys.ts";

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
  const disabled = await endNow(record);
  if (disabled === undefined) throw new ApiError("NOT_FOUND");
  // It is disabled and makes no more, so that those that are found now are all.
  if (descendants) await endAll(organizationId, ({ ancestorIds }) => ancestorIds.includes(keyId));
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
    count: await endAll(actor.organizationId, (record) => {
      requireEndable(manager, record);
      return record.id !== spared;
    }),
  };
}
