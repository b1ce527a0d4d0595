import type * as z from "zod";

import type { ApiKey, CreateApiKeyRequest, CreatedApiKey } from "../contract/accounts.ts";
import { ApiError } from "../contract/errors.ts";
import type { Page, PageQuery } from "../contract/primitives.ts";
import { apiKeyHint, hashApiKeySecret, newApiKeySecret } from "../platform/auth/api-key-secret.ts";
import type { Actor, CredentialRecord } from "../platform/auth/authenticate.ts";
import { now } from "../platform/clock.ts";
import { newId } from "../platform/ids.ts";
import { keys, type Key } from "../platform/table/keys.ts";
import { pageOf } from "../platform/table/page.ts";
import { findItem, itemsOf, queryRows, transact, type Update } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
import { ApiKeyRecord, presentApiKey } from "./api-key-record.ts";
import { takeQuota } from "./quota.ts";

/** Disabled keys stay listed and count. */
const maxApiKeys = 1_000;

/**
 * Creates an API key. Its secret is returned here once and stored only as a hash.
 * @throws ApiError CONFLICT when the organisation has as many keys as it may have; UNAVAILABLE
 */
export async function createApiKey(actor: Actor, request: CreateApiKeyRequest): Promise<CreatedApiKey> {
  const secret = newApiKeySecret();
  const record: ApiKeyRecord = {
    entity: "apiKey",
    id: newId("key"),
    organizationId: actor.organizationId,
    secretHash: hashApiKeySecret(secret),
    hint: apiKeyHint(secret),
    name: request.name,
    createdAt: now().toISOString(),
  };
  const credential: z.infer<typeof CredentialRecord> = {
    entity: "credential",
    keyId: record.id,
    organizationId: actor.organizationId,
    userId: actor.userId,
  };
  const created = await transact([
    takeQuota(actor.organizationId, "apiKeyCount", maxApiKeys),
    {
      put: { ...keys.apiKeyOfOrganization(actor.organizationId, record.id), ...record },
      condition: "attribute_not_exists(pk)",
    },
    {
      put: { ...keys.apiKey(record.secretHash), ...credential },
      condition: "attribute_not_exists(pk)",
    },
  ]);
  if (created.outcome === "refused") {
    throw new ApiError("CONFLICT", { message: `An organisation has at most ${maxApiKeys} API keys.` });
  }
  return { ...presentApiKey(record), secret };
}

/** The organisation's keys, newest first, without their secrets. */
export async function listApiKeys(organizationId: string, query: PageQuery): Promise<Page<ApiKey>> {
  const { pk } = keys.organization(organizationId);
  const rows = await queryRows(ApiKeyRecord, {
    pk,
    from: "KEY#",
    to: "KEY#~",
    newestFirst: true,
    limit: maxApiKeys,
    consistent: true,
  });
  return pageOf(itemsOf(rows).map(presentApiKey), query);
}

/**
 * Revokes a key: the next request that carries it is refused. Disabling a disabled key changes nothing.
 * @throws ApiError NOT_FOUND, also for a key of another organisation; UNAVAILABLE
 */
export async function disableApiKey(organizationId: string, keyId: string): Promise<ApiKey> {
  const key = keys.apiKeyOfOrganization(organizationId, keyId);
  const record = await findItem(ApiKeyRecord, key, { consistent: true });
  if (record === undefined) throw new ApiError("NOT_FOUND");
  if (record.disabledAt !== undefined) return presentApiKey(record);
  const disabledAt = now().toISOString();
  const disable = (each: Key): Update =>
    updateOf(each, { set: { disabledAt } }, { present: ["pk"], absent: ["disabledAt"] });
  const disabled = await transact([disable(key), disable(keys.apiKey(record.secretHash))]);
  if (disabled.outcome === "committed") return presentApiKey({ ...record, disabledAt });
  // Only another call that disabled it in the meantime can stand in the way; its time is the one that counts.
  return presentApiKey(ApiKeyRecord.parse(disabled.refusals[0]?.found));
}
