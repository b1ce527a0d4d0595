import { awsCallbacks } from "../../carriers/aws.ts";
import type { Fields } from "../../carriers/callback-reader.ts";
import type { RecordedReceipt } from "../counts/counts.ts";
import { receiveInboundMessage, receiveTestMessage } from "../inbound/receive.ts";
import { recordDeliveryReceipt } from "../outcome/receipts.ts";
import type { QueuedCallback } from "./callback-job.ts";
import { messageOf } from "./reference.ts";

/** The reader of notifications of AWS. All its carriers are one account, with unique ids of messages. */
const aws = awsCallbacks.reader();

/**
 * Records a carrier callback: a delivery receipt or an inbound message.
 * @param queuedAt when the job was queued, which is the only known time of a notification from AWS
 * @returns what a receipt has changed, for the counts
 * @throws Error when the job must be repeated
 */
export async function recordCallback(
  callback: QueuedCallback,
  queuedAt: Date,
): Promise<RecordedReceipt | undefined> {
  switch (callback.kind) {
    case "receipt":
      return recordDeliveryReceipt(callback);
    case "inbound":
      await receiveInboundMessage(callback);
      return undefined;
    case "testInbound":
      await receiveTestMessage(callback);
      return undefined;
    case "aws":
      return recordNotification(callback.fields, queuedAt.toISOString());
  }
}

/**
 * Records a notification that AWS has queued.
 * @throws Error for an unreadable one, so that it is tried again and moved to the dead-letter queue
 */
async function recordNotification(fields: Fields, at: string): Promise<RecordedReceipt | undefined> {
  const receipt = aws.receipt(fields);
  if (receipt !== undefined) {
    const { reference, status, errorCode, providerCode } = receipt;
    const message = messageOf(reference);
    // The account may send messages without the gateway.
    if (message === undefined || status === "pending") return undefined;
    return recordDeliveryReceipt({ ...message, status, errorCode, providerCode, at });
  }
  const inbound = aws.inbound(fields);
  if (inbound === undefined) throw new Error("the notification from AWS cannot be read");
  const { carrierId = "" } = inbound;
  await receiveInboundMessage({
    ...inbound,
    carrierId,
    callbackId: carrierId,
    carrier: awsCallbacks.account,
    receivedAt: at,
  });
  return undefined;
}
