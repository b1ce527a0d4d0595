import * as z from "zod/mini";

import type { ApiKey } from "../../api/contract/api-keys.ts";
import { orNotFound } from "../../api/contract/errors.ts";
import { HookKind } from "../../api/contract/hook-kinds.ts";
import { SendLimits } from "../../api/contract/key-limits.ts";
import { defaultScopes, Scope } from "../../api/contract/scopes.ts";
import type { Actor } from "../../platform/auth/actor.ts";
import { apiKeyHint, hashApiKeySecret, newApiKeySecret } from "../../platform/auth/api-key-secret.ts";
import type { ApiKeyUseRecord } from "../../platform/auth/api-key-use.ts";
import { hasExpired } from "../../platform/auth/expiry.ts";
import { now } from "../../platform/clock.ts";
import { newId } from "../../platform/ids.ts";
import { keys } from "../../platform/table/keys.ts";
import { findItem, itemsOf, queryRows } from "../../platform/table/read.ts";
import { insertOf, updateOf, type Write } from "../../platform/table/write.ts";

/** The maximum number of keys. Disabled keys are listed and count until they are deleted. */
export const maxApiKeys = 1_000;

/** The limits of a key on its sends. Without `budgetKeyId` it uses a daily budget of its own. */
const StoredSendLimits = z.extend(SendLimits, { budgetKeyId: z.optional(z.string()) });

/** The scopes, the end and the addresses of a key, and its limits on sends. A missing field means no limit. */
const limits = {
  scopes: z.optional(z.array(Scope)),
  validUntil: z.optional(z.string()),
  allowedAddresses: z.optional(z.array(z.string())),
  sendLimits: z.optional(StoredSendLimits),
};
const ApiKeyLimits = z.object(limits);
export type ApiKeyLimits = z.infer<typeof ApiKeyLimits>;

/** The release before cannot read these scopes in a list. So fields of their own store them. */
const laterScopes = {
  mayCharge: z.optional(z.literal(true)),
  /** Absent for a key of 0.4.0, which has `personal` if it has `read`. */
  personal: z.optional(z.boolean()),
};
type LaterScopes = z.infer<z.ZodMiniObject<typeof laterScopes>>;

/** Returns a stored item with all its scopes in the list. */
function withLaterScopes<
  Item extends LaterScopes & { scopes?: Scope[] | undefined; test?: true | undefined },
>(item: Item): Item {
  const { scopes, test, mayCharge, personal = test !== true && scopes?.includes("read") } = item;
  if (mayCharge === true) scopes?.push("charge");
  if (personal === true) scopes?.push("personal");
  return item;
}

/** Returns the scopes of a new key as they are stored. */
function storedScopes(scopes: readonly Scope[] | undefined) {
  return {
    scopes: scopes?.filter((scope) => scope !== "charge" && scope !== "personal"),
    personal: scopes?.includes("personal"),
    ...(scopes?.includes("charge") === true && { mayCharge: true as const }),
  };
}

/** A key that is a hook: its login system, and the verification profile of its codes. */
const hookOfKey = { kind: HookKind, profile: z.optional(z.string()) };

/** The proof that a call comes from the login system: the hash of the token in it, or the sealed secret that signs it. */
const hookProof = { tokenHash: z.optional(z.string()), sealedSecret: z.optional(z.string()) };
const HookOfCredential = z.object({ ...hookOfKey, ...hookProof });
export type HookOfCredential = z.infer<typeof HookOfCredential>;

/** Returns the id of the hook that is a key. The id takes the place of the key's secret, and needs a proof in addition. */
export function hookIdOf(keyId: string): string {
  return keyId.replace("key_", "hok_");
}

/** Returns the id of the key that is a hook. */
export function keyIdOf(hookId: string): string {
  return hookId.replace("hok_", "key_");
}

/** A hook as it is made, with the id that it will have. */
export interface NewHook extends HookOfCredential {
  readonly id: string;
}

