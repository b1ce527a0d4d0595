import * as z from "zod/mini";

import { digestOfNumber } from "../platform/audit-log.ts";
import { dayMs, epochSeconds, now } from "../platform/clock.ts";
import { keys, type Key } from "../platform/table/keys.ts";
import { findItem, putItem } from "../platform/table/table.ts";

/*
 * A message may be on the queue of reports while its number is erased. So the erasure leaves a mark, and a message that
 * came before it is not kept. The mark has a digest of the number and is gone a month later.
 */

/** That a number was erased, and when. */
const ErasedNumber = z.object({
  entity: z.literal("erasedNumber"),
  erasedAt: z.string(),
  expiresAt: z.int(),
});

/** Longer than a job can be on its queue and, after that, be parked: each is at most 14 days. */
const markedMs = 30 * dayMs;

function markOf(organizationId: string, phoneNumber: string): Key {
  const sk = `ERASED#${digestOfNumber(organizationId, phoneNumber)}`;
  return { pk: keys.inbound(organizationId, "").pk, sk };
}

/** Marks a number as erased from now on. The erasure begins with it. */
export async function markErased(organizationId: string, phoneNumber: string): Promise<void> {
  const at = now();
  const mark: z.infer<typeof ErasedNumber> = {
    entity: "erasedNumber",
    erasedAt: at.toISOString(),
    expiresAt: epochSeconds(new Date(at.getTime() + markedMs)),
  };
  await putItem({ put: { ...markOf(organizationId, phoneNumber), ...mark } });
}

/**
 * Whether a number has been erased since a moment. Asked after a message has been kept: then either the erasure finds the
 * message, or the question finds the mark.
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
