import { receiveReply } from "../inbound/receive.ts";
import type { HeardReceipt } from "../messages/counts.ts";
import { hearReceipt } from "../messages/receipts.ts";
import { awsReports } from "./aws.ts";
import { messageOf } from "./reference.ts";
import type { QueuedReport } from "./report-job.ts";
import type { Fields } from "./report.ts";

/** The carrier name for inbound messages of AWS. All its carriers are one account, with unique ids of messages. */
const awsAccount = "aws";

/**
 * Records a carrier callback: a delivery receipt or an inbound message.
 * @param queuedAt when the job was queued, which is the only known time of a notification from AWS
 * @returns what a receipt has changed, for the counts
 * @throws Error when the job must be repeated
 */
export async function recordReport(report: QueuedReport, queuedAt: Date): Promise<HeardReceipt | undefined> {
  switch (report.kind) {
    case "receipt":
      return hearReceipt(report);
    case "reply":
      await receiveReply(report);
      return undefined;
    case "aws":
      return recordNotification(report.fields, queuedAt.toISOString());
  }
}

/**
 * Records a notification that AWS has queued.
 * @throws Error for an unreadable one, so that it is tried again and moved to the dead-letter queue
 */
async function recordNotification(fields: Fields, at: string): Promise<HeardReceipt | undefined> {
  const receipt = awsReports.receipt(fields);
  if (receipt !== undefined) {
    const { reference, status, errorCode, providerCode } = receipt;
    const message = messageOf(reference);
    // The account may send messages without the gateway.
    if (message === undefined || status === "pending") return undefined;
    return hearReceipt({ ...message, status, errorCode, providerCode, at });
  }
  const reply = awsReports.reply(fields);
  if (reply === undefined) throw new Error("the notification from AWS cannot be read");
  const { carrierId = "" } = reply;
  await receiveReply({ ...reply, carrierId, reportId: carrierId, carrier: awsAccount, receivedAt: at });
  return undefined;
}
