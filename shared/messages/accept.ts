import { ApiError } from "../contract/errors.ts";
import type { SendSmsRequest } from "../contract/sms.ts";
import { now } from "../platform/clock.ts";
import { newId } from "../platform/ids.ts";
import { enqueueAll, secondsUntil } from "../platform/jobs/queue.ts";
import { log } from "../platform/log.ts";
import { keys } from "../platform/table/keys.ts";
import { readItem, transact, type Write } from "../platform/table/table.ts";
import { ledgerEntry, LedgerEntryRecord, type NewLedgerEntry } from "../wallet/ledger.ts";
import { debitWallet, type Debit } from "../wallet/record.ts";
import { countAccepted } from "./counts.ts";
import { sendJob, waitsInTable } from "./message-job.ts";
import { quote } from "./quote.ts";
import { messageKey, type MessageRecord } from "./record.ts";

/**
 * Messages that are paid and recorded together at the most: each takes two writes, its own and its ledger
 * entry's, and DynamoDB takes 100 in one transaction, of which the caller may want a few.
 */
export const maxAcceptedTogether = 48;

export interface NewMessage extends Pick<SendSmsRequest, "language" | "message" | "messageType" | "to"> {
  readonly senderId: string;
  readonly scheduledAt?: string | undefined;
  readonly campaignId?: string;
}

/** A message as it is when it has been accepted, with its price. */
export function newMessage(organizationId: string, request: NewMessage, queuedAt: Date): MessageRecord {
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
    campaignId: request.campaignId,
    ...quote(request),
    queuedAt: queuedAt.toISOString(),
    scheduledAt: request.scheduledAt,
    attempts: 0,
    openClaims: 0,
  };
}

/**
 * Takes the prices of new messages from the wallet, records them together with their ledger entries and
 * `together`, and queues those that no write in the table keeps for later. All are accepted or none. Once they
 * are recorded they are safe; whatever fails after that is made good later.
 * @param messages at most `maxAcceptedTogether`, all of one organisation
 * @throws ApiError WALLET_MISSING, INSUFFICIENT_BALANCE; UNAVAILABLE when none was accepted although the
 *   wallet may have been debited: the reconciler returns that
 */
export async function acceptTogether(
  messages: readonly MessageRecord[],
  together: readonly Write[],
): Promise<void> {
  const [first] = messages;
  if (first === undefined) return;
  const prices = messages.map(({ totalMicros }) => totalMicros);
  const debits = await debitWallet(first.organizationId, prices, new Date(first.queuedAt));
  await record(messages, debits, together);
  await Promise.all([
    queueForSending(messages.filter((message) => !waitsInTable(message))),
    countAccepted(messages),
  ]);
}

/**
 * Writes the messages and the ledger entries of their debits. All items are new and their keys unique, so
 * nothing contends. A seq that is taken means that the reconciler gave a debit up and returned the money.
 */
async function record(
  messages: readonly MessageRecord[],
  debits: readonly Debit[],
  together: readonly Write[],
): Promise<void> {
  const entries = messages.flatMap((message, index) => {
    const debit = debits[index];
    return debit === undefined ? [] : [entryOf(message, debit)];
  });
  const recorded = await transact([
    ...entries.map(ledgerEntry),
    ...messages.map((message) => ({
      put: { ...messageKey(message), ...message },
      condition: "attribute_not_exists(pk)",
    })),
    ...together,
  ]).catch(async (error: unknown) => {
    if (await isRecordedAfterAll(entries)) return { committed: true } as const;
    throw new ApiError("UNAVAILABLE", { cause: error });
  });
  if (!recorded.committed) throw new ApiError("UNAVAILABLE");
}

function entryOf(message: MessageRecord, debit: Debit): NewLedgerEntry {
  return {
    id: debit.entryId,
    organizationId: message.organizationId,
    type: "message",
    seq: debit.seq,
    amountMicros: -debit.amountMicros,
    balanceAfterMicros: debit.balanceAfterMicros,
    messageId: message.id,
    createdAt: message.queuedAt,
  };
}

/**
 * Whether the transaction landed although its answer was lost. If it did not, its first seq is taken by a void
 * entry, so that it cannot land after the caller was told that it did not; the reconciler refunds it all. The
 * seal is a transaction too, for it has to wait for the one that may still be running.
 */
async function isRecordedAfterAll([first]: readonly NewLedgerEntry[]): Promise<boolean> {
  if (first === undefined) return false;
  const { organizationId, messageId, ...entry } = first;
  log.warn("message.record_ambiguous", { organizationId, messageId });
  const seal = ledgerEntry({
    ...entry,
    id: newId("txn"),
    organizationId,
    type: "void",
    createdAt: now().toISOString(),
  });
  const sealed = await transact([seal]).catch(() => undefined);
  if (sealed?.committed === true) return false;
  const key = keys.ledgerEntry(organizationId, entry.seq);
  const found = await readItem(LedgerEntryRecord, key, { consistent: true }).catch(() => undefined);
  return found?.id === first.id;
}

/** Queues recorded messages. A queue that is down costs a delay, not a message: they have been accepted. */
async function queueForSending(messages: readonly MessageRecord[]): Promise<void> {
  const jobs = messages.map((message) => sendJob(message, secondsUntil(message.scheduledAt)));
  for (const queue of new Set(jobs.map((each) => each.queue))) {
    const ofQueue = jobs.filter((each) => each.queue === queue).map(({ job }) => job);
    try {
      await enqueueAll(queue, ofQueue);
    } catch (error) {
      const [first] = messages;
      log.error("message.enqueue_failed", {
        organizationId: first?.organizationId,
        messageId: first?.id,
        count: ofQueue.length,
        error,
      });
    }
  }
}
