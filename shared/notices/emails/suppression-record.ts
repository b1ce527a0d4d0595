import { createHash } from "node:crypto";

import * as z from "zod/mini";

import { now } from "../../platform/clock.ts";
import { keys, type Key } from "../../platform/table/keys.ts";
import { findItem } from "../../platform/table/read.ts";
import { updateItem, updateOf } from "../../platform/table/write.ts";

export type SuppressionReason = "bounce" | "complaint";

/**
 * The suppression of an address after a bounce or a complaint, and whether an operator has lifted it since. The key is a
 * hash, because the address may belong to a person without an account.
 */
export const SuppressionRecord = z.object({
  entity: z.literal("emailSuppression"),
  reason: z.optional(z.enum(["bounce", "complaint"])),
  /** When the newest such email was sent. */
  emailSentAt: z.optional(z.string()),
  /** Only an email that was sent later counts again. */
  liftedAt: z.optional(z.string()),
});

/** Why and since when no emails are sent to an address. */
export interface Suppression {
  readonly reason: SuppressionReason;
  readonly since: string;
}

/** Suppresses emails to an address, unless a newer suppression or a later lifting is recorded. */
export async function suppressEmail(
  email: string,
  reason: SuppressionReason,
  emailSentAt: string,
): Promise<void> {
  const noted = updateOf(
    keyOf(email),
    { set: { entity: "emailSuppression", reason, emailSentAt } },
    { ifPresent: { below: { emailSentAt } } },
  );
  await updateItem(SuppressionRecord, noted);
}

/** Finds the suppression of an address; undefined if emails to it are sent. */
export async function findSuppression(email: string): Promise<Suppression | undefined> {
  const found = await findItem(SuppressionRecord, keyOf(email), { consistent: true });
  const { reason, emailSentAt, liftedAt } = found ?? {};
  if (reason === undefined || emailSentAt === undefined) return undefined;
  return liftedAt !== undefined && emailSentAt <= liftedAt ? undefined : { reason, since: emailSentAt };
}

/** Lets emails be sent to an address again. Later feedback on earlier emails changes nothing. */
export async function liftSuppression(email: string): Promise<void> {
  const lifted = updateOf(keyOf(email), {
    set: { entity: "emailSuppression", liftedAt: now().toISOString() },
  });
  await updateItem(SuppressionRecord, lifted);
}

function keyOf(email: string): Key<"emailSuppression"> {
  return keys.emailSuppression(createHash("sha256").update(email).digest("hex"));
}
