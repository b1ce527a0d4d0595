import { isDeepStrictEqual } from "node:util";

import type { ApiKey, UpdateApiKeyRequest } from "../../api/contract/api-keys.ts";
import { ApiError } from "../../api/contract/errors.ts";
import { requireScope, type Actor } from "../../platform/auth/actor.ts";
import { transact, untilUndisturbed } from "../../platform/table/transact.ts";
import {
  allApiKeys,
  budgetKeyIdOf,
  changeSendLimits,
  readApiKey,
  toApiApiKey,
} from "../../tenancy/api-keys/record.ts";
import { keyManagerOf, requireGiveable } from "./limits.ts";

/**
 * Changes the limits on the sends of a key, and of all keys that share its budget. These were made with it, or replace it.
 * Otherwise a key with wider limits would stay. Only a person who may make such a key can change it. A key without
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
  requireGiveable(await keyManagerOf(actor), record);
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
    // One after the other, because a key seldom has others. A rejected one was disabled meanwhile.
    const others = limited.filter((each) => !isDeepStrictEqual(each.sendLimits, sendLimits));
    for (const each of others) await transact({ key: changeSendLimits(each, sendLimits) });
    return others.length === 0 ? toApiApiKey(changed) : undefined;
  });
}
