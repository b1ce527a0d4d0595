import type { CreateApiKeyRequest, CreatedApiKey, RotateApiKeyRequest } from "../../api/contract/api-keys.ts";
import { ApiError } from "../../api/contract/errors.ts";
import type { QueuedEmail } from "../../notices/emails/email-job.ts";
import { transactWithEmails } from "../../notices/emails/queue-email.ts";
import type { Actor } from "../../platform/auth/actor.ts";
import { hasExpired } from "../../platform/auth/expiry.ts";
import { isSensitive, requireRecentProof } from "../../platform/auth/recent-proof.ts";
import { hourMs, now } from "../../platform/clock.ts";
import { log } from "../../platform/log.ts";
import type { Write } from "../../platform/table/write.ts";
import {
  type ApiKeyLimits,
  type ApiKeyRecord,
  countMadeKey,
  endApiKey,
  inheritedSendLimits,
  maxApiKeys,
  newApiKey,
  type NewApiKey,
  type NewHook,
  toApiApiKey,
  readApiKey,
} from "../../tenancy/api-keys/record.ts";
import { checkKeyMaker } from "../../tenancy/organizations/member-record.ts";
import { changeNotices } from "../../tenancy/organizations/owner-notices.ts";
import { takeQuota } from "../../tenancy/organizations/quota.ts";
import { endKeysMadeWith } from "./end.ts";
import { keyManagerOf, limitsOfNewKey, requireGiveable, type KeyManager } from "./limits.ts";

/**
 * The maximum length of a chain of keys that made each other. The record of a key lists all its ancestors, so a person
 * has to make the next key.
 */
const maxAncestors = 100;

/**
 * Creates an API key. The secret is returned once, here, and stored only as a hash.
 * @throws ApiError CONFLICT when the organization has the maximum number of keys. VALIDATION_ERROR;
 *   INSUFFICIENT_SCOPE. REAUTHENTICATION_REQUIRED when a key makes one that may make keys or move money, where the stage
 *   requires that. UNAUTHORIZED when the key that makes it was disabled meanwhile. UNAVAILABLE
 */
export async function createApiKey(actor: Actor, request: CreateApiKeyRequest): Promise<CreatedApiKey> {
  const { record, secret } = await makeApiKey(actor, request);
  return { ...toApiApiKey(record), secret };
}

/** Makes an API key, or one that is a hook. @throws the errors of `createApiKey` */
export async function makeApiKey(
  actor: Actor,
  request: CreateApiKeyRequest,
  hook?: NewHook,
): Promise<NewApiKey> {
  const manager = await keyManagerOf(actor);
  const limits = limitsOfNewKey(manager, request);
  if (isSensitive(limits.scopes)) requireRecentProof(actor);
  rejectLongLine(manager.key);
  const { name, test } = request;
  const fields = { name, ...limits, ...(test === true && { test: true as const }) };
  const made = newApiKey(actor, manager.key, fields, hook);
  const notices = await noticesOf(made.record);
  const created = await transactWithEmails(notices, {
    quota: takeQuota(actor.organizationId, "apiKeyCount", maxApiKeys),
    key: made.writes,
    maker: checkOfMaker(manager, limits),
  });
  if (created.outcome === "rejected") throw rejection(created.rejections.quota !== undefined);
  return made;
}

/**
 * Replaces a key with a new one that has the same limits. The old key works for the overlap. If a person allows no
 * overlap, the old key may have leaked, so the keys that were made with it end too.
 * @throws ApiError NOT_FOUND, also for a key of another organization. CONFLICT when the key is not active or was
 *   replaced before, or the organization has the maximum number of keys. INSUFFICIENT_SCOPE for a key with wider limits
 *   than the caller, and when an API key rotates a key that it did not make. UNAVAILABLE
 */
