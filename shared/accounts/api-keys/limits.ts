import { isDeepStrictEqual } from "node:util";

import type { ApiKey, CreateApiKeyRequest, UpdateApiKeyRequest } from "../../api/contract/api-keys.ts";
import { ApiError, invalidField } from "../../api/contract/errors.ts";
import { defaultScopes, scopesOfTestKeys } from "../../api/contract/scopes.ts";
import { requireScope, type Actor } from "../../platform/auth/actor.ts";
import { areBlocksWithin } from "../../platform/auth/address-blocks.ts";
import { isSensitive } from "../../platform/auth/recent-proof.ts";
import { now } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { transact, untilUndisturbed } from "../../platform/table/transact.ts";
import {
  allApiKeys,
  budgetKeyIdOf,
  changeSendLimits,
  inheritedSendLimits,
  readApiKey,
  toApiApiKey,
  type ApiKeyLimits,
  type ApiKeyRecord,
} from "../../tenancy/api-keys/record.ts";

/*
 * No one gives a key more rights than they have. A key never makes or renews a key that has more scopes, lives longer,
 * is allowed from more addresses, or may send more than itself.
 */

/** A caller that manages keys, and the limits of the keys that it may make. */
export interface KeyManager {
  readonly actor: Actor;
  /** The key that makes the call, if a key does. */
  readonly key?: ApiKeyRecord;
  readonly limits: ApiKeyLimits;
}

/**
 * Returns the caller with the limits of the keys that it may make.
 * @throws ApiError NOT_FOUND when the caller is a key that was deleted
 */
export async function keyManagerOf(actor: Actor): Promise<KeyManager> {
  const { credential, organizationId, scopes } = actor;
  if (credential.type === "session") return { actor, limits: { scopes: [...scopes] } };
  const key = await readApiKey(organizationId, credential.keyId);
  return { actor, key, limits: key };
}

/**
 * Rejects limits that are wider than those of the manager.
 * @throws ApiError INSUFFICIENT_SCOPE
 */
export function requireGiveable({ limits }: KeyManager, given: ApiKeyLimits): void {
  const { scopes = defaultScopes } = limits;
  const missing = (given.scopes ?? defaultScopes).find((scope) => !scopes.includes(scope));
  if (missing !== undefined) {
    throw new ApiError("INSUFFICIENT_SCOPE", {
      requiredScope: missing,
      message: `The key would have the scope \`${missing}\`, which this credential does not have.`,
    });
  }
  if (!endsWithin(given, limits)) {
    throw new ApiError("INSUFFICIENT_SCOPE", { message: "This API key expires before the other key would." });
  }
  if (!isAllowedWithin(given, limits)) {
    throw new ApiError("INSUFFICIENT_SCOPE", {
      message: "The other key would be allowed from addresses from which this API key is not allowed.",
    });
  }
}

/**
 * Rejects a key that disables or deletes a key with wider limits than its own. A person who may manage keys can end any
 * key.
 * @throws ApiError INSUFFICIENT_SCOPE
 */
export function requireEndable(manager: KeyManager, other: ApiKeyRecord): void {
  if (manager.key === undefined || manager.key.id === other.id) return;
  requireGiveable(manager, other);
  if (manager.key.sendLimits !== undefined && budgetKeyIdOf(manager.key) !== budgetKeyIdOf(other)) {
    throw new ApiError("INSUFFICIENT_SCOPE", {
      message: "A limited API key can disable and delete only keys that were made with it.",
    });
  }
}

/**
 * Returns the limits of a new key. A limit that is not in the request is the manager's own.
 * @throws ApiError VALIDATION_ERROR for an end in the past, INSUFFICIENT_SCOPE for more than the manager has
 */