/** The item that finds an API key by the hash of its secret. */
const StoredCredential = z.object({
  entity: z.literal("credential"),
  keyId: z.string(),
  organizationId: z.string(),
  userId: z.string(),
  /** The scopes of the key. A missing list means the default scopes. */
  scopes: z.optional(z.array(Scope)),
  validUntil: z.optional(z.string()),
  /** The addresses and CIDR blocks from which the key may be used. A missing list means any address. */
  allowedAddresses: z.optional(z.array(z.string())),
  sendLimits: z.optional(StoredSendLimits),
  disabledAt: z.optional(z.string()),
  /** Present for a test key. */
  test: z.optional(z.literal(true)),
  hook: z.optional(HookOfCredential),
  ...laterScopes,
});
export const CredentialRecord = z.pipe(StoredCredential, z.transform(withLaterScopes));
export type CredentialRecord = z.infer<typeof CredentialRecord>;

/** A key as its organization sees it. The credential is a second item, found by its hash. */
const StoredApiKey = z.object({
  entity: z.literal("apiKey"),
  id: z.string(),
  organizationId: z.string(),
  secretHash: z.string(),
  hint: z.string(),
  name: z.optional(z.string()),
  ...limits,
  /** Present for a test key. */
  test: z.optional(z.literal(true)),
  hook: z.optional(z.object(hookOfKey)),
  createdAt: z.string(),
  createdBy: z.object({ type: z.enum(["user", "apiKey"]), id: z.string() }),
  /** The user who made the first key of the chain. */
  userId: z.string(),
  /** The ids of its ancestors. The last id is the key that made it, and each key follows the one that made it. */
  ancestorIds: z.array(z.string()),
  /** How many keys were made with it. */
  keysMade: z.optional(z.int()),
  /** The key that replaces this one. */
  replacedBy: z.optional(z.string()),
  /** Whether the keys that were made with it end with it. */
  endsMadeKeys: z.optional(z.literal(true)),
  disabledAt: z.optional(z.string()),
  ...laterScopes,
});
export const ApiKeyRecord = z.pipe(StoredApiKey, z.transform(withLaterScopes));
export type ApiKeyRecord = z.infer<typeof ApiKeyRecord>;

/**
 * Reads a key of an organization, consistently.
 * @throws ApiError NOT_FOUND, also for a key of another organization
 */
export async function readApiKey(organizationId: string, keyId: string): Promise<ApiKeyRecord> {
  const key = keys.apiKeyOfOrganization(organizationId, keyId);
  return orNotFound(await findItem(ApiKeyRecord, key, { consistent: true }));
}

/** Returns all keys of an organization, newest first. The read is consistent. */
export async function allApiKeys(organizationId: string): Promise<ApiKeyRecord[]> {
  const { pk } = keys.organization(organizationId);
  const range = { pk, from: "KEY#", to: "KEY#~", newestFirst: true, limit: maxApiKeys, consistent: true };
  return itemsOf(await queryRows(ApiKeyRecord, range));
}

/** A key to be made, and its secret, which is shown only once. */
export interface NewApiKey {
  readonly record: ApiKeyRecord;
  readonly secret: string;
  readonly writes: readonly Write[];
}

/**
 * Returns a new key with the writes that make it.
 * @param maker the key that makes it, if a key does
 * @param hook the hook that the key is, if it is one
 */
export function newApiKey(
  actor: Actor,
  maker: ApiKeyRecord | undefined,
  fields: ApiKeyLimits & Pick<ApiKeyRecord, "name" | "test">,
  hook?: NewHook,
): NewApiKey {
  const { organizationId, userId } = actor;
  const { name, scopes, validUntil, allowedAddresses, sendLimits } = fields;
  const test = maker?.test ?? fields.test;
  const secret = hook?.id ?? newApiKeySecret({ isTest: test === true });
  const record: ApiKeyRecord = {
    entity: "apiKey",
    id: hook === undefined ? newId("key") : keyIdOf(hook.id),
    organizationId,
    secretHash: hashApiKeySecret(secret),
    hint: hook?.id ?? apiKeyHint(secret),
    name,
    scopes,
    validUntil,
    allowedAddresses,
    sendLimits,
    test,
    hook: hook && { kind: hook.kind, profile: hook.profile },
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
    sendLimits,
    test,
    hook: hook && HookOfCredential.parse(hook),
  };
  const writes = [
    insertOf(keys.apiKeyOfOrganization(organizationId, record.id), { ...record, ...storedScopes(scopes) }),
    insertOf(keys.apiKey(record.secretHash), { ...credential, ...storedScopes(scopes) }),
  ];
  return { record, secret, writes };
}

