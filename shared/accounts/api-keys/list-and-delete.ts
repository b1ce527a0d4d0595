import type { ApiKey } from "../../api/contract/api-keys.ts";
import { ApiError } from "../../api/contract/errors.ts";
import type { Page, PageQuery } from "../../api/contract/primitives.ts";
import { keyBudgetName } from "../../messages/accept/key-limits.ts";
import { amountOf } from "../../money/wallet/money.ts";
import type { Actor } from "../../platform/auth/actor.ts";
import { ApiKeyUseRecord } from "../../platform/auth/api-key-use.ts";
import { hasExpired } from "../../platform/auth/expiry.ts";
import { usesToday } from "../../platform/limits/daily.ts";
import { keys } from "../../platform/table/keys.ts";
import { pageOf } from "../../platform/table/page.ts";
import { itemsOf, queryRows } from "../../platform/table/read.ts";
import { transact } from "../../platform/table/transact.ts";
import { deleteOf } from "../../platform/table/write.ts";
import {
  allApiKeys,
  budgetKeyIdOf,
  maxApiKeys,
  toApiApiKey,
  readApiKey,
} from "../../tenancy/api-keys/record.ts";
import { releaseQuota } from "../../tenancy/organizations/quota.ts";
import { disableApiKey } from "./disable-and-revoke.ts";
import { endKeysMadeWith } from "./end.ts";
import { keyManagerOf, requireEndable } from "./limits.ts";

/** Returns the organization's keys, newest first, without their secrets. Each row with a daily budget costs one more read. */
export async function listApiKeys(organizationId: string, query: PageQuery): Promise<Page<ApiKey>> {
  const [records, uses] = await Promise.all([allApiKeys(organizationId), usesOfKeys(organizationId)]);
  const { rows, meta } = pageOf(records, query);
  const shown = rows.map(async (record) => ({
    ...toApiApiKey(record, uses.get(record.id)),
    ...(record.sendLimits?.dailyBudget !== undefined && {
      spentToday: amountOf(await usesToday(keyBudgetName, budgetKeyIdOf(record))),
    }),
  }));
  return { rows: await Promise.all(shown), meta };
}

/** Returns when each key of an organization was used last, by the id of the key. */
export async function usesOfKeys(organizationId: string): Promise<ReadonlyMap<string, ApiKeyUseRecord>> {
  const { pk } = keys.apiKeyUse(organizationId, "");
  const uses = itemsOf(await queryRows(ApiKeyUseRecord, { pk, limit: maxApiKeys }));
  return new Map(uses.map((use) => [use.keyId, use]));
}

/**
 * Revokes a key and deletes it. The keys that were made with an active key are revoked too. The data that it made stays,
 * and still names the key.
 * @throws ApiError NOT_FOUND, also for a key of another organization. INSUFFICIENT_SCOPE. UNAVAILABLE when not all keys
 *   were revoked: the same call continues
 */
export async function deleteApiKey(actor: Actor, keyId: string): Promise<{ id: string; deleted: true }> {
  const { organizationId } = actor;
  const [manager, record] = await Promise.all([keyManagerOf(actor), readApiKey(organizationId, keyId)]);
  requireEndable(manager, record);
  const isActive = record.disabledAt === undefined && !hasExpired(record);
  if (isActive) await disableApiKey(actor, keyId, { descendants: true });
  // An earlier call may have ended between the two.
  else if (record.endsMadeKeys === true) await endKeysMadeWith(organizationId, keyId);
  const deleted = await transact({
    key: deleteOf(keys.apiKeyOfOrganization(organizationId, keyId), { present: ["pk"] }),
    others: [deleteOf(keys.apiKey(record.secretHash)), deleteOf(keys.apiKeyUse(organizationId, keyId))],
    quota: releaseQuota(organizationId, "apiKeyCount"),
  });
  if (deleted.outcome === "rejected") throw new ApiError("NOT_FOUND");
  return { id: keyId, deleted: true };
}
