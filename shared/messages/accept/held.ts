import * as z from "zod/mini";

import { ApiError } from "../../api/contract/errors.ts";
import type { HeldMessage, HeldMessagesQuery } from "../../api/contract/held-messages.ts";
import type { Page } from "../../api/contract/primitives.ts";
import { Language, MessageType, type AcceptedMessage } from "../../api/contract/sms.ts";
import { heldEmail } from "../../notices/emails/email-job.ts";
import { eventJob, owedEvent } from "../../notices/event-job.ts";
import { dayMs, epochSeconds, hourMs, now } from "../../platform/clock.ts";
import type { Attempt } from "../../platform/http/event.ts";
import { newId } from "../../platform/ids.ts";
import { enqueue } from "../../platform/jobs/queue.ts";
import { minScheduledMs, owedJob } from "../../platform/jobs/scheduled-job.ts";
import { consumeToday } from "../../platform/limits/daily.ts";
import { log } from "../../platform/log.ts";
import { keys } from "../../platform/table/keys.ts";
import { leaseFields } from "../../platform/table/lease.ts";
import { readWantedPage } from "../../platform/table/page.ts";
import { findItem } from "../../platform/table/read.ts";
import { transact } from "../../platform/table/transact.ts";
import { insertOf } from "../../platform/table/write.ts";
import { toApiPricing, type MessageRecord } from "../message/record.ts";

/*
 * Held messages: those above the `holdAbove` of their API key. They are not charged. A person approves one, which accepts it as
 * a message (`decide-held.ts`), or rejects it. They are deleted after a week.
 */

/** The bound of a key's held messages, and of all keys that share its budget: a person has to read each. */
const dailyLimit = { name: "held-messages", max: 500, code: "RATE_LIMITED" } as const;

const retentionMs = 7 * dayMs;

export const HeldMessageRecord = z.object({
  entity: z.literal("heldMessage"),
  id: z.string(),
  organizationId: z.string(),
  status: z.enum(["held", "approved", "rejected"]),
  to: z.string(),
  message: z.string(),
  senderId: z.string(),
  from: z.optional(z.string()),
  language: Language,
  messageType: z.optional(MessageType),
  scheduledAt: z.optional(z.string()),
  expiresInSeconds: z.optional(z.int()),
  segments: z.int(),
  unitPriceMicros: z.int(),
  totalMicros: z.int(),
  /** The price when it was held; present after an attempt to approve it. */
  heldMicros: z.optional(z.int()),
  apiKeyId: z.string(),
  heldAt: z.string(),
  decidedAt: z.optional(z.string()),
  decidedBy: z.optional(z.string()),
  messageId: z.optional(z.string()),
  /** Present while an approval is in progress. */
  ...leaseFields,
  expiresAt: z.int(),
});
export type HeldMessageRecord = z.infer<typeof HeldMessageRecord>;

/** A message that was checked and priced, with the fields of its request that a message does not keep. */
interface Holdable extends Pick<
  MessageRecord,
  | "organizationId"
  | "to"
  | "message"
  | "senderId"
  | "from"
  | "language"
  | "messageType"
  | "scheduledAt"
  | "segments"
  | "unitPriceMicros"
  | "totalMicros"
> {
  readonly apiKeyId: string;
  readonly budgetKeyId: string;
  readonly expiresInSeconds?: number | undefined;
}

/**
 * Stores a message until a person decides about it, together with the response to its request, the event and the email about it.
 * @throws ApiError RATE_LIMITED when the key has too many in a day; UNAVAILABLE when nothing was stored
 */
export async function holdMessage(message: Holdable, attempt: Attempt | undefined): Promise<AcceptedMessage> {
  await consumeToday(dailyLimit, message.budgetKeyId);
  const at = now();
  const { organizationId, to, message: text, senderId, from, language, messageType, scheduledAt } = message;
  const { expiresInSeconds, segments, unitPriceMicros, totalMicros, apiKeyId } = message;
  const record: HeldMessageRecord = {
    entity: "heldMessage",
    id: newId("hld"),
    organizationId,
    status: "held",
    to,
    message: text,
    senderId,
    from,
    language,
    messageType,
    scheduledAt,
    expiresInSeconds,
    segments,
    unitPriceMicros,
    totalMicros,
    apiKeyId,
    heldAt: at.toISOString(),
    expiresAt: epochSeconds(new Date(at.getTime() + retentionMs)),
  };
  const { id, heldAt: queuedAt } = record;
  const answer = { id, status: "held", to, queuedAt, scheduledAt, pricing: toApiPricing(record) } as const;
  const { expiresAt } = toApiHeldMessage(record);
  // Without the number, because an erasure does not find jobs.
  const data = { id, apiKeyId, expiresAt };
  const event = eventJob(organizationId, { event: "message.held", timestamp: queuedAt, data });
  // It is sent only while a message waits. It also covers messages that were held after the email of their hour.
  const reminder = heldEmail(organizationId, new Date(at.getTime() + hourMs));
  const stored = await transact({
    held: insertOf(keys.heldMessage(organizationId, id), record),
    together: attempt === undefined ? [] : [attempt.complete(answer)],
    event: owedEvent(event),
    email: owedJob(id, reminder, new Date(at.getTime() + hourMs - minScheduledMs)),
  });
  if (stored.outcome === "rejected") throw new ApiError("UNAVAILABLE");
  const jobs = [event, heldEmail(organizationId, at)];
  await Promise.all(jobs.map(async (job) => enqueue(job))).catch((error: unknown) => {
    log.warn("held_message.notice_pending", { organizationId, error });
  });
  return answer;
}

/** Returns a page of the organization's held messages, newest first. */
export async function listHeldMessages(
  organizationId: string,
  query: HeldMessagesQuery,
): Promise<Page<HeldMessage>> {
  const page = await readWantedPage(
    HeldMessageRecord,
    { pk: keys.heldMessage(organizationId, "").pk, newestFirst: true, consistent: true },
    query,
    (record) => !hasEnded(record) && (query.status === undefined || record.status === query.status),
  );
  return { rows: page.rows.map(toApiHeldMessage), meta: page.meta };
}

/** Reads a held message as it is now. @throws ApiError NOT_FOUND, also for one of another organization */
export async function getHeldMessage(organizationId: string, id: string): Promise<HeldMessage> {
  return toApiHeldMessage(await readHeldMessage(organizationId, id));
}

/** Reads a held message as it is now. @throws ApiError NOT_FOUND, also for one of another organization */
export async function readHeldMessage(organizationId: string, id: string): Promise<HeldMessageRecord> {
  const record = await findItem(HeldMessageRecord, keys.heldMessage(organizationId, id), {
    consistent: true,
  });
  if (record === undefined || hasEnded(record)) throw new ApiError("NOT_FOUND");
  return record;
}

/** DynamoDB deletes expired items days later. */
function hasEnded({ expiresAt }: HeldMessageRecord): boolean {
  return expiresAt <= epochSeconds(now());
}

/** Returns a held message as its organization sees it. */
export function toApiHeldMessage(record: HeldMessageRecord): HeldMessage {
  const { id, status, to, message, senderId, from, messageType, scheduledAt } = record;
  const { apiKeyId, heldAt, decidedAt, decidedBy, messageId } = record;
  return {
    id,
    status,
    to,
    message,
    senderId,
    from,
    messageType,
    scheduledAt,
    pricing: toApiPricing(record),
    apiKeyId,
    heldAt,
    expiresAt: new Date(record.expiresAt * 1_000).toISOString(),
    decidedAt,
    decidedBy,
    messageId,
  };
}
