import { receiveReply } from "../inbound/receive.ts";
import type { HeardReceipt } from "../messages/counts.ts";
import { hearReceipt } from "../messages/receipts.ts";
import { now } from "../platform/clock.ts";
import { log } from "../platform/log.ts";
import { awsReports } from "./aws.ts";
import { messageOf } from "./reference.ts";
import type { QueuedReport } from "./report-job.ts";
import type { Fields } from "./report.ts";

/** All carriers of AWS are one account, whose ids of messages are unique. */
const awsAccount = "aws";

/**
 * Records what a carrier has reported: a receipt, or a message from a phone.
 * @returns what a receipt has changed, for whoever counts
 * @throws Error when it has to come again
 */
export async function recordReport(report: QueuedReport): Promise<HeardReceipt | undefined> {
  switch (report.kind) {
    case "receipt":
      return hearReceipt(report);
    case "reply":
      await receiveReply(report);
      return undefined;
    case "aws":
      return recordNotification(report.fields);
  }
}

/** Records what AWS has put onto the queue by itself. */
async function recordNotification(fields: Fields): Promise<HeardReceipt | undefined> {
  const at = now().toISOString();
  const receipt = awsReports.receipt(fields);
  const message = messageOf(receipt?.reference);
  if (receipt !== undefined && message !== undefined) {
    const { status, errorCode } = receipt;
    return status === "pending" ? undefined : hearReceipt({ ...message, status, errorCode, at });
  }
  const reply = awsReports.reply(fields);
  if (reply === undefined) {
    // Such as a message that the account has sent without us.
    log.warn("report.not_understood");
    return undefined;
  }
  const { carrierId = "" } = reply;
  await receiveReply({ ...reply, carrierId, reportId: carrierId, carrier: awsAccount, receivedAt: at });
  return undefined;
}
