import { ApiError } from "../../api/contract/errors.ts";
import { detailsOf } from "../../api/contract/message-details.ts";
import type { AcceptedMessage } from "../../api/contract/sms.ts";
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
import { transact } from "../../platform/table/transact.ts";
import { insertOf } from "../../platform/table/write.ts";
import { toApiPricing, type MessageRecord } from "../message/record.ts";
import { toApiHeldMessage, type HeldMessageRecord } from "./held.ts";

/** The bound of a key's held messages, and of all keys that share its budget: a person has to read each. */
const dailyLimit = { name: "held-messages", max: 500, code: "RATE_LIMITED" } as const;

const retentionMs = 7 * dayMs;

/** A message that was checked and priced, with the fields of its request that a message does not keep. */
interface Holdable extends Pick<
  MessageRecord,
  | "callbackUrl"
  | "metadata"
  | "organizationId"
  | "reference"
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
    ...detailsOf(message),
    segments,
    unitPriceMicros,
    totalMicros,
    apiKeyId,
    heldAt: at.toISOString(),
    expiresAt: epochSeconds(new Date(at.getTime() + retentionMs)),
  };
  const { id, heldAt: queuedAt } = record;
  const answer = { id, status: "held", to, queuedAt, scheduledAt, pricing: toApiPricing(record) } as const;
  // Without the number, because an erasure does not find jobs.
  const data = { id, apiKeyId, expiresAt: toApiHeldMessage(record).expiresAt };
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
