import { randomUUID } from "node:crypto";

import type { WebhookEvent } from "../contract/events.ts";
import { PhoneNumber } from "../contract/phone-numbers.ts";
import { eventJob } from "../events/event-job.ts";
import { enqueue } from "../platform/jobs/queue.ts";
import { log } from "../platform/log.ts";
import { keys } from "../platform/table/keys.ts";
import { updateItem } from "../platform/table/table.ts";
import { countReceipts, type HeardReceipt } from "./counts.ts";
import { finalDeliveries, MessageRecord, noteReceipt, type FinalDelivery, type Receipt } from "./record.ts";

/** Enough to tell the few attempts to record one receipt apart; the record should stay small. */
const tokenLength = 8;

/** A receipt, and the message that it is about. */
export interface ReceiptOfMessage extends Omit<Receipt, "token"> {
  readonly organizationId: string;
  readonly messageId: string;
}

/**
 * Notes what a carrier says has become of a message. Receipts may come twice, in any order, late, and before it is known
 * that the message was sent: the strongest word counts, `delivered` before all others. One that says nothing new writes
 * nothing; its event is told again, for whoever noted it may have died before.
 * @returns what it has changed, for whoever counts
 * @throws Error when the event could not be queued, so that the receipt has to come again
 */
export async function hearReceipt(receipt: ReceiptOfMessage): Promise<HeardReceipt | undefined> {
  const { organizationId, messageId } = receipt;
  const key = keys.message(organizationId, messageId);
  const token = randomUUID().slice(0, tokenLength);
  let before: FinalDelivery | undefined;
  for (let attempt = 0; attempt <= finalDeliveries.length; attempt += 1) {
    const noted = await updateItem(MessageRecord, noteReceipt(key, { ...receipt, token }, before), {
      isOwn: ({ deliveryToken }) => deliveryToken === token,
    });
    if (noted.applied) {
      const heard = { message: noted.item, before };
      const { carrier, errorCode, providerCode } = receipt;
      log.info("message.receipt", { organizationId, messageId, carrier, errorCode, providerCode });
      await tell(noted.item).catch(async (error: unknown) => {
        // When it comes again it changes nothing any more.
        await countReceipts([heard]);
        throw error;
      });
      return heard;
    }
    const found = noted.found === undefined ? undefined : MessageRecord.parse(noted.found);
    if (found === undefined || isOfOther(receipt, found)) {
      log.info("message.receipt_of_other", { organizationId, messageId });
      return undefined;
    }
    if (found.deliveryStatus === receipt.status) await tell(found);
    if (rankOf(found.deliveryStatus) >= rankOf(receipt.status)) return undefined;
    before = found.deliveryStatus;
  }
  throw new Error(`the receipt of message ${messageId} met others in every attempt`);
}

/** Whether it comes from a carrier that was asked before another one took the message. */
function isOfOther({ carrier }: ReceiptOfMessage, message: MessageRecord): boolean {
  return carrier !== undefined && message.carrier !== undefined && message.carrier !== carrier;
}

/** The strength of a word on a delivery; none is the weakest. */
function rankOf(delivery: FinalDelivery | undefined): number {
  return delivery === undefined ? -1 : finalDeliveries.indexOf(delivery);
}

/** Queues the event of what receipts have said. Doing it again repeats the same event. */
async function tell(message: MessageRecord): Promise<void> {
  const event = eventOf(message);
  if (event !== undefined) await enqueue(eventJob(message.organizationId, event));
}

/** The event for the customer: none while nothing is known, and none about a number that was erased. */
function eventOf(message: MessageRecord): WebhookEvent | undefined {
  const { id, to, deliveryStatus, deliveryAt: timestamp, deliveryErrorCode } = message;
  if (timestamp === undefined || !PhoneNumber.safeParse(to).success) return undefined;
  if (deliveryStatus === "delivered") {
    return { event: "message.delivered", timestamp, data: { id, to, status: deliveryStatus } };
  }
  if (deliveryStatus !== "undelivered") return undefined;
  const errorCode = deliveryErrorCode ?? "DELIVERY_FAILED";
  return { event: "message.undelivered", timestamp, data: { id, to, errorCode } };
}
