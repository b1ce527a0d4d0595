import { MessageJob } from "../../shared/messages/message/message-job.ts";
import { MessageRecord } from "../../shared/messages/message/record.ts";
import type { Sender } from "../../shared/messages/send/choose-carrier.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { messageKey } from "../../shared/platform/table/shards.ts";
import { acceptMessage } from "./as-organization.ts";
import { delayedJobs, takeJobs } from "./queues.ts";
import { openWallet } from "./wallets.ts";
import { openWebhook } from "./webhooks.ts";

/**
 * Accepts a message without the API, for a new organization with a webhook.
 * @returns its job, removed from its queue
 */
export async function acceptedMessage(
  fields: Partial<Parameters<typeof acceptMessage>[1]> = {},
): Promise<MessageJob> {
  const organizationId = await openWallet(1_000_000);
  await openWebhook("http://127.0.0.1:9/nobody", organizationId);
  const message = { to: "15005550000", message: "hello", senderId: "ACME", language: "English" } as const;
  const { id: messageId } = await acceptMessage(organizationId, { ...message, ...fields });
  await takeJobs("transactionalSends");
  return { organizationId, messageId };
}

/** A message as it is in the table. */
export async function recordOf({ organizationId, messageId }: MessageJob): Promise<MessageRecord> {
  const key = messageKey({ organizationId, id: messageId });
  return MessageRecord.parse(await findItem(MessageRecord, key, { consistent: true }));
}

/** The state of a message, with the code of its failure. */
export async function statusOf(job: MessageJob): Promise<string> {
  const { status, errorCode } = await recordOf(job);
  return errorCode === undefined ? status : `${status}: ${errorCode}`;
}

/**
 * Works on the job of a message that is not sent yet.
 * @returns the job that is queued for the next attempt
 */
export async function laterJobOf(job: MessageJob, sender: Sender): Promise<MessageJob> {
  const [queued] = await delayedJobs(async () => submitMessage(job, sender));
  return MessageJob.parse(queued?.body);
}
