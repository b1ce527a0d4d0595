import { postToWallet } from "../../money/wallet/post.ts";
import { findItem } from "../../platform/table/read.ts";
import { messageKey } from "../../platform/table/shards.ts";
import { ledgerFieldsOf } from "../message/ledger-fields.ts";
import type { MessageJob } from "../message/message-job.ts";
import { MessageRecord } from "../message/record.ts";
import { markRefunded } from "../message/transitions.ts";

/**
 * Returns the price of a failed message, once: one write has the credit and the note of it.
 * @throws ApiError when the wallet is missing or contended, so that the job returns
 */
export async function refundMessage(job: MessageJob): Promise<void> {
  const key = messageKey({ organizationId: job.organizationId, id: job.messageId });
  const message = await findItem(MessageRecord, key, { consistent: true });
  if (message?.refund !== "due") return;
  await postToWallet({
    organizationId: message.organizationId,
    type: "refund",
    amountMicros: message.totalMicros,
    messageId: message.id,
    ...ledgerFieldsOf(message),
    together: () => [markRefunded(message)],
  });
}
