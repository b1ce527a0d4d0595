import { receiveReply } from "../inbound/receive.ts";
import type { HeardReceipt } from "../messages/counts.ts";
import { hearReceipt } from "../messages/receipts.ts";
import { awsReports } from "./aws.ts";
import { messageOf } from "./reference.ts";
import type { QueuedReport } from "./report-job.ts";
import type { Fields } from "./report.ts";

/** All carriers of AWS are one account, whose ids of messages are unique. */
const awsAccount = "aws";

/**
 * Records what a carrier has reported: a receipt, or a message from a phone.
 * @param queuedAt when the report was put on its queue, which is the only time that is known of what AWS puts there
 * @returns what a receipt has changed, for whoever counts
 * @throws Error when it has to come again
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
 * Records what AWS has put onto the queue by itself.
 * @throws Error for what cannot be read, so that it is tried again and parked
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
  if (reply === undefined) throw new Error("the notification of AWS cannot be read");
  const { carrierId = "" } = reply;
  await receiveReply({ ...reply, carrierId, reportId: carrierId, carrier: awsAccount, receivedAt: at });
  return undefined;
}
