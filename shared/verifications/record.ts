import * as z from "zod/mini";

import { ApiError, orNotFound } from "../api/contract/errors.ts";
import { storedDetails } from "../api/contract/message-details.ts";
import { VerificationStatus, type Verification } from "../api/contract/verifications.ts";
import { CodeSource } from "../messages/message/record.ts";
import { amountOf } from "../money/wallet/money.ts";
import { isVisible, type Viewer } from "../platform/auth/actor.ts";
import { now } from "../platform/clock.ts";
import { config } from "../platform/config.ts";
import { isTestId, testMarkOf } from "../platform/ids.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem } from "../platform/table/read.ts";

/** The most checks and sends of a verification. */
export const maxChecks = 5;
export const maxSends = 5;

/** A code with fewer digits has three checks. */
const shortLength = 6;
const maxChecksOfShort = 3;

/** Returns how many checks count as made when a code is sent. Each release then allows a short code the same number. */
export function checksBefore({ length }: CodeSource): number {
  return length < shortLength ? maxChecks - maxChecksOfShort : 0;
}

export const VerificationRecord = z.object({
  entity: z.literal("verification"),
  id: z.string(),
  organizationId: z.string(),
  /** `pending` also after `validUntil`, until a job has noted the expiry: see `statusOf`. */
  status: VerificationStatus,
  to: z.string(),
  profile: z.string(),
  /** The country of its number, also after the erasure of the number. */
  country: z.optional(z.string()),
  locale: z.optional(z.string()),
  /** The checks so far, with those that count as made from the beginning. */
  checks: z.int().check(z.nonnegative()),
  sends: z.int().check(z.nonnegative()),
  /** When the code can be sent again at the earliest, in ISO 8601; absent after the last time. */
  nextSendAt: z.optional(z.string()),
  validUntil: z.string(),
  createdAt: z.string(),
  endedAt: z.optional(z.string()),
  /** The text, with `{code}`, and the sender of its messages. */
  text: z.string(),
  senderId: z.optional(z.string()),
  code: CodeSource,
  metadata: storedDetails.metadata,
  /** The rule of the guard that blocked it, or would have blocked it. */
  guardRule: z.optional(z.string()),
  /** The prices of its messages so far. */
  messageMicros: z.int().check(z.nonnegative()),
  feeMicros: z.int().check(z.nonnegative()),
  /** Whether the fee is still to be returned, or was; absent while it is kept. */
  refund: z.optional(z.enum(["due", "done"])),
  messageIds: z.array(z.string()),
  /** Names the call that ended it, so that its repeat after a lost response recognizes it. */
  endToken: z.optional(z.string()),
  /** Recognizes the repeat of its last check, and then only that of the check that approved it: see `proofOfCheck`. */
  checkProof: z.optional(z.string()),
  /** How often a check was repeated, or tried to be, after the approval. */
  repeats: z.optional(z.int()),
  expiresAt: z.int(),
});
export type VerificationRecord = z.infer<typeof VerificationRecord>;

/** The last verification of a number in a profile. Others start only once it has ended. */
export const VerifyingRecord = z.object({
  entity: z.literal("verifying"),
  verificationId: z.string(),
  validUntil: z.string(),
  expiresAt: z.int(),
});

/**
 * Returns the key of the pointer to the last verification of a number. Test keys have pointers of their own. So have codes of
 * the caller's own, so that no such code takes the place of one that the gateway made.
 */
export function pointerKey({
  organizationId,
  profile,
  to,
  isTest,
  isOwn,
}: Pick<VerificationRecord, "organizationId" | "profile" | "to"> & Record<"isOwn" | "isTest", boolean>) {
  return keys.verifying(organizationId, profile, to, `${isTest ? "test#" : ""}${isOwn ? "own#" : ""}`);
}

/** Whether a verification is pending now. */
export function isPending(record: VerificationRecord): boolean {
  return statusOf(record) === "pending";
}

/** Returns the requirement that a verification is pending at a time. */
export function whilePending(at: Date) {
  return { is: { status: "pending" }, above: { validUntil: at.toISOString() } } as const;
}

/** Returns the status of a verification now. */
export function statusOf({ status, validUntil }: VerificationRecord): VerificationStatus {
  return status === "pending" && validUntil <= now().toISOString() ? "expired" : status;
}

/** Reads a verification that is to be changed. Live keys change no test verifications. @throws ApiError NOT_FOUND */
export async function readToChange(viewer: Viewer, id: string): Promise<VerificationRecord> {
  if (isTestId(id) !== viewer.isTest) throw new ApiError("NOT_FOUND");
  return readVerification(viewer, id);
}

/** Reads a verification as it is now. @throws ApiError NOT_FOUND */
export async function readVerification(viewer: Viewer, id: string): Promise<VerificationRecord> {
  return orNotFound(isVisible(viewer, id) ? await findVerification(viewer.organizationId, id) : undefined);
}

export async function findVerification(
  organizationId: string,
  id: string,
): Promise<VerificationRecord | undefined> {
  return findItem(VerificationRecord, keys.verification(organizationId, id), { consistent: true });
}

export function toApiVerification(record: VerificationRecord): Verification {
  const status = statusOf(record);
  return {
    id: record.id,
    status,
    to: record.to,
    profile: record.profile,
    channel: "sms",
    locale: record.locale,
    ...testMarkOf(record.id),
    createdAt: record.createdAt,
    expiresAt: record.validUntil,
    endedAt: record.endedAt,
    sends: record.sends,
    nextSendAt: status === "pending" ? record.nextSendAt : undefined,
    checksLeft: Math.max(0, maxChecks - record.checks),
    guardRule: record.guardRule,
    pricing: pricingOf(record),
    metadata: record.metadata,
    messageIds: record.messageIds,
  };
}

/** Returns the price of a verification. A fee that is to be returned no longer counts. */
export function pricingOf(record: VerificationRecord): Verification["pricing"] {
  const { messageMicros, feeMicros, refund } = record;
  return {
    message: amountOf(messageMicros),
    fee: amountOf(refund === undefined ? feeMicros : 0),
    currency: config.currency(),
  };
}
