import { defaultSenderId } from "../accounts/organization.ts";
import { ApiError, invalidField } from "../contract/errors.ts";
import type { AcceptedMessage, SendSmsRequest } from "../contract/sms.ts";
import { dayMs, now } from "../platform/clock.ts";
import { dueJob } from "../platform/due-jobs.ts";
import type { Attempt } from "../platform/idempotency.ts";
import { newId } from "../platform/ids.ts";
import { log } from "../platform/log.ts";
import { enqueue, secondsUntil } from "../platform/queue.ts";
import { putItem, transact, type Write } from "../platform/table.ts";
import { ledgerEntry, LedgerEntryRecord } from "../wallet/ledger.ts";
import { debitWallet, type Debit } from "../wallet/wallet.ts";
import { sendJob, waitsInTable } from "./message-job.ts";
import { messageKey, presentPricing, type MessageRecord } from "./message.ts";
import { unitPriceMicros } from "./rate-card.ts";
import { segmentsOf } from "./segments.ts";

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
  const senderId = request.senderId ?? (await defaultSenderId(organizationId));
  if (senderId === undefined) throw new ApiError("MISSING_SENDER_ID");
  const message = newMessage(organizationId, { ...request, senderId, scheduledAt }, queuedAt);
  const debit = await debitWallet(organizationId, message.totalMicros, queuedAt);
  const accepted: AcceptedMessage = {
    id: message.id,
    status: "queued",
    to: message.to,
    queuedAt: message.queuedAt,
    scheduledAt: message.scheduledAt,
    pricing: presentPricing(message),
  };
  await record(message, debit, [
    ...(waitsInTable(message) ? [waitingJob(message)] : []),
    ...(attempt === undefined ? [] : [attempt.complete(accepted)]),
  ]);
  if (!waitsInTable(message)) await queueForSending(message);
  return accepted;
}

/** The write that lets a scheduled message wait in the table for its time. */
function waitingJob(message: MessageRecord): Write {
  const { queue, job } = sendJob(message, 0);
  return dueJob({ id: message.id, dueAt: message.scheduledAt ?? message.queuedAt, queue }, job);
}

/** The time to send at in UTC, or undefined for now. */
function parseSchedule(scheduledAt: string | undefined, at: Date): string | undefined {
  if (scheduledAt === undefined) return undefined;
  const aheadMs = Date.parse(scheduledAt) - at.getTime();
  if (aheadMs <= 0) throw invalidField("scheduledAt", "must be in the future");
  if (aheadMs > maxScheduleAheadMs) throw invalidField("scheduledAt", "must be at most 30 days ahead");
  return new Date(scheduledAt).toISOString();
}

function newMessage(
  organizationId: string,
  request: Omit<SendSmsRequest, "scheduledAt" | "senderId"> & {
    senderId: string;
    scheduledAt: string | undefined;
  },
  queuedAt: Date,
): MessageRecord {
  const { encoding, segments } = segmentsOf(request.message, { unicode: request.language === "Unicode" });
  const unitPrice = unitPriceMicros(request.to);
  return {
    entity: "message",
    id: newId("msg"),
    organizationId,
    status: "queued",
    to: request.to,
    message: request.message,
    senderId: request.senderId,
    language: request.language,
    messageType: request.messageType,
    encoding,
    segments,
    unitPriceMicros: unitPrice,
    totalMicros: unitPrice * segments,
    queuedAt: queuedAt.toISOString(),
    scheduledAt: request.scheduledAt,
    attempts: 0,
    openClaims: 0,
  };
}

/**
 * Writes the message and the ledger entry of its debit. All items are new and their keys unique, so nothing
 * contends. A seq that is taken means that the reconciler gave this debit up and returned the money.
 */
async function record(message: MessageRecord, debit: Debit, together: readonly Write[]): Promise<void> {
  const recorded = await transact([
    ledgerEntry({
      id: debit.entryId,
      organizationId: message.organizationId,
      type: "message",
      seq: debit.seq,
      amountMicros: -debit.amountMicros,
      balanceAfterMicros: debit.balanceAfterMicros,
      messageId: message.id,
      createdAt: message.queuedAt,
    }),
    { put: { ...messageKey(message), ...message }, condition: "attribute_not_exists(pk)" },
    ...together,
  ]).catch(async (error: unknown) => {
    if (await isRecordedAfterAll(message, debit)) return { committed: true } as const;
    throw new ApiError("UNAVAILABLE", { cause: error });
  });
  if (!recorded.committed) throw new ApiError("UNAVAILABLE");
}

/**
 * Whether the transaction landed although its answer was lost. If it did not, its seq is taken by a void entry,
 * so that it cannot land after the caller was told that the message was not accepted; the reconciler refunds it.
 */
async function isRecordedAfterAll(message: MessageRecord, debit: Debit): Promise<boolean> {
  const { organizationId, id } = message;
  log.warn("message.record_ambiguous", { organizationId, messageId: id });
  const sealed = await putItem(
    ledgerEntry({
      id: newId("txn"),
      organizationId,
      type: "void",
      seq: debit.seq,
      amountMicros: -debit.amountMicros,
      balanceAfterMicros: debit.balanceAfterMicros,
      createdAt: now().toISOString(),
    }),
  ).catch(() => undefined);
  return sealed?.applied === false && LedgerEntryRecord.parse(sealed.found).id === debit.entryId;
}

/** Queues a recorded message. A queue that is down costs a delay, not the message: the caller has its 202. */
async function queueForSending(message: MessageRecord): Promise<void> {
  const { queue, job } = sendJob(message, secondsUntil(message.scheduledAt));
  try {
    await enqueue(queue, job);
  } catch (error) {
    log.error("message.enqueue_failed", {
      organizationId: message.organizationId,
      messageId: message.id,
      error,
    });
  }
}
