import { randomUUID } from "node:crypto";

import { ApiError } from "../api/contract/errors.ts";
import type { WebhookEvent } from "../api/contract/events.ts";
import { PhoneNumber } from "../api/contract/phone-numbers.ts";
import type { Verification, VerificationOutcome } from "../api/contract/verifications.ts";
import { MessageRecord } from "../messages/message/record.ts";
import { postToWallet } from "../money/wallet/post.ts";
import { eventJob } from "../notices/event-job.ts";
import type { Viewer } from "../platform/auth/actor.ts";
import { now } from "../platform/clock.ts";
import { isTestId, momentOf, testMarkOf } from "../platform/ids.ts";
import { ReturnsLater } from "../platform/jobs/job.ts";
import { enqueue } from "../platform/jobs/queue.ts";
import { log } from "../platform/log.ts";
import type { Requirements } from "../platform/table/expressions.ts";
import { keys } from "../platform/table/keys.ts";
import { messageKey } from "../platform/table/shards.ts";
import { updateItem, updateOf } from "../platform/table/write.ts";
import { stateOfOrganization, type OrganizationRecord } from "../tenancy/organizations/record.ts";
import { endCount } from "./checks-of-day.ts";
import { endingJob, type EndingJob } from "./ending-job.ts";
import { noteApproved } from "./guard/guard.ts";
import {
  findVerification,
  isPending,
  pricingOf,
  readToChange,
  toApiVerification,
  VerificationRecord,
  whilePending,
} from "./record.ts";

type End = "approved" | "cancelled" | "expired" | "failed";

/** Ends a pending verification. @returns undefined when another call ended it first */
async function end(
  { organizationId, id, feeMicros }: VerificationRecord,
  status: End,
  at: Date,
  requires: Requirements<"verification"> = whilePending(at),
  checkProof?: string,
): Promise<VerificationRecord | undefined> {
  const refund = status === "approved" || feeMicros === 0 ? undefined : "due";
  const set = { status, endedAt: at.toISOString(), endToken: randomUUID(), refund, checkProof } as const;
  const remove = checkProof === undefined ? (["checkProof"] as const) : [];
  const ended = await updateItem(
    VerificationRecord,
    updateOf(keys.verification(organizationId, id), { set, remove }, requires),
    { isOwn: ({ endToken }) => endToken === set.endToken },
  );
  return ended.applied ? ended.item : undefined;
}

/**
 * Ends a pending verification for its customer, and queues the rest. The job that its start stored does the rest once more.
 * @param checkProof recognizes the repeat of the check that approved it
 * @throws ApiError VERIFICATION_NOT_PENDING
 */
export async function endNow(
  { webhookCount }: Pick<OrganizationRecord, "webhookCount">,
  record: VerificationRecord,
  status: Exclude<End, "expired">,
  checkProof?: string,
): Promise<VerificationRecord> {
  const ended = await end(record, status, now(), undefined, checkProof);
  if (ended === undefined) throw new ApiError("VERIFICATION_NOT_PENDING");
  const event = webhookCount > 0 ? eventOf(ended) : undefined;
  const jobs = [
    ...(ended.refund === "due" ? [endingJob(ended)] : []),
    ...(event === undefined ? [] : [eventJob(ended.organizationId, event)]),
  ];
  await Promise.all(jobs.map(enqueue)).catch((error: unknown) => {
    log.warn("verification.ending_pending", { organizationId: ended.organizationId, error });
  });
  if (status === "approved" && !isTestId(ended.id))
    await Promise.all([endCount(ended), noteApproved({ ...ended, startedAt: momentOf(ended.id) })]);
  return ended;
}

/**
 * Reports the outcome of a verification with a code of the caller's own.
 * @throws ApiError NOT_FOUND, VERIFICATION_NOT_PENDING; CONFLICT if the gateway made the code
 */
export async function reportOutcome(
  organization: Pick<OrganizationRecord, "webhookCount">,
  viewer: Viewer,
  id: string,
  { outcome }: VerificationOutcome,
): Promise<Verification> {
  const record = await readToChange(viewer, id);
  if (!isPending(record)) throw new ApiError("VERIFICATION_NOT_PENDING");
  if (record.code.sealed === undefined) {
    throw new ApiError("CONFLICT", { message: "The gateway made this code, so it has to check it." });
  }
  return toApiVerification(await endNow(organization, record, outcome));
}

/** Cancels a pending verification. @throws ApiError NOT_FOUND, VERIFICATION_NOT_PENDING */
export async function cancelVerification(
  organization: Pick<OrganizationRecord, "webhookCount">,
  viewer: Viewer,
  id: string,
): Promise<Verification> {
  const record = await readToChange(viewer, id);
  return toApiVerification(await endNow(organization, record, "cancelled"));
}

/**
 * Completes the end of a verification: notes that it has expired, returns its fee once, and queues its event. A repetition
 * changes nothing, apart from repeating the event.
 * @throws ReturnsLater before its time; ApiError when the wallet is contended, so that the job returns
 */
export async function completeEnding({
  organizationId,
  verificationId,
  validUntil,
}: EndingJob): Promise<void> {
  let record = await findVerification(organizationId, verificationId);
  if (record?.status === "pending") {
    if (isPending(record)) {
      if (record.validUntil !== validUntil) return;
      throw new ReturnsLater("the code is still valid");
    }
    record =
      (await end(record, "expired", new Date(record.validUntil), {
        is: { status: "pending", validUntil: record.validUntil },
      })) ?? (await findVerification(organizationId, verificationId));
  }
  if (record === undefined) return;
  if (record.refund === "due") {
    const key = keys.verification(organizationId, verificationId);
    await postToWallet({
      organizationId,
      type: "refund",
      amountMicros: record.feeMicros,
      verificationId,
      country: record.country,
      together: () => [updateOf(key, { set: { refund: "done" } }, { is: { refund: "due" } })],
    });
  }
  await noteFee(record);
  const event = (await stateOfOrganization(organizationId)).hasWebhooks ? eventOf(record) : undefined;
  if (event !== undefined) await enqueue(eventJob(organizationId, event));
}

/** Notes at the message of a fee whether it is kept, so that the usage of its day can be final. */
async function noteFee({ organizationId, status, feeMicros, messageIds }: VerificationRecord): Promise<void> {
  const [id] = messageIds;
  if (id === undefined || feeMicros === 0 || status === "pending") return;
  const set = { fee: status === "approved" ? "kept" : "returned" } as const;
  // The retention may have deleted it.
  const update = updateOf(messageKey({ organizationId, id }), { set }, { present: ["pk"] });
  await updateItem(MessageRecord, update);
}

/** Returns the event for the customer; none for a verification that was cancelled or whose number was erased. */
export function eventOf(record: VerificationRecord): WebhookEvent | undefined {
  const { id, to, profile, sends, metadata, status, endedAt, createdAt } = record;
  if (!PhoneNumber.safeParse(to).success || status === "pending" || status === "cancelled") return undefined;
  const data = { id, to, profile, sends, pricing: pricingOf(record), metadata, ...testMarkOf(id) };
  return { event: `verification.${status}`, timestamp: endedAt ?? createdAt, data };
}
