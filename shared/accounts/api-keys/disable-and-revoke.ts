import type {
  ApiKey,
  DisableApiKeyRequest,
  RevokeAllApiKeysRequest,
  RevokedApiKeys,
} from "../../api/contract/api-keys.ts";
import { orNotFound } from "../../api/contract/errors.ts";
import type { Actor } from "../../platform/auth/actor.ts";
import { ApiKeyUseRecord } from "../../platform/auth/api-key-use.ts";
import { keys } from "../../platform/table/keys.ts";
import { findItem } from "../../platform/table/read.ts";
import { toApiApiKey, readApiKey } from "../../tenancy/api-keys/record.ts";
import { endAll, endKeysMadeWith, endNow } from "./end.ts";
import { keyManagerOf, requireEndable } from "./limits.ts";

/**
 * Revokes a key, so that the next request with it is rejected. Disabling a disabled key changes nothing. By
 * default also revokes the keys that were made with it, directly or indirectly.
 * @throws ApiError NOT_FOUND, also for a key of another organization. INSUFFICIENT_SCOPE for a key with wider limits
 *   than the calling key. UNAVAILABLE when not all keys were revoked: the same call continues
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
  const disabled = orNotFound(await endNow(record, descendants ? { endsMadeKeys: true } : {}));
  if (descendants) await endKeysMadeWith(organizationId, keyId);
  return toApiApiKey(disabled, use);
}

/**
 * Revokes all keys of an organization, or all except the calling key.
 * @throws ApiError INSUFFICIENT_SCOPE when one of the keys has wider limits than the calling key. UNAVAILABLE when
 *   not all keys were revoked: the same call continues
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