export function limitsOfNewKey(manager: KeyManager, request: CreateApiKeyRequest): ApiKeyLimits {
  const { validUntil, allowedAddresses } = manager.limits;
  const expiresAt = request.expiresAt === undefined ? undefined : new Date(request.expiresAt);
  if (expiresAt !== undefined && expiresAt <= now()) throw invalidField("expiresAt", "must be in the future");
  const isTest = request.test === true;
  if (isTest && request.scopes?.some((scope) => !scopesOfTestKeys.includes(scope)) === true) {
    throw invalidField("scopes", `a test key can have only ${scopesOfTestKeys.join(", ")}`);
  }
  if (manager.key?.sendLimits !== undefined && request.limits !== undefined) {
    throw new ApiError("INSUFFICIENT_SCOPE", {
      message: "This API key has limits. Keys that are made with it have the same ones.",
    });
  }
  const limits = {
    scopes: request.scopes ?? scopesByDefault(manager, isTest),
    validUntil: expiresAt?.toISOString() ?? validUntil,
    allowedAddresses: request.allowedAddresses ?? allowedAddresses,
    sendLimits: inheritedSendLimits(manager.key) ?? request.limits,
  };
  requireGiveable(manager, limits);
  return limits;
}

/**
 * Changes the limits on the sends of a key, and of all keys that share its budget. These were made with it, or replace it.
 * Otherwise a key with wider limits would stay. Only a person who may make all of them can change them. A key without
 * limits cannot get any, because the keys that it made have none.
 * @throws ApiError NOT_FOUND, also for a key of another organization. INSUFFICIENT_SCOPE. CONFLICT for a key that is disabled
 *   or has no limits. UNAVAILABLE when not all keys were changed: the same call continues
 */
export async function updateApiKey(
  actor: Actor,
  keyId: string,
  { limits }: UpdateApiKeyRequest,
): Promise<ApiKey> {
  requireScope(actor, "keys");
  const record = await readApiKey(actor.organizationId, keyId);
  const manager = await keyManagerOf(actor);
  requireGiveable(manager, record);
  const budgetKeyId = budgetKeyIdOf(record);
  const sendLimits = { ...limits, budgetKeyId };
  return untilUndisturbed(async () => {
    const all = await allApiKeys(actor.organizationId);
    const limited = all.filter(
      (each) =>
        each.disabledAt === undefined && each.sendLimits !== undefined && budgetKeyIdOf(each) === budgetKeyId,
    );
    const changed = limited.find(({ id }) => id === keyId);
    if (changed === undefined) {
      const message = "Only the limits of an API key that has limits and is not disabled can be changed.";
      throw new ApiError("CONFLICT", { message });
    }
    for (const each of limited) requireGiveable(manager, each);
    // One after the other, because a key seldom has others. A rejected one was disabled meanwhile.
    const others = limited.filter((each) => !isDeepStrictEqual(each.sendLimits, sendLimits));
    for (const each of others) await transact({ key: changeSendLimits(each, sendLimits) });
    return others.length === 0 ? toApiApiKey(changed) : undefined;
  });
}

/**
 * Returns the scopes of a new key whose request names none.
 * @throws ApiError VALIDATION_ERROR when no scope would be left
 */
function scopesByDefault({ key, limits }: KeyManager, isTest: boolean): ApiKeyLimits["scopes"] {
  const { scopes = defaultScopes } = limits;
  // A key cannot reauthenticate. Where the stage requires that for sensitive scopes, a key does not pass these on.
  const isLimited = key !== undefined && config.reauthenticationBeforeChanges();
  const grantable = isTest ? scopesOfTestKeys : defaultScopes;
  const given = (
    config.apiKeysManageKeys() ? grantable : grantable.filter((scope) => scope !== "keys")
  ).filter((scope) => !isLimited || !isSensitive([scope]));
  const common = given.filter((scope) => scopes.includes(scope));
  if (common.length === 0) throw invalidField("scopes", "must be named");
  // A key without a list has the default scopes, also those that a later release adds.
  return common.length === defaultScopes.length ? undefined : common;
}

function endsWithin({ validUntil }: ApiKeyLimits, limits: ApiKeyLimits): boolean {
  return limits.validUntil === undefined || (validUntil !== undefined && validUntil <= limits.validUntil);
}

function isAllowedWithin({ allowedAddresses }: ApiKeyLimits, limits: ApiKeyLimits): boolean {
  if (limits.allowedAddresses === undefined) return true;
  return allowedAddresses !== undefined && areBlocksWithin(allowedAddresses, limits.allowedAddresses);
}
