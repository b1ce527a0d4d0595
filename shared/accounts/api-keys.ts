import type {
  ApiKey,
  CreateApiKeyRequest,
  CreatedApiKey,
  RotateApiKeyRequest,
} from "../contract/accounts.ts";
import { ApiError } from "../contract/errors.ts";
import type { Page, PageQuery } from "../contract/primitives.ts";
import { ApiKeyUseRecord } from "../platform/auth/api-key-use.ts";
import type { Actor } from "../platform/auth/authenticate.ts";
import { hasExpired } from "../platform/auth/expiry.ts";
import { hourMs, now } from "../platform/clock.ts";
import { keys } from "../platform/table/keys.ts";
import { pageOf } from "../platform/table/page.ts";
import { itemsOf, queryRows, transact, type Write } from "../platform/table/table.ts";
import {
  keyManagerOf,
  limitsOfNewKey,
  requireEndable,
  requireGiveable,
  type KeyManager,
} from "./api-key-limits.ts";
import {
  allApiKeys,
  type ApiKeyLimits,
  type ApiKeyRecord,
  countMadeKey,
  endApiKey,
  maxApiKeys,
  newApiKey,
  presentApiKey,
  readApiKey,
} from "./api-key-record.ts";
import { checkKeyMaker } from "./member-record.ts";
import { releaseQuota, takeQuota } from "./quota.ts";

/** So many keys can have come one from another before a person makes the next: each has all of them in its record. */
const maxAncestors = 100;

/**
 * Creates an API key. Its secret is returned here once and stored only as a hash.
 * @throws ApiError CONFLICT when the organisation has as many keys as it may have; VALIDATION_ERROR; INSUFFICIENT_SCOPE;
 *   UNAUTHORIZED when the key that makes it was disabled meanwhile; UNAVAILABLE
 */
export async function createApiKey(actor: Actor, request: CreateApiKeyRequest): Promise<CreatedApiKey> {
  const manager = await keyManagerOf(actor);
  const limits = limitsOfNewKey(manager, request);
  refuseLongLine(manager.key);
  const { record, secret, writes } = newApiKey(actor, manager.key, { name: request.name, ...limits });
  const created = await transact([
    takeQuota(actor.organizationId, "apiKeyCount", maxApiKeys),
    ...writes,
    ...checkOfMaker(manager, limits),
  ]);
  if (created.outcome === "refused") throw refusal(created.refusals[0] !== undefined);
  return { ...presentApiKey(record), secret };
}

/**
 * Puts a new key with the same limits in the place of a key, which works on for a while.
 * @throws ApiError NOT_FOUND, also for a key of another organisation; CONFLICT when it is not active, has been replaced
 *   before, or the organisation has as many keys as it may have; INSUFFICIENT_SCOPE for a key that may more than the
 *   caller; UNAVAILABLE
 */
export async function rotateApiKey(
  actor: Actor,
  keyId: string,
  { overlapHours }: RotateApiKeyRequest,
): Promise<CreatedApiKey> {
  const [manager, old] = await Promise.all([keyManagerOf(actor), readApiKey(actor.organizationId, keyId)]);
  requireGiveable(manager, old);
  refuseLongLine(manager.key);
  if (old.disabledAt !== undefined || hasExpired(old)) throw notReplaceable();
  const { record, secret, writes } = newApiKey(actor, manager.key, old);
  const rotated = await transact([
    takeQuota(actor.organizationId, "apiKeyCount", maxApiKeys),
    ...endApiKey(old, endAfter(old, overlapHours), record.id),
    ...writes,
    // A key that rotates itself stands in one write of the transaction: in the one that ends it.
    ...(manager.key?.id === old.id ? [] : checkOfMaker(manager, old)),
  ]);
  if (rotated.outcome === "refused") {
    if (rotated.refusals[1] !== undefined) throw notReplaceable();
    throw refusal(rotated.refusals[0] !== undefined);
  }
  return { ...presentApiKey(record), secret };
}

/** The organisation's keys, newest first, without their secrets. */
export async function listApiKeys(organizationId: string, query: PageQuery): Promise<Page<ApiKey>> {
  const [records, uses] = await Promise.all([allApiKeys(organizationId), usesOfKeys(organizationId)]);
  return pageOf(
    records.map((record) => presentApiKey(record, uses.get(record.id))),
    query,
  );
}

async function usesOfKeys(organizationId: string): Promise<ReadonlyMap<string, ApiKeyUseRecord>> {
  const { pk } = keys.apiKeyUse(organizationId, "");
  const uses = itemsOf(await queryRows(ApiKeyUseRecord, { pk, limit: maxApiKeys }));
  return new Map(uses.map((use) => [use.keyId, use]));
}

/**
 * Revokes a key and forgets it. What it has made stays, and is still known to come from it.
 * @throws ApiError NOT_FOUND, also for a key of another organisation; INSUFFICIENT_SCOPE; UNAVAILABLE
 */
export async function deleteApiKey(actor: Actor, keyId: string): Promise<{ id: string; deleted: true }> {
  const { organizationId } = actor;
  const [manager, record] = await Promise.all([keyManagerOf(actor), readApiKey(organizationId, keyId)]);
  requireEndable(manager, record);
  const deleted = await transact([
    { delete: keys.apiKeyOfOrganization(organizationId, keyId), condition: "attribute_exists(pk)" },
    { delete: keys.apiKey(record.secretHash) },
    { delete: keys.apiKeyUse(organizationId, keyId) },
    releaseQuota(organizationId, "apiKeyCount"),
  ]);
  if (deleted.outcome === "refused") throw new ApiError("NOT_FOUND");
  return { id: keyId, deleted: true };
}

/** What a transaction that makes a key requires of whoever makes it: that they still may. */
function checkOfMaker({ actor, key }: KeyManager, { scopes }: ApiKeyLimits): Write[] {
  if (key !== undefined) return [countMadeKey(key)];
  return checkKeyMaker(actor.organizationId, actor.userId, scopes);
}

/** @throws ApiError CONFLICT for a key that comes from too many others to make one more */
function refuseLongLine(maker: ApiKeyRecord | undefined): void {
  if (maker === undefined || maker.ancestorIds.length < maxAncestors) return;
  throw new ApiError("CONFLICT", {
    message: `This API key comes from ${maxAncestors} others, one from the other: a person has to make the next.`,
  });
}

/** How a key ends that is replaced: with the overlap, but no later than it would have. */
function endAfter(
  { validUntil }: ApiKeyRecord,
  overlapHours: number,
): { disabledAt: string } | { validUntil: string } {
  const end = new Date(now().getTime() + overlapHours * hourMs).toISOString();
  if (overlapHours === 0) return { disabledAt: end };
  return { validUntil: validUntil === undefined || end < validUntil ? end : validUntil };
}

function notReplaceable(): ApiError {
  return new ApiError("CONFLICT", { message: "Only an active API key that was not rotated before can be." });
}

/** Why a new key was not made: there are too many, or the one that was to make it has been disabled since. */
function refusal(isFull: boolean): ApiError {
  if (!isFull) return new ApiError("UNAUTHORIZED");
  return new ApiError("CONFLICT", { message: `An organisation has at most ${maxApiKeys} API keys.` });
}
