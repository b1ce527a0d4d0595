import * as z from "zod/mini";

import { redactedText } from "../messages/message/record.ts";
import { isTestId } from "../platform/ids.ts";
import { keys } from "../platform/table/keys.ts";
import { forEachOf } from "../platform/table/lists.ts";
import { deleteItem, updateItem, updateOf } from "../platform/table/write.ts";
import { endCount } from "./checks-of-day.ts";
import { eraseStartsOf } from "./guard/guard.ts";
import { pointerKey } from "./record.ts";

/** A verification as it is stored, also one that does not match its schema. */
const Stored = z.object({
  sk: z.string(),
  to: z.optional(z.string()),
  profile: z.optional(z.string()),
  status: z.optional(z.string()),
  refund: z.optional(z.string()),
  feeMicros: z.optional(z.number()),
});
type Stored = z.infer<typeof Stored>;

async function forEachVerification(
  organizationId: string,
  work: (stored: Stored) => Promise<void>,
): Promise<void> {
  const partitions = [keys.verification(organizationId, "").pk, keys.testVerifications(organizationId)];
  await forEachOf(Stored, partitions, work);
}

/** Deletes the pointer to a verification, unless it points to a later one. */
async function deletePointer(organizationId: string, { sk, to = "", profile = "" }: Stored): Promise<void> {
  for (const isOwn of [false, true]) {
    const key = pointerKey({ organizationId, profile, to, isTest: isTestId(sk), isOwn });
    await deleteItem(key, { is: { verificationId: sk } });
  }
}

/**
 * Erases a number from an organization's verifications. A pending one keeps its state, so that its fee returns. The pointer
 * goes first, because only its verification shows where it is.
 */
export async function eraseVerificationsOf(organizationId: string, phoneNumber: string): Promise<void> {
  await forEachVerification(organizationId, async (stored) => {
    if (stored.to !== phoneNumber) return;
    await deletePointer(organizationId, stored);
    const key = keys.verification(organizationId, stored.sk);
    const changes = { set: { to: redactedText }, remove: ["metadata"] } as const;
    await updateItem(z.unknown(), updateOf(key, changes, { present: ["pk"] }));
  });
  await endCount({ organizationId, to: phoneNumber });
  await eraseStartsOf(organizationId, phoneNumber);
}

/** Deletes an organization's verifications. @returns how many stay, because their fee is still to be returned */
export async function deleteVerifications(organizationId: string): Promise<number> {
  let left = 0;
  await forEachVerification(organizationId, async (stored) => {
    const { status, refund, feeMicros = 0, sk } = stored;
    if (refund === "due" || (status === "pending" && feeMicros > 0)) {
      left += 1;
      return;
    }
    await deletePointer(organizationId, stored);
    await deleteItem(keys.verification(organizationId, sk));
  });
  return left;
}