export async function rotateApiKey(
  actor: Actor,
  keyId: string,
  { overlapHours }: RotateApiKeyRequest,
): Promise<CreatedApiKey> {
  const [manager, old] = await Promise.all([keyManagerOf(actor), readApiKey(actor.organizationId, keyId)]);
  requireGiveable(manager, old);
  if (manager.key !== undefined && manager.key.id !== old.id && !old.ancestorIds.includes(manager.key.id)) {
    throw new ApiError("INSUFFICIENT_SCOPE", {
      message: "An API key can rotate only itself and the keys that were made with it.",
    });
  }
  rejectLongLine(manager.key);
  // A hook has no secret to replace: its address is in the login system.
  if (
    old.disabledAt !== undefined ||
    old.replacedBy !== undefined ||
    hasExpired(old) ||
    old.hook !== undefined
  ) {
    throw notReplaceable();
  }
  const { record, secret, writes } = newApiKey(actor, manager.key, {
    ...old,
    sendLimits: inheritedSendLimits(old),
  });
  const notices = await noticesOf(record);
  const endsMadeKeys = manager.key === undefined && overlapHours === 0 ? true : undefined;
  // Before the rotation, because a failure after it would lose the new secret.
  if (endsMadeKeys === true) await endKeysMadeWith(actor.organizationId, old.id);
  const { key: oldKey, credential: oldCredential } = endApiKey(old, endAfter(old, overlapHours), {
    replacedBy: record.id,
    endsMadeKeys,
  });
  const rotated = await transactWithEmails(notices, {
    quota: takeQuota(actor.organizationId, "apiKeyCount", maxApiKeys),
    oldKey,
    oldCredential,
    newKey: writes,
    // A transaction writes an item only once. If a key rotates itself, the write that ends it is also the check.
    maker: manager.key?.id === old.id ? [] : checkOfMaker(manager, old),
  });
  if (rotated.outcome === "rejected") {
    if (rotated.rejections.oldKey !== undefined) throw notReplaceable();
    throw rejection(rotated.rejections.quota !== undefined);
  }
  // The old key may have made others meanwhile. If this fails, the deletion of the old key ends them.
  if (endsMadeKeys === true) {
    await endKeysMadeWith(actor.organizationId, old.id).catch((error: unknown) => {
      log.warn("api_key.made_keys_not_ended", { error });
    });
  }
  return { ...toApiApiKey(record), secret };
}

/**
 * Returns the emails that notify the owners of a new key. There are none for a key that has an end and can neither make
 * keys nor move money, and for a test key.
 */
async function noticesOf({ organizationId, scopes, test, validUntil }: ApiKeyRecord): Promise<QueuedEmail[]> {
  if (test === true || (validUntil !== undefined && !isSensitive(scopes))) return [];
  return changeNotices(organizationId, "apiKeyMade");
}

/** Returns the checks that the maker of a key still has the right to make it. */
function checkOfMaker({ actor, key }: KeyManager, { scopes }: ApiKeyLimits): Write[] {
  if (key !== undefined) return [countMadeKey(key)];
  return checkKeyMaker(actor.organizationId, actor.userId, scopes);
}

/**
 * Rejects a maker that already has the maximum number of ancestors.
 * @throws ApiError CONFLICT
 */
function rejectLongLine(maker: ApiKeyRecord | undefined): void {
  if (maker === undefined || maker.ancestorIds.length < maxAncestors) return;
  throw new ApiError("CONFLICT", {
    message: `This API key is the last in a chain of ${maxAncestors} keys that made each other: a person has to make the next.`,
  });
}

/** Returns the end of a replaced key: after the overlap, but not later than its own end. */
function endAfter(
  { validUntil }: ApiKeyRecord,
  overlapHours: number,
): { disabledAt: string } | { validUntil: string } {
  const end = new Date(now().getTime() + overlapHours * hourMs).toISOString();
  if (overlapHours === 0) return { disabledAt: end };
  return { validUntil: validUntil === undefined || end < validUntil ? end : validUntil };
}

function notReplaceable(): ApiError {
  return new ApiError("CONFLICT", {
    message: "Only an active API key that was not rotated before can be rotated.",
  });
}

/** Returns the error when no key was made: there are too many keys, or its maker was disabled meanwhile. */
function rejection(isFull: boolean): ApiError {
  if (!isFull) return new ApiError("UNAUTHORIZED");
  return new ApiError("CONFLICT", { message: `An organization has at most ${maxApiKeys} API keys.` });
}