/** Returns the writes that change the limits of a key on its sends. They are rejected for a disabled key. */
export function changeSendLimits(
  { organizationId, id, secretHash }: ApiKeyRecord,
  sendLimits: NonNullable<ApiKeyLimits["sendLimits"]>,
): Write[] {
  const isActive = { present: ["pk"], absent: ["disabledAt"] } as const;
  return [
    updateOf(keys.apiKeyOfOrganization(organizationId, id), { set: { sendLimits } }, isActive),
    updateOf(keys.apiKey(secretHash), { set: { sendLimits } }, isActive),
  ];
}

/**
 * Returns the write that counts a made key in its maker. It is rejected once the maker is disabled or has other limits. A
 * caller that disables a key and then looks for the keys that it made finds all of them.
 */
export function countMadeKey({ organizationId, id, sendLimits }: ApiKeyRecord): Write {
  return updateOf(
    keys.apiKeyOfOrganization(organizationId, id),
    { add: { keysMade: 1 } },
    { present: ["pk"], absent: ["disabledAt"], ...(sendLimits && { is: { sendLimits } }) },
  );
}

/**
 * Returns the writes that end a key, now or at a time. They are rejected for a disabled key. If the key was replaced
 * before, they are rejected for another replacement, and once the limits that the replacement gets have changed.
 */
export function endApiKey(
  record: ApiKeyRecord,
  end: Required<Pick<ApiKeyRecord, "disabledAt">> | Required<Pick<ApiKeyRecord, "validUntil">>,
  { replacedBy, endsMadeKeys }: Pick<ApiKeyRecord, "endsMadeKeys" | "replacedBy"> = {},
): Record<"credential" | "key", Write> {
  return {
    key: updateOf(
      keys.apiKeyOfOrganization(record.organizationId, record.id),
      { set: { ...end, replacedBy, endsMadeKeys } },
      {
        present: ["pk"],
        absent: replacedBy === undefined ? ["disabledAt"] : ["disabledAt", "replacedBy"],
        ...(replacedBy && record.sendLimits && { is: { sendLimits: record.sendLimits } }),
      },
    ),
    credential: updateOf(
      keys.apiKey(record.secretHash),
      { set: { ...end } },
      { present: ["pk"], absent: ["disabledAt"] },
    ),
  };
}

export function toApiApiKey(record: ApiKeyRecord, use?: ApiKeyUseRecord): ApiKey {
  return {
    id: record.id,
    name: record.name,
    hint: record.hint,
    status: record.disabledAt !== undefined ? "disabled" : hasExpired(record) ? "expired" : "active",
    test: record.test,
    scopes: [...(record.scopes ?? defaultScopes)],
    allowedAddresses: record.allowedAddresses,
    limits: toApiLimits(record),
    createdAt: record.createdAt,
    createdBy: record.createdBy,
    expiresAt: record.validUntil,
    lastUsedAt: use?.lastUsedAt,
    disabledAt: record.disabledAt,
  };
}

function toApiLimits({ sendLimits }: ApiKeyRecord): ApiKey["limits"] {
  if (sendLimits === undefined) return undefined;
  const { budgetKeyId: _, ...published } = sendLimits;
  return published;
}

/** Returns the key whose daily budget a key uses. */
export function budgetKeyIdOf({ id, sendLimits }: ApiKeyRecord): string {
  return sendLimits?.budgetKeyId ?? id;
}

/** Returns the limits of a key that is made with a key or replaces it. It shares the daily budget. */
export function inheritedSendLimits(key: ApiKeyRecord | undefined): ApiKeyLimits["sendLimits"] {
  if (key?.sendLimits === undefined) return undefined;
  return { ...key.sendLimits, budgetKeyId: budgetKeyIdOf(key) };
}
