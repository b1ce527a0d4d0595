import { randomUUID } from "node:crypto";

import type { WebhookEvent } from "../../api/contract/events.ts";
import { PhoneNumber } from "../../api/contract/phone-numbers.ts";
import { eventJob } from "../../notices/event-job.ts";
import { testMarkOf } from "../../platform/ids.ts";
import { enqueue } from "../../platform/jobs/queue.ts";
import { log } from "../../platform/log.ts";
import { messageKey } from "../../platform/table/shards.ts";
import { updateItem } from "../../platform/table/write.ts";
import { countArrivals } from "../counts/arrivals.ts";
import { countReceipts, type RecordedReceipt } from "../counts/counts.ts";
import { eventDetailsOf, finalDeliveries, MessageRecord, type FinalDelivery } from "../message/record.ts";
import { noteReceipt, type Receipt } from "../message/transitions.ts";

/** Long enough to distinguish the few attempts to record one receipt; the record should stay small. */
const tokenLength = 8;

/** A receipt, and the message that it is about. */
export interface ReceiptOfMessage extends Omit<Receipt, "token"> {
  readonly organizationId: string;
  readonly messageId: string;
}

/**
 * Records a carrier's receipt on its message. Receipts may arrive twice, in any order, late, and before the message is
 * recorded as sent. The strongest status wins, and `delivered` is the strongest. A receipt without news writes nothing. Its
 * event is queued again, because the function that recorded it may have died before.
 * @returns the change, to be counted
 * @throws Error when the event could not be queued, so that the receipt has to arrive again
 */
export async function recordDeliveryReceipt(receipt: ReceiptOfMessage): Promise<RecordedReceipt | undefined> {
  const { organizationId, messageId } = receipt;
  const key = messageKey({ organizationId, id: messageId });
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
        // A repeated receipt changes nothing, so it is counted now.
        await Promise.all([countReceipts([heard]), countArrivals([heard])]);
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
  throw new Error(`the receipt of message ${messageId} conflicted with others in every attempt`);
}

/** Whether a receipt comes from an earlier carrier of the message than the last one. */
function isOfOther({ carrier }: ReceiptOfMessage, message: MessageRecord): boolean {
  return carrier !== undefined && message.carrier !== carrier;
}

/** Returns the strength of a delivery status; none is the weakest. */
function rankOf(delivery: FinalDelivery | undefined): number {
  return delivery === undefined ? -1 : finalDeliveries.indexOf(delivery);
}

/** Queues the event of the receipts so far. A repetition queues the same event. */
async function tell(message: MessageRecord): Promise<void> {
  const event = eventOf(message);
  if (event !== undefined) await enqueue(eventJob(message.organizationId, event, message.callbackUrl));
}

/** Returns the event for the customer: none without a final status, and none for an erased number. */
function eventOf(message: MessageRecord): WebhookEvent | undefined {
  const { id, to, deliveryStatus, deliveryAt: timestamp, deliveryErrorCode } = message;
  const mark = { ...eventDetailsOf(message), ...testMarkOf(id) };
  if (timestamp === undefined || !PhoneNumber.safeParse(to).success) return undefined;
  if (deliveryStatus === "delivered") {
    return { event: "message.delivered", timestamp, data: { id, to, status: deliveryStatus, ...mark } };
  }
  if (deliveryStatus !== "undelivered") return undefined;
  const errorCode = deliveryErrorCode ?? "DELIVERY_FAILED";
  return { event: "message.undelivered", timestamp, data: { id, to, errorCode, ...mark } };
}
