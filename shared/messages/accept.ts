import type { SendSmsRequest } from "../contract/sms.ts";
import { inParts, newId } from "../platform/ids.ts";
import { secondsUntil } from "../platform/jobs/job.ts";
import { enqueueAll } from "../platform/jobs/queue.ts";
import { log } from "../platform/log.ts";
import type { Put, Write } from "../platform/table/table.ts";
import type { Prices } from "../prices/prices.ts";
import { chargeWallet } from "../wallet/charge.ts";
import type { WalletRecord } from "../wallet/record.ts";
import { noteAccepted } from "./accepted-of-day.ts";
import { sendJobWithFacts, waitingJob, waitsInTable } from "./message-job.ts";
import { quote } from "./quote.ts";
import { messageKey, unconfirmed, type MessageRecord } from "./record.ts";
import { validUntil } from "./validity.ts";

/**
 * Messages that are paid and recorded together at the most: each takes two writes, its own and its ledger
 * entry's, and DynamoDB takes 100 in one transaction, of which the caller may want a few.
 */
export const maxAcceptedTogether = 48;

export interface NewMessage extends Pick<
  SendSmsRequest,
  "expiresInSeconds" | "language" | "message" | "messageType" | "to"
> {
  readonly senderId: string;
  readonly scheduledAt?: string | undefined;
  readonly campaignId?: string;
}

/** When messages are accepted, and what they cost then. */
export interface Terms {
  readonly queuedAt: Date;
  readonly prices: Prices;
}

/**
 * A message as it is when it has been accepted, with its price, which stays what it is then.
 * @throws ApiError DESTINATION_NOT_PRICED
 */
export function newMessage(
  organizationId: string,
  request: NewMessage,
  { queuedAt, prices }: Terms,
): MessageRecord {
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
    ...quote(request, prices),
    queuedAt: queuedAt.toISOString(),
    scheduledAt: request.scheduledAt,
    validUntil: validUntil(request, queuedAt),
    attempts: 0,
    openClaims: 0,
  };
}

/**
 * Charges the wallet for new messages and records them, together with what the caller wants to be recorded with
 * them. Those that are due soon are queued then, those that are due later wait in the table from the same transaction
 * on. All are accepted or none. Once they are recorded they are safe; whatever fails after that is made good later.
 * @param messages at most `maxAcceptedTogether`, all of one organization and moment; one that waits in the table takes
 *   a write more
 * @param together is given the messages in their places: where its organization's messages are in several parts, the end
 *   of a message's id says in which it is; and the wallet behind the debit
 * @throws ApiError ORGANIZATION_SUSPENDED, WALLET_MISSING, INSUFFICIENT_BALANCE, DAILY_SPEND_CAP_REACHED, SEND_RATE_EXCEEDED; UNAVAILABLE when
 *   none was accepted although the wallet may have been debited: the reconciler returns that
 * @returns the messages as they were recorded
 */
export async function acceptTogether(
  messages: readonly MessageRecord[],
  together: (placed: readonly MessageRecord[], wallet: WalletRecord) => readonly Write[],
): Promise<readonly MessageRecord[]> {
  const [first] = messages;
  if (first === undefined) return [];
  // A message that nobody can cancel, and that no campaign waits for, need not be written in one transaction with its
  // entry, which costs twice as much: without the entry it has no job, and vanishes.
  const { scheduledAt, campaignId } = first;
  const isProvisional = messages.length === 1 && scheduledAt === undefined && campaignId === undefined;
  const { accepted } = await chargeWallet({
    organizationId: first.organizationId,
    charges: messages.map(({ totalMicros }) => ({ amountMicros: totalMicros })),
    at: new Date(first.queuedAt),
    isPaced: campaignId === undefined,
    keepAccepted: async (ofDay) => noteAccepted(first.organizationId, ofDay),
    recording: (wallet) => {
      const { messageParts } = wallet;
      const placed = messages.map((message) => ({ ...message, id: inParts(message.id, messageParts) }));
      const messageIds = placed.map(({ id }) => id);
      const others = together(placed, wallet);
      if (isProvisional) {
        const before = placed.map((each) => messagePut(unconfirmed(each, wallet.seq)));
        return { accepted: placed, messageIds, before, together: others };
      }
      const jobs = placed.filter(waitsInTable).map(waitingJob);
      return { accepted: placed, messageIds, together: [...placed.map(messagePut), ...jobs, ...others] };
    },
  });
  await queueForSending(accepted.filter((message) => !waitsInTable(message)));
  return accepted;
}

function messagePut(message: MessageRecord): Put {
  return { put: { ...messageKey(message), ...message }, condition: "attribute_not_exists(pk)" };
}

/** Queues recorded messages. A queue that is down costs a delay, not a message: they have been accepted. */
async function queueForSending(messages: readonly MessageRecord[]): Promise<void> {
  try {
    await enqueueAll(messages.map((message) => sendJobWithFacts(message, secondsUntil(message.scheduledAt))));
  } catch (error) {
    const { organizationId, id: messageId } = messages[0] ?? {};
    log.error("message.enqueue_failed", { organizationId, messageId, count: messages.length, error });
  }
}
