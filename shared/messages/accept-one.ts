import { defaultSenderId } from "../accounts/organization-record.ts";
import { ApiError, invalidField } from "../contract/errors.ts";
import type { AcceptedMessage, SendSmsRequest } from "../contract/sms.ts";
import { dayMs, now } from "../platform/clock.ts";
import type { Attempt } from "../platform/http/idempotency.ts";
import { dueJob } from "../platform/jobs/due-jobs.ts";
import type { Write } from "../platform/table/table.ts";
import { acceptTogether, newMessage } from "./accept.ts";
import { sendJob, waitsInTable } from "./message-job.ts";
import { presentPricing, type MessageRecord } from "./record.ts";

const maxScheduleAheadMs = 30 * dayMs;

/**
 * Accepts a message: takes its price from the wallet, records it together with the ledger entry, and queues
 * it for sending. Once recorded the message is safe; whatever fails after that is made good later.
 * @throws ApiError VALIDATION_ERROR, MISSING_SENDER_ID, WALLET_MISSING, INSUFFICIENT_BALANCE, in this order;
 *   UNAVAILABLE when the message was not accepted although the wallet may have been debited
 */
export async function acceptMessage(
  organizationId: string,
  request: SendSmsRequest,
  attempt?: Attempt,
): Promise<AcceptedMessage> {
  const queuedAt = now();
  const scheduledAt = parseSchedule(request.scheduledAt, queuedAt);
  const senderId = await usableSenderId(organizationId, request.senderId);
  const message = newMessage(organizationId, { ...request, senderId, scheduledAt }, queuedAt);
  const accepted: AcceptedMessage = {
    id: message.id,
    status: "queued",
    to: message.to,
    queuedAt: message.queuedAt,
    scheduledAt: message.scheduledAt,
    pricing: presentPricing(message),
  };
  await acceptTogether(
    [message],
    [
      ...(waitsInTable(message) ? [waitingJob(message)] : []),
      ...(attempt === undefined ? [] : [attempt.complete(accepted)]),
    ],
  );
  return accepted;
}

/**
 * The time to send at in UTC, or undefined for now.
 * @throws ApiError VALIDATION_ERROR in the past, and beyond 30 days ahead
 */
export function parseSchedule(scheduledAt: string | undefined, at: Date): string | undefined {
  if (scheduledAt === undefined) return undefined;
  const aheadMs = Date.parse(scheduledAt) - at.getTime();
  if (aheadMs <= 0) throw invalidField("scheduledAt", "must be in the future");
  if (aheadMs > maxScheduleAheadMs) throw invalidField("scheduledAt", "must be at most 30 days ahead");
  return new Date(scheduledAt).toISOString();
}

/**
 * The sender ID that was asked for, or else the organisation's approved one.
 * @throws ApiError MISSING_SENDER_ID when there is neither
 */
export async function usableSenderId(organizationId: string, senderId: string | undefined): Promise<string> {
  const usable = senderId ?? (await defaultSenderId(organizationId));
  if (usable === undefined) throw new ApiError("MISSING_SENDER_ID");
  return usable;
}

/** The write that lets a scheduled message wait in the table for its time. */
function waitingJob(message: MessageRecord): Write {
  const { queue, job } = sendJob(message, 0);
  return dueJob({ id: message.id, dueAt: message.scheduledAt ?? message.queuedAt, queue }, job);
}
