import type { CreateApiKeyRequest, CreatedApiKey, RotateApiKeyRequest } from "../contract/accounts.ts";
import { ApiError } from "../contract/errors.ts";
import { owedEmail } from "../emails/email-job.ts";
import { queueOwedEmails } from "../emails/queue-email.ts";
import type { Actor } from "../platform/auth/actor.ts";
import { hasExpired } from "../platform/auth/expiry.ts";
import { hourMs, now } from "../platform/clock.ts";
import type { QueuedJob } from "../platform/jobs/job.ts";
import { transact, type Write } from "../platform/table/table.ts";
import { keyManagerOf, limitsOfNewKey, requireGiveable, type KeyManager } from "./api-key-limits.ts";
import {
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
import { ownerNotices } from "./owner-notices.ts";
import { takeQuota } from "./quota.ts";
import { isSensitive, requireRecentProof } from "./recent-proof.ts";
import { readRights } from "./rights-record.ts";

/** So many keys can have come one from another before a person makes the next: each has all of them in its record. */
const maxAncestors = 100;

/**
 * Creates an API key. Its secret is returned here once and stored only as a hash.
 * @throws ApiError CONFLICT when the organisation has as many keys as it may have; VALIDATION_ERROR; INSUFFICIENT_SCOPE;
 *   REAUTHENTICATION_REQUIRED for a key that may make keys or move money, where the stage asks for that; UNAUTHORIZED when
 *   the key that makes it was disabled meanwhile; UNAVAILABLE
 */
export async function createApiKey(actor: Actor, request: CreateApiKeyRequest): Promise<CreatedApiKey> {
  const manager = await keyManagerOf(actor);
  const limits = limitsOfNewKey(manager, request);
  if (isSensitive(limits.scopes)) requireRecentProof(actor);
  refuseLongLine(manager.key);
  const notices = await noticesOf(actor.organizationId, limits);
  const { record, secret, writes } = newApiKey(actor, manager.key, { name: request.name, ...limits });
  const created = await transact({
    quota: takeQuota(actor.organizationId, "apiKeyCount", maxApiKeys),
    key: writes,
    maker: checkOfMaker(manager, limits),
    notices: notices.map(owedEmail),
  });
  if (created.outcome === "refused") throw refusal(created.refusals.quota !== undefined);
  await queueOwedEmails(notices);
  return { ...presentApiKey(record), secret };
}

/**
 * Puts a new key with the same limits in the place of a key, which works on for a while.
 * @throws ApiError NOT_FOUND, also for a key of another organisation; CONFLICT when it is not active, has been replaced
 *   before, or the organisation has as many keys as it may have; INSUFFICIENT_SCOPE for a key that may more than the
 *   caller, and when an API key rotates one that was not made with it; REAUTHENTICATION_REQUIRED as for a new key;
 *   UNAVAILABLE
 */
export async function rotateApiKey(
  actor: Actor,
  keyId: string,
  { overlapHours }: RotateApiKeyRequest,
): Promise<CreatedApiKey> {
  const [manager, old] = await Promise.all([keyManagerOf(actor), readApiKey(actor.organizationId, keyId)]);
  requireGiveable(manager, old);
  if (manager.key === undefined) {
    if (isSensitive(old.scopes)) requireRecentProof(actor);
  } else if (manager.key.id !== old.id && !old.ancestorIds.includes(manager.key.id)) {
    throw new ApiError("INSUFFICIENT_SCOPE", {
      message: "An API key rotates itself and those that were made with it, and no other.",
    });
  }
  refuseLongLine(manager.key);
  if (old.disabledAt !== undefined || hasExpired(old)) throw notReplaceable();
  const { record, secret, writes } = newApiKey(actor, manager.key, old);
  const notices = await noticesOf(actor.organizationId, old);
  const { key: oldKey, credential: oldCredential } = endApiKey(old, endAfter(old, overlapHours), record.id);
  const rotated = await transact({
    quota: takeQuota(actor.organizationId, "apiKeyCount", maxApiKeys),
    oldKey,
    oldCredential,
    newKey: writes,
    // A transaction writes an item once: a key that rotates itself is checked by the write that ends it.
    maker: manager.key?.id === old.id ? [] : checkOfMaker(manager, old),
    notices: notices.map(owedEmail),
  });
  if (rotated.outcome === "refused") {
    if (rotated.refusals.oldKey !== undefined) throw notReplaceable();
    throw refusal(rotated.refusals.quota !== undefined);
  }
  await queueOwedEmails(notices);
  return { ...presentApiKey(record), secret };
}

/** What owners are told of a new key: nothing of one that can neither make keys nor move money. */
async function noticesOf(organizationId: string, { scopes }: ApiKeyLimits): Promise<QueuedJob[]> {
  return isSensitive(scopes) ? ownerNotices(await readRights(organizationId), { what: "apiKeyMade" }) : [];
}

/** The checks of a transaction that makes a key: its maker still has the right. */
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
