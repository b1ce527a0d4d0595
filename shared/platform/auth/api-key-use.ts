import * as z from "zod/mini";

import { BoundedMap } from "../bounded-map.ts";
import { hourMs, now } from "../clock.ts";
import { log } from "../log.ts";
import { keys } from "../table/keys.ts";
import { updateItem, updateOf } from "../table/write.ts";

/*
 * The last uses of API keys, to the hour. They are separate items, so that the functions that note them need no permission to
 * change keys.
 */

export const ApiKeyUseRecord = z.object({
  entity: z.literal("apiKeyUse"),
  keyId: z.string(),
  lastUsedAt: z.string(),
});
export type ApiKeyUseRecord = z.infer<typeof ApiKeyUseRecord>;

/** A use is noted when the last noted use is older than this. */
const noteEveryMs = hourMs;

/** The uses that this function remembers, so that it does not write for each call. */
const notedAtMs = new BoundedMap<number>();

/**
 * Notes the use of a key once an hour. Each running function tries it with the first call of an hour, and the table accepts
 * one of them. Errors are logged and fail nothing.
 */
export async function noteUse(key: { organizationId: string; keyId: string }): Promise<void> {
  const at = now();
  const earliest = at.getTime() - noteEveryMs;
  if ((notedAtMs.get(key.keyId) ?? Number.NEGATIVE_INFINITY) > earliest) return;
  notedAtMs.set(key.keyId, at.getTime());
  try {
    await updateItem(
      ApiKeyUseRecord,
      updateOf(
        keys.apiKeyUse(key.organizationId, key.keyId),
        { set: { entity: "apiKeyUse", keyId: key.keyId, lastUsedAt: at.toISOString() } },
        { ifPresent: { atMost: { lastUsedAt: new Date(earliest).toISOString() } } },
      ),
      { bestEffort: true },
    );
  } catch (error) {
    log.warn("api_key.use_not_noted", { organizationId: key.organizationId, apiKeyId: key.keyId, error });
  }
}
