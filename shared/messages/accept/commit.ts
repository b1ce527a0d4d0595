import { detailsOf, type MessageDetails } from "../../api/contract/message-details.ts";
import type { SendSmsRequest } from "../../api/contract/sms.ts";
import type { Prices } from "../../money/prices/prices.ts";
import { chargeWallet } from "../../money/wallet/charge.ts";
import type { Charge } from "../../money/wallet/debit.ts";
import type { WalletRecord } from "../../money/wallet/record.ts";
import { newId } from "../../platform/ids.ts";
import { secondsUntil } from "../../platform/jobs/job.ts";
import { enqueueAll } from "../../platform/jobs/queue.ts";
import { log } from "../../platform/log.ts";
import { idInShard, messageKey } from "../../platform/table/shards.ts";
import { insertOf, type Put, type Write } from "../../platform/table/write.ts";
import { noteAccepted } from "../counts/accepted-of-day.ts";
import { addSent } from "../inbound/conversations.ts";
import { ledgerFieldsOf } from "../message/ledger-fields.ts";
import { sendJobWithFacts, waitingJob, waitsInTable } from "../message/message-job.ts";
import type { MessageRecord } from "../message/record.ts";
import { unconfirmed } from "../message/transitions.ts";
import { validUntil } from "../message/validity.ts";
import { withinDestinationLimits } from "./destination-limits.ts";
import { quote } from "./quote.ts";

/**
 * The most messages that are paid and recorded together. Each needs two writes: its own and its ledger entry's. DynamoDB
 * accepts 100 in one transaction, and the caller may need a few.
 */
export const maxAcceptedTogether = 48;

export interface NewMessage
  extends
    MessageDetails,
    Pick<SendSmsRequest, "expiresInSeconds" | "language" | "message" | "messageType" | "to"> {
  readonly senderId: string;
  readonly from?: string | undefined;
  readonly scheduledAt?: string | undefined;
  readonly campaignId?: string;
  readonly apiKeyId?: string | undefined;
  readonly batchId?: string | undefined;
}

/** Facts about messages that are accepted together. */
interface AcceptTogether {
  /** More prices of the same debit, with ledger entries of their own. */
  readonly fees?: readonly Charge[];
  /** Whether earlier messages of the same request were accepted. */
  readonly isContinued?: boolean;
  /** Names the messages, and is the same in each repeat after an attempt that died. So they count once against limits. */
  readonly name?: string | undefined;
}

/** The time of acceptance, and the prices at that time. */
export interface Terms {
  readonly queuedAt: Date;
  readonly prices: Prices;
}

/**
 * Returns a new message as accepted, with its price, which does not change later.
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
    from: request.from,
    language: request.language,
    messageType: request.messageType,
    campaignId: request.campaignId,
    apiKeyId: request.apiKeyId,
    ...detailsOf(request),
    batchId: request.batchId,
    ...quote(request, prices),
    queuedAt: queuedAt.toISOString(),
    scheduledAt: request.scheduledAt,
    validUntil: validUntil(request, queuedAt),
    attempts: 0,
    unresolvedAttempts: 0,
  };
}

/**
 * Charges the wallet for new messages and records them, together with the writes of the caller. Messages that are due soon
 * are then queued. Later ones wait in the table, from the same transaction on. All are accepted or none. Recorded messages
 * are safe: the reconciler repairs whatever fails after that.
 * @param messages at most `maxAcceptedTogether`, all of one organization and moment; one that waits in the table needs
 *   another write
 * @param together receives the messages with their final ids, and the wallet after the debit.
 * @throws ApiError DESTINATION_NOT_ALLOWED beyond the daily limit of a destination. ORGANIZATION_SUSPENDED, WALLET_MISSING,
 *   INSUFFICIENT_BALANCE, DAILY_SPEND_CAP_REACHED, SEND_RATE_EXCEEDED; UNAVAILABLE when none was accepted although the wallet
 *   may have been debited: the reconciler returns that
 * @returns the messages as they were recorded
 */
export async function acceptTogether(
  messages: readonly MessageRecord[],
  together: (placed: readonly MessageRecord[], wallet: WalletRecord) => readonly Write[],
  { fees = [], isContinued = false, name }: AcceptTogether = {},
): Promise<readonly MessageRecord[]> {
  const [first] = messages;
  if (first === undefined) return [];
  // One transaction for the message and its entry costs twice as much. It is needed only if the message can be cancelled
  // or a campaign waits for it. Other messages have no job without the entry, and expire.
  const { scheduledAt, campaignId } = first;
  const staysUnconfirmed = messages.length === 1 && scheduledAt === undefined && campaignId === undefined;
  const charge = async (): Promise<{ readonly accepted: readonly MessageRecord[] }> =>
    chargeWallet({
      organizationId: first.organizationId,
      charges: [
        ...messages.map((each) => ({ amountMicros: each.totalMicros, ...ledgerFieldsOf(each) })),
        ...fees,
      ],
      at: new Date(first.queuedAt),
      // A batch is one send, although its blocks have a debit each.
      rateLimitedSends: campaignId !== undefined || isContinued ? 0 : 1,
      keepAccepted: async (ofDay) => noteAccepted(first.organizationId, ofDay),
      recording: (wallet) => {
        const placed = messages.map((message) => ({ ...message, id: idInShard(wallet, message.id) }));
        const messageIds = placed.map(({ id }) => id);
        const others = together(placed, wallet);
        if (staysUnconfirmed) {
          const before = placed.map((each) => messagePut(unconfirmed(each, wallet.seq - fees.length)));
          return { accepted: placed, messageIds, before, together: others };
        }
        const jobs = placed.filter(waitsInTable).map(waitingJob);
        return { accepted: placed, messageIds, together: [...placed.map(messagePut), ...jobs, ...others] };
      },
    });
  const { accepted } = await withinDestinationLimits(first.organizationId, messages, charge, name);
  await queueForSending(accepted);
  // People see their own messages immediately. Those of campaigns, and any that fails here, follow with their outcome.
  const ofPeople = accepted.filter((message) => message.campaignId === undefined);
  await Promise.all(ofPeople.map(addSent)).catch((error: unknown) => {
    log.warn("conversation.not_added", { organizationId: first.organizationId, error });
  });
  return accepted;
}

function messagePut(message: MessageRecord): Put<"message"> {
  return insertOf(messageKey(message), message);
}

/** Queues recorded messages that are due soon. An unavailable queue delays the messages, but they have been accepted. */
export async function queueForSending(accepted: readonly MessageRecord[]): Promise<void> {
  const messages = accepted.filter((message) => !waitsInTable(message));
  try {
    await enqueueAll(messages.map((message) => sendJobWithFacts(message, secondsUntil(message.scheduledAt))));
  } catch (error) {
    const { organizationId, id: messageId } = messages[0] ?? {};
    log.error("message.enqueue_failed", { organizationId, messageId, count: messages.length, error });
  }
}
