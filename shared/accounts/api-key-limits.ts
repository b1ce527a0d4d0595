import type { CreateApiKeyRequest } from "../contract/accounts.ts";
import { ApiError, invalidField } from "../contract/errors.ts";
import { allScopes } from "../contract/scopes.ts";
import type { Actor } from "../platform/auth/actor.ts";
import { areBlocksWithin } from "../platform/auth/address-blocks.ts";
import { now } from "../platform/clock.ts";
import { config } from "../platform/config.ts";
import { readApiKey, type ApiKeyLimits, type ApiKeyRecord } from "./api-key-record.ts";
import { isSensitive } from "./recent-proof.ts";

/*
 * Nobody gives to a key what they do not have: a key never makes or renews one that may more than itself, lives longer, or
 * is allowed from more addresses.
 */

/** Who manages keys, with what they may give away. */
export interface KeyManager {
  readonly actor: Actor;
  /** The key that calls, if one does. */
  readonly key?: ApiKeyRecord;
  readonly limits: ApiKeyLimits;
}

/**
 * What a caller may give to keys.
 * @throws ApiError NOT_FOUND when it is a key that is gone
 */
export async function keyManagerOf(actor: Actor): Promise<KeyManager> {
  const { credential, organizationId, scopes } = actor;
  if (credential.type === "session") return { actor, limits: { scopes: [...scopes] } };
  const key = await readApiKey(organizationId, credential.keyId);
  return { actor, key, limits: key };
}

/**
 * Refuses to give more to a key than its manager has.
 * @throws ApiError INSUFFICIENT_SCOPE
 */
export function requireGiveable({ limits }: KeyManager, given: ApiKeyLimits): void {
  const { scopes = allScopes } = limits;
  const missing = (given.scopes ?? allScopes).find((scope) => !scopes.includes(scope));
  if (missing !== undefined) {
    throw new ApiError("INSUFFICIENT_SCOPE", {
      requiredScope: missing,
      message: `The key would have the scope \`${missing}\`, which this credential has not.`,
    });
  }
  if (!endsWithin(given, limits)) {
    throw new ApiError("INSUFFICIENT_SCOPE", { message: "This API key ends before the other one would." });
  }
  if (!isAllowedWithin(given, limits)) {
    throw new ApiError("INSUFFICIENT_SCOPE", {
      message: "This API key is not allowed from all addresses from which the other one would be.",
    });
  }
}

/**
 * Refuses a key that wants to put an end to one that may more than itself. A person who may manage keys can end any.
 * @throws ApiError INSUFFICIENT_SCOPE
 */
export function requireEndable(manager: KeyManager, other: ApiKeyRecord): void {
  if (manager.key !== undefined && manager.key.id !== other.id) requireGiveable(manager, other);
}

/**
 * The limits of a new key: those that are asked for, and the manager's own where nothing is said.
 * @throws ApiError VALIDATION_ERROR for an end that has passed, INSUFFICIENT_SCOPE for more than the manager has
 */
export function limitsOfNewKey(manager: KeyManager, request: CreateApiKeyRequest): ApiKeyLimits {
  const { validUntil, allowedAddresses } = manager.limits;
  const expiresAt = request.expiresAt === undefined ? undefined : new Date(request.expiresAt);
  if (expiresAt !== undefined && expiresAt <= now()) throw invalidField("expiresAt", "must be in the future");
  const limits = {
    scopes: request.scopes ?? defaultScopes(manager),
    validUntil: expiresAt?.toISOString() ?? validUntil,
    allowedAddresses: request.allowedAddresses ?? allowedAddresses,
  };
  requireGiveable(manager, limits);
  return limits;
}

/** @throws ApiError VALIDATION_ERROR when that would be nothing at all */
function defaultScopes({ key, limits }: KeyManager): ApiKeyLimits["scopes"] {
  const { scopes = allScopes } = limits;
  // A key cannot give its password once more, so it gives what takes that only where the stage does not ask for it.
  const isLimited = key !== undefined && config.reauthenticationBeforeChanges();
  const given = (
    config.apiKeysManageKeys() ? allScopes : allScopes.filter((scope) => scope !== "keys")
  ).filter((scope) => !isLimited || !isSensitive([scope]));
  const common = given.filter((scope) => scopes.includes(scope));
  if (common.length === 0) throw invalidField("scopes", "must be named");
  // Without any the key may everything, also what a later release brings.
  return common.length === allScopes.length ? undefined : common;
}

function endsWithin({ validUntil }: ApiKeyLimits, limits: ApiKeyLimits): boolean {
  return limits.validUntil === undefined || (validUntil !== undefined && validUntil <= limits.validUntil);
}

function isAllowedWithin({ allowedAddresses }: ApiKeyLimits, limits: ApiKeyLimits): boolean {
  if (limits.allowedAddresses === undefined) return true;
  return allowedAddresses !== undefined && areBlocksWithin(allowedAddresses, limits.allowedAddresses);
}
