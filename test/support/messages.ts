import type { SendSmsRequest } from "../../shared/api/contract/sms.ts";
import type { AcceptOptions } from "../../shared/messages/accept/accept-one.ts";
import { commit } from "../../shared/messages/accept/commit.ts";
import { newMessage, type NewMessage } from "../../shared/messages/accept/new-message.ts";
import { placeOf } from "../../shared/messages/accept/place.ts";
import { MessageJob } from "../../shared/messages/message/message-job.ts";
import { MessageRecord } from "../../shared/messages/message/record.ts";
import type { Sender } from "../../shared/messages/send/choose-carrier.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { findItem, queryItems } from "../../shared/platform/table/read.ts";
import { messageKey } from "../../shared/platform/table/shards.ts";
import { acceptMessage } from "./as-organization.ts";
import { only } from "./carriers.ts";
import { onePrice } from "./prices.ts";
import { delayedJobs, takeJobs } from "./queues.ts";
import { openWallet } from "./wallets.ts";
import { openWebhook } from "./webhooks.ts";

/** A message of one segment to a number that the sandbox accepts. */
export const hello = {
  to: "15005550000",
  message: "hello",
  senderId: "ACME",
  language: "English",
} as const satisfies SendSmsRequest;

/** The price of `hello`, in micro-units. */
export const priceMicros = 7_900;

/** Accepts a message of an organization without the API. @returns its job, which is also on its queue */
export async function acceptFor(
  organizationId: string,
  fields: Partial<SendSmsRequest> = {},
  options?: AcceptOptions,
): Promise<MessageJob> {
  const { id: messageId } = await acceptMessage(organizationId, { ...hello, ...fields }, options);
  return { organizationId, messageId };
}

/** Sends a message of an organization by a carrier that accepts it. @returns its job */
export async function sendFor(
  organizationId: string,
  fields: Partial<SendSmsRequest> = {},
): Promise<MessageJob> {
  const job = await acceptFor(organizationId, fields);
  await submitMessage(job, only());
  return job;
}

/** Accepts messages that are paid together, as those of a campaign are. @returns the records */
export async function acceptBlock(
  organizationId: string,
  count: number,
  fields: Partial<NewMessage> = {},
): Promise<readonly MessageRecord[]> {
  const place = placeOf(organizationId);
  const terms = { queuedAt: new Date(), prices: onePrice };
  const block = Array.from({ length: count }, () => newMessage(place, { ...hello, ...fields }, terms));
  await acceptAll(block);
  return block;
}

/** Accepts new messages that are paid together. */
export async function acceptAll([first, ...others]: readonly MessageRecord[]): Promise<void> {
  if (first === undefined) return;
  const isRateLimited = first.campaignId === undefined;
  await commit({ messages: [first, ...others], isRateLimited, writes: [] });
}

/**
 * Accepts a message without the API, for a new organization with a webhook.
 * @returns its job, removed from its queue
 */
export async function acceptedMessage(fields: Partial<SendSmsRequest> = {}): Promise<MessageJob> {
  const organizationId = await openWallet(1_000_000);
  await openWebhook("http://127.0.0.1:9/nobody", organizationId);
  const job = await acceptFor(organizationId, fields);
  await takeJobs("transactionalSends");
  return job;
}

/** A message as it is in the table. */
export async function recordOf({ organizationId, messageId }: MessageJob): Promise<MessageRecord> {
  const key = messageKey({ organizationId, id: messageId });
  return MessageRecord.parse(await findItem(MessageRecord, key, { consistent: true }));
}

/** The messages of an organization in the table, at most ten, paid or not. */
export async function storedMessages(organizationId: string): Promise<MessageRecord[]> {
  const { pk } = messageKey({ organizationId, id: "" });
  return queryItems(MessageRecord, { pk, limit: 10, consistent: true });
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
