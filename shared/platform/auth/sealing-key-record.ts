import * as z from "zod/mini";

import { now } from "../clock.ts";
import { log } from "../log.ts";
import { keys, type SealedKind } from "../table/keys.ts";
import { putItem, putOf } from "../table/write.ts";
import { sealingKeyIds } from "./sealed-text.ts";

/** The key that the newest texts of a kind are sealed with. A stack that adopts the table needs that key. */
export const SealingKeyRecord = z.object({
  entity: z.literal("sealingKey"),
  keyId: z.string(),
  usedAt: z.string(),
});

/** The keys that this function has noted since it started. */
const noted = new Map<SealedKind, string>();

/**
 * Notes in the table which key a text is sealed with, once in the life of a function. A failure is only logged, because sealed
 * texts can be read without the note.
 */
export async function noteSealingKey(kind: SealedKind, keyText: string): Promise<void> {
  const [keyId] = sealingKeyIds(keyText);
  if (noted.get(kind) === keyId) return;
  const record: z.infer<typeof SealingKeyRecord> = {
    entity: "sealingKey",
    keyId,
    usedAt: now().toISOString(),
  };
  try {
    await putItem(putOf(keys.sealingKey(kind), record));
    noted.set(kind, keyId);
  } catch (error) {
    log.warn("sealing_key.not_noted", { error });
  }
}
