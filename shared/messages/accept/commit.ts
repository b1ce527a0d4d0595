import type { RateLimitStatus } from "../../api/contract/errors.ts";
import { debitFor, recordDebit } from "../../money/wallet/charge.ts";
import type { Charge } from "../../money/wallet/debit.ts";
import { sendRateStatus } from "../../money/wallet/spending-limits.ts";
import { secondsUntil } from "../../platform/jobs/job.ts";
import { enqueueAll } from "../../platform/jobs/queue.ts";
import { log } from "../../platform/log.ts";
import type { Key } from "../../platform/table/keys.ts";
import { messageKey } from "../../platform/table/shards.ts";
import { insertOf, type Put, type Write } from "../../platform/table/write.ts";
import { noteAccepted } from "../counts/accepted-of-day.ts";
import { addSent } from "../inbound/conversations.ts";
import { ledgerFieldsOf } from "../message/ledger-fields.ts";
import { sendJobWithFacts, waitingJob, waitsInTable } from "../message/message-job.ts";
import type { MessageRecord } from "../message/record.ts";
import { asUnconfirmed } from "../message/transitions.ts";
import { isDebitLikely, noteDebit } from "./place.ts";

/**
 * The most messages that are paid and recorded together. Each needs two writes: its own and its ledger entry's. DynamoDB
 * accepts 100 in one transaction, and the caller may need a few.
 */
export const maxAcceptedTogether = 48;

/** Messages that are charged and recorded together. Ids and prices are final, so that no part of it needs the wallet. */
interface Commit {
  /** At most `maxAcceptedTogether`, all of one organization and moment; one that waits in the table needs another write. */
  readonly messages: readonly [MessageRecord, ...MessageRecord[]];
  /** More prices of the same debit, with ledger entries of their own. */
  readonly fees?: readonly Charge[];
  /** Whether they count as a send for the rate limit of sends. */
  readonly isRateLimited: boolean;
  /** The writes of the caller in the transaction of the ledger entries. */
  readonly writes: readonly Write[];
}

/**
 * Charges the wallet for new messages and records them, together with the writes of the caller. Messages that are due soon
 * are then queued. Later ones wait in the table, from the same transaction on. All are accepted or none. Recorded messages
 * are safe: the reconciler repairs whatever fails after that.
 *
 * One transaction for a message and its entry costs twice as much. It is needed only if the message can be cancelled or others
 * are accepted with it. A single one that is due now is written beside its debit, has no effect without the entry, and expires.
 * After a rejected debit the next one is likely to be rejected too, so that its message is written after it.
 * @returns the state of the rate limit of sends; undefined without one
 * @throws ApiError ORGANIZATION_SUSPENDED, WALLET_MISSING, INSUFFICIENT_BALANCE, DAILY_SPEND_CAP_REACHED, SEND_RATE_EXCEEDED;
 *   UNAVAILABLE when none was accepted although the wallet may have been debited: the reconciler returns that
 */
export async function commit({
  messages,
  fees = [],
  isRateLimited,
  writes,
}: Commit): Promise<RateLimitStatus | undefined> {
  const [first] = messages;
  const { organizationId, queuedAt } = first;
  const isAlone = messages.length === 1 && first.scheduledAt === undefined && first.campaignId === undefined;
  const unconfirmed = isAlone ? messagePut(asUnconfirmed(first)) : undefined;
  const debited = await debitFor({
    organizationId,
    charges: [
      ...messages.map((each) => ({ amountMicros: each.totalMicros, ...ledgerFieldsOf(each) })),
      ...fees,
    ],
    at: new Date(queuedAt),
    rateLimitedSends: isRateLimited ? 1 : 0,
    keepAccepted: async (ofDay) => noteAccepted(organizationId, ofDay),
    messageIds: messages.map(({ id }) => id),
    // A batch debits the same message again, while the deletion of the first attempt may still be under way.
    beside: isDebitLikely(organizationId) && first.batchId === undefined ? unconfirmed : undefined,
  }).catch((error: unknown) => {
    noteDebit(organizationId, undefined);
    throw error;
  });
  noteDebit(organizationId, debited.wallet);
  const jobs = messages.filter(waitsInTable).map(waitingJob);
  const together = isAlone ? writes : [...messages.map(messagePut), ...jobs, ...writes];
  const [entry] = debited.entries;
  // The job of a message that is there may come before the entry, because its sender looks for the entry.
  const queued = debited.isMessageWritten ? queueForSending(messages, entry) : undefined;
  try {
    await recordDebit(debited, unconfirmed, together);
  } finally {
    await queued;
  }
  if (queued === undefined) await queueForSending(messages, isAlone ? entry : undefined);
  await addToConversations(messages);
  return sendRateStatus(debited.wallet);
}

/** People see their own messages immediately. Those of campaigns, and any that fails here, follow with their outcome. */
async function addToConversations(messages: readonly MessageRecord[]): Promise<void> {
  const ofPeople = messages.filter((message) => message.campaignId === undefined);
  await Promise.all(ofPeople.map(addSent)).catch((error: unknown) => {
    log.warn("conversation.not_added", { organizationId: messages[0]?.organizationId, error });
  });
}

function messagePut(message: MessageRecord): Put<"message"> {
  return insertOf(messageKey(message), message);
}

/**
 * Queues recorded messages that are due soon. An unavailable queue delays the messages, but they have been accepted.
 * @param paidBy the ledger entry of the one message, for its sender to check
 */
export async function queueForSending(
  accepted: readonly MessageRecord[],
  paidBy?: Key<"ledgerEntry">,
): Promise<void> {
  const messages = accepted.filter((message) => !waitsInTable(message));
  const entry = paidBy && { pk: paidBy.pk, sk: paidBy.sk };
  try {
    await enqueueAll(
      messages.map((message) => sendJobWithFacts(message, secondsUntil(message.scheduledAt), { entry })),
    );
  } catch (error) {
    const { organizationId, id: messageId } = messages[0] ?? {};
    log.error("message.enqueue_failed", { organizationId, messageId, count: messages.length, error });
  }
}
