import * as z from "zod/mini";

import { dayMs, epochSeconds, now } from "../../platform/clock.ts";
import { digestOfNumber } from "../../platform/table/audit-log.ts";
import { keys, type Key } from "../../platform/table/keys.ts";
import { findItem } from "../../platform/table/read.ts";
import { putItem, putOf } from "../../platform/table/write.ts";

/*
 * An inbound message may be queued while its number is erased. The erasure therefore leaves a mark, and an earlier
 * message is not kept. The mark has a digest of the number, and expires after a month.
 */

/** The mark of an erased number, with the time of the erasure. */
export const ErasedNumber = z.object({
  entity: z.literal("erasedNumber"),
  erasedAt: z.string(),
  expiresAt: z.int(),
});

/** How long a mark is kept. A job can be on its queue and then on the dead-letter queue for at most 14 days each. */
const markedMs = 30 * dayMs;

function markOf(organizationId: string, phoneNumber: string): Key<"erasedNumber"> {
  const sk = `ERASED#${digestOfNumber(organizationId, phoneNumber)}`;
  return { pk: keys.inbound(organizationId, "").pk, sk };
}

/** Marks a number as erased from now on. It is the first step of an erasure. */
export async function markErased(organizationId: string, phoneNumber: string): Promise<void> {
  const at = now();
  const mark: z.infer<typeof ErasedNumber> = {
    entity: "erasedNumber",
    erasedAt: at.toISOString(),
    expiresAt: epochSeconds(new Date(at.getTime() + markedMs)),
  };
  await putItem(putOf(markOf(organizationId, phoneNumber), mark));
}

/**
 * Whether a number has been erased since a time. The caller stores the message first. Then either the erasure finds the
 * message, or the caller finds the mark.
 * @param moment ISO 8601
 */
export async function wasErasedSince(
  organizationId: string,
  phoneNumber: string,
  moment: string,
): Promise<boolean> {
  const mark = await findItem(ErasedNumber, markOf(organizationId, phoneNumber), { consistent: true });
  return mark !== undefined && mark.erasedAt >= moment;
}
