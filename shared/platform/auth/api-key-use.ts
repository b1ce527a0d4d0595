import * as z from "zod/mini";

import { hourMs, now } from "../clock.ts";
import { log } from "../log.ts";
import { keys } from "../table/keys.ts";
import { updateItem } from "../table/table.ts";
import { updateOf } from "../table/update.ts";

/*
 * When API keys were last used, to the hour. It stands in items of its own, so that whoever notes it may write nothing
 * else of a key.
 */

export const ApiKeyUseRecord = z.object({
  entity: z.literal("apiKeyUse"),
  keyId: z.string(),
  lastUsedAt: z.string(),
});
export type ApiKeyUseRecord = z.infer<typeof ApiKeyUseRecord>;

/** A use is noted when the last one that was noted is older than this. */
const noteEveryMs = hourMs;

/** Keys whose uses this function remembers, so that it does not ask the table at each call. */
const maxRemembered = 10_000;
const notedAtMs = new Map<string, number>();

/**
 * Notes that a key is used, once an hour: the first call of an hour in each running function asks the table, which takes
 * one of them. What goes wrong is logged, and fails nothing.
 */
export async function noteUse(key: { organizationId: string; keyId: string }): Promise<void> {
  const at = now();
  const earliest = at.getTime() - noteEveryMs;
  if ((notedAtMs.get(key.keyId) ?? Number.NEGATIVE_INFINITY) > earliest) return;
  if (notedAtMs.size >= maxRemembered) notedAtMs.clear();
  notedAtMs.set(key.keyId, at.getTime());
  try {
    await updateItem(
      ApiKeyUseRecord,
      updateOf(
        keys.apiKeyUse(key.organizationId, key.keyId),
        { set: { entity: "apiKeyUse", keyId: key.keyId, lastUsedAt: at.toISOString() } },
        {
          where: "attribute_not_exists(#lastUsedAt) OR #lastUsedAt <= :earliest",
          values: { ":earliest": new Date(earliest).toISOString() },
        },
      ),
      { bestEffort: true },
    );
  } catch (error) {
    log.warn("api_key.use_not_noted", { organizationId: key.organizationId, apiKeyId: key.keyId, error });
  }
}
