import * as z from "zod/mini";

import type { ApiKey } from "../contract/accounts.ts";
import { ApiError } from "../contract/errors.ts";
import { allScopes, Scope } from "../contract/scopes.ts";
import type { Actor } from "../platform/auth/actor.ts";
import { apiKeyHint, hashApiKeySecret, newApiKeySecret } from "../platform/auth/api-key-secret.ts";
import type { ApiKeyUseRecord } from "../platform/auth/api-key-use.ts";
import { hasExpired } from "../platform/auth/expiry.ts";
import { now } from "../platform/clock.ts";
import { newId } from "../platform/ids.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem, itemsOf, queryRows, type Write } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";

/** Disabled keys stay listed and count, until they are deleted. */
export const maxApiKeys = 1_000;

/** What a key may do, until when, and from where. What is not there has no limit. */
const limits = {
  scopes: z.optional(z.array(Scope)),
  validUntil: z.optional(z.string()),
  allowedAddresses: z.optional(z.array(z.string())),
};
const ApiKeyLimits = z.object(limits);
export type ApiKeyLimits = z.infer<typeof ApiKeyLimits>;

/** The item that an API key is looked up by. */
export const CredentialRecord = z.object({
  entity: z.literal("credential"),
  keyId: z.string(),
  organizationId: z.string(),
  userId: z.string(),
  /** What the key may do; everything where it was not limited. */
  scopes: z.optional(z.array(Scope)),
  validUntil: z.optional(z.string()),
  /** The addresses and CIDR blocks that it may be used from; any where there are none. */
  allowedAddresses: z.optional(z.array(z.string())),
  disabledAt: z.optional(z.string()),
});
export type CredentialRecord = z.infer<typeof CredentialRecord>;

/** What an organisation sees of its key. The credential itself is a second item, found by its hash. */
export const ApiKeyRecord = z.object({
  entity: z.literal("apiKey"),
  id: z.string(),
  organizationId: z.string(),
  secretHash: z.string(),
  hint: z.string(),
  name: z.optional(z.string()),
  ...limits,
  createdAt: z.string(),
  createdBy: z.optional(z.object({ type: z.enum(["user", "apiKey"]), id: z.string() })),
  /** The user who in the end stands behind it; absent of keys that were made before this was kept. */
  userId: z.optional(z.string()),
  /** The keys that it comes from: the one that made it last, and in front of that the one that made that one. */
  ancestorIds: z._default(z.array(z.string()), []),
  /** How many keys were made with it. */
  keysMade: z.optional(z.int()),
  /** The key that has taken its place. */
  replacedBy: z.optional(z.string()),
  disabledAt: z.optional(z.string()),
});
export type ApiKeyRecord = z.infer<typeof ApiKeyRecord>;

/**
 * A key of an organisation, as it is now.
 * @throws ApiError NOT_FOUND, also for a key of another organisation
 */
export async function readApiKey(organizationId: string, keyId: string): Promise<ApiKeyRecord> {
  const key = keys.apiKeyOfOrganization(organizationId, keyId);
  const record = await findItem(ApiKeyRecord, key, { consistent: true });
  if (record === undefined) throw new ApiError("NOT_FOUND");
  return record;
}

/** All keys of an organisation as they are now, newest first. */
export async function allApiKeys(organizationId: string): Promise<ApiKeyRecord[]> {
  const { pk } = keys.organization(organizationId);
  const range = { pk, from: "KEY#", to: "KEY#~", newestFirst: true, limit: maxApiKeys, consistent: true };
  return itemsOf(await queryRows(ApiKeyRecord, range));
}

/** A key that is about to be made, and the secret that nobody sees again. */
export interface NewApiKey {
  readonly record: ApiKeyRecord;
  readonly secret: string;
  readonly writes: readonly Write[];
}

/**
 * A new key with the writes that make it.
 * @param maker the key that makes it, if one does
 */
export function newApiKey(
  actor: Actor,
  maker: ApiKeyRecord | undefined,
  fields: ApiKeyLimits & Pick<ApiKeyRecord, "name">,
): NewApiKey {
  const { organizationId, userId } = actor;
  const { name, scopes, validUntil, allowedAddresses } = fields;
  const secret = newApiKeySecret();
  const record: ApiKeyRecord = {
    entity: "apiKey",
    id: newId("key"),
    organizationId,
    secretHash: hashApiKeySecret(secret),
    hint: apiKeyHint(secret),
    name,
    scopes,
    validUntil,
    allowedAddresses,
    createdAt: now().toISOString(),
    createdBy: maker === undefined ? { type: "user", id: userId } : { type: "apiKey", id: maker.id },
    userId,
    ancestorIds: maker === undefined ? [] : [...maker.ancestorIds, maker.id],
  };
  const credential: CredentialRecord = {
    entity: "credential",
    keyId: record.id,
    organizationId,
    userId,
    scopes,
    validUntil,
    allowedAddresses,
  };
  const condition = "attribute_not_exists(pk)";
  const writes = [
    { put: { ...keys.apiKeyOfOrganization(organizationId, record.id), ...record }, condition },
    { put: { ...keys.apiKey(record.secretHash), ...credential }, condition },
  ];
  return { record, secret, writes };
}

/**
 * The write that notes with a key that it makes another. It is refused once the key is disabled: whoever disables a key and
 * then looks for those that it has made finds all of them.
 */
export function countMadeKey({ organizationId, id }: ApiKeyRecord): Write {
  return updateOf(
    keys.apiKeyOfOrganization(organizationId, id),
    { add: { keysMade: 1 } },
    { present: ["pk"], absent: ["disabledAt"] },
  );
}

/**
 * The writes that end a key, now or at a time. One that is disabled refuses them, and one that has been replaced another
 * replacement.
 */
export function endApiKey(
  record: ApiKeyRecord,
  end: Required<Pick<ApiKeyRecord, "disabledAt">> | Required<Pick<ApiKeyRecord, "validUntil">>,
  replacedBy?: string,
): Record<"credential" | "key", Write> {
  return {
    key: updateOf(
      keys.apiKeyOfOrganization(record.organizationId, record.id),
      { set: { ...end, replacedBy } },
      {
        present: ["pk"],
        absent: replacedBy === undefined ? ["disabledAt"] : ["disabledAt", "replacedBy"],
      },
    ),
    credential: updateOf(
      keys.apiKey(record.secretHash),
      { set: { ...end } },
      { present: ["pk"], absent: ["disabledAt"] },
    ),
  };
}

export function presentApiKey(record: ApiKeyRecord, use?: ApiKeyUseRecord): ApiKey {
  return {
    id: record.id,
    name: record.name,
    hint: record.hint,
    status: record.disabledAt !== undefined ? "disabled" : hasExpired(record) ? "expired" : "active",
    scopes: [...(record.scopes ?? allScopes)],
    allowedAddresses: record.allowedAddresses,
    createdAt: record.createdAt,
    createdBy: record.createdBy,
    expiresAt: record.validUntil,
    lastUsedAt: use?.lastUsedAt,
    disabledAt: record.disabledAt,
  };
}
