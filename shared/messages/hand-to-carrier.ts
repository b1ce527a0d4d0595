import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";

import { isSuspended } from "../accounts/organization-record.ts";
import type { HandOff, Carrier } from "../carriers/carrier.ts";
import type { MessageErrorCode } from "../contract/sms.ts";
import type { WebhookEvent } from "../contract/webhooks.ts";
import { eventJob } from "../events/event-job.ts";
import { hourMs, minuteMs, now, secondMs } from "../platform/clock.ts";
import { secondsUntil } from "../platform/jobs/job.ts";
import { enqueue } from "../platform/jobs/queue.ts";
import { log } from "../platform/log.ts";
import { countMetrics, type MetricName } from "../platform/metrics.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem, transact, updateItem, type Update } from "../platform/table/table.ts";
import { owedRefund, refundJob, sendJob, type MessageJob } from "./message-job.ts";
import { refusalBeforeHandOff } from "./policies.ts";
import { claim, markFailed, markSent, messageKey, MessageRecord, release } from "./record.ts";
import { heldBackSeconds, type Sending } from "./sending-pause.ts";

/**
 * Longer than a sender can run, so that a claim lapses only when its sender is surely gone; shorter than the
 * queue hides a job, so that it has lapsed when the job comes again.
 */
const claimLeaseMs = minuteMs;

/** A carrier that says nothing for so long is given up; half of a sender's time-out. */
const carrierTimeoutMs = 10 * secondMs;

/** Waits before the next attempts when the carrier asks to come back; the last one is kept to. */
const retryDelaysSeconds = [1, 5, 30, 120] as const;
const longestRetryDelaySeconds = 120;

/**
 * A message that the carrier puts off for so long has failed. Being put off says nothing against a message: a
 * campaign that is larger than what the carrier takes in a minute waits for its turn.
 */
const maxPutOffMs = 6 * hourMs;

/** How often the carrier is asked when it does not say anything that can be relied on. */
const maxUnknownOutcomes = 5;

/**
 * Hands one message to the carrier, at most once however often its job arrives, and brings it to its end:
 * sent, or failed with its refund queued, and its webhook event queued.
 * @param sending whether the stage sends; while it does not, the job is given a later start
 * @returns the message, if it has come to its end now and is to be counted
 * @throws Error when the job has to come again later: another sender holds the message, or a write failed
 */
export async function handToCarrier(
  job: MessageJob,
  carrier: Carrier,
  sending: Sending = {},
): Promise<MessageRecord | undefined> {
  const key = keys.message(job.organizationId, job.messageId);
  if (sending.pausedAt !== undefined && (await holdBack(job))) return undefined;
  // Before the claim: a read that fails behind it would leave open what the carrier did.
  const mustFail = await isSuspended(job.organizationId);
  const at = now();
  const token = randomUUID();
  const claimed = await updateItem(
    MessageRecord,
    claim(key, token, at, new Date(at.getTime() + claimLeaseMs)),
    { isOwn: ({ claimToken }) => claimToken === token },
  );
  if (claimed.applied) return handOff(claimed.item, carrier, { mustFail, sending });
  if (claimed.found === undefined) {
    log.warn("message.job_without_message", job);
    return undefined;
  }
  const message = MessageRecord.parse(claimed.found);
  if (message.status === "queued") throw new Error("another sender holds this message");
  // An earlier sender may have ended between the last state and what follows from it.
  await conclude(message);
  return undefined;
}

/**
 * Gives the job of a message that waits to be sent a later start, without a claim, which would count as an attempt.
 * @returns false when the message has come to its end, or is not there
 */
async function holdBack({ organizationId, messageId }: MessageJob): Promise<boolean> {
  const key = keys.message(organizationId, messageId);
  const message = await findItem(MessageRecord, key, { consistent: true });
  if (message?.status !== "queued") return false;
  await enqueue(sendJob(message, heldBackSeconds));
  return true;
}

interface Circumstances {
  /** Whether the organisation is suspended. */
  readonly mustFail: boolean;
  readonly sending: Sending;
}

async function handOff(
  message: MessageRecord,
  carrier: Carrier,
  { mustFail, sending: { resumedAt = "" } }: Circumstances,
): Promise<MessageRecord | undefined> {
  const delaySeconds = secondsUntil(message.scheduledAt);
  if (delaySeconds > 0) return comeBack(message, delaySeconds);
  if (message.openClaims > 1 && (mustFail || !carrier.deduplicates)) {
    // An earlier sender ended without a word on what the carrier did; asking again could send twice.
    return fail(message, "MESSAGE_OUTCOME_UNKNOWN");
  }
  if (mustFail) return fail(message, "ORGANIZATION_SUSPENDED");
  const refusal = await refusalBeforeHandOff(message).catch(async (error: unknown) => {
    // The carrier has not been asked, which is what a claim that stays open would leave in doubt.
    await applyToHeld(release(message), message);
    throw error;
  });
  // Where an earlier sender ended without a word, the carrier may have taken it, and it may not be asked.
  if (refusal !== undefined)
    return fail(message, message.openClaims > 1 ? "MESSAGE_OUTCOME_UNKNOWN" : refusal);
  const result = await askCarrier(message, carrier);
  countMetrics({ ...nothingCounted, [metricOf(result)]: 1 });
  switch (result.outcome) {
    case "accepted":
      return end(await applyToHeld(markSent(message, now(), result.carrierReference), message));
    case "refused":
      return fail(message, result.errorCode);
    case "unknown":
      // The job comes again when the claim has lapsed, until it has been tried enough. Being put off does not count.
      if (message.openClaims < maxUnknownOutcomes) {
        throw new Error(`what the carrier did is not known: ${result.errorName}`);
      }
      return fail(message, "MESSAGE_OUTCOME_UNKNOWN");
    case "tryLater": {
      const dueAt = message.scheduledAt ?? message.queuedAt;
      const waitsSince = resumedAt > dueAt ? resumedAt : dueAt;
      const isTooOld = now().getTime() - Date.parse(waitsSince) > maxPutOffMs;
      if (isTooOld) return fail(message, "MESSAGE_PROVIDER_ERROR");
      return comeBack(message, retryDelaysSeconds[message.attempts - 1] ?? longestRetryDelaySeconds);
    }
  }
}

/** What the carrier says, or that it did not say anything that can be relied on. */
type CarrierAnswer = HandOff | { readonly outcome: "unknown"; readonly errorName: string };

async function askCarrier(message: MessageRecord, carrier: Carrier): Promise<CarrierAnswer> {
  const answered = new AbortController();
  const silence = delay(carrierTimeoutMs, undefined, { signal: answered.signal, ref: false });
  try {
    return await Promise.race([
      carrier.send({
        reference: message.id,
        to: message.to,
        from: message.senderId,
        text: message.message,
        encoding: message.encoding,
        isPromotional: message.messageType === "marketing",
      }),
      silence.then(() => {
        throw new Error("the carrier did not answer in time");
      }),
    ]);
  } catch (error) {
    // Its name only: the message of a carrier's error may hold anything, a secret too.
    return { outcome: "unknown", errorName: error instanceof Error ? error.name : typeof error };
  } finally {
    silence.catch(() => undefined);
    answered.abort();
  }
}

/** Shares of the whole can be reckoned where all outcomes are counted at the same moments. */
const nothingCounted = {
  CarrierAccepted: 0,
  CarrierInvalidDestinations: 0,
  CarrierPutOff: 0,
  CarrierRefused: 0,
  CarrierUnknown: 0,
} as const satisfies { [Name in MetricName]?: number };

function metricOf(answer: CarrierAnswer): keyof typeof nothingCounted {
  switch (answer.outcome) {
    case "accepted":
      return "CarrierAccepted";
    case "refused":
      // A number that does not exist says nothing against the carrier or the stage.
      return answer.errorCode === "MESSAGE_INVALID_DESTINATION"
        ? "CarrierInvalidDestinations"
        : "CarrierRefused";
    case "tryLater":
      return "CarrierPutOff";
    case "unknown":
      return "CarrierUnknown";
  }
}

/** Ends a message as failed. The refund that is then owed is written down in the same transaction. */
async function fail(held: MessageRecord, errorCode: MessageErrorCode): Promise<MessageRecord> {
  const at = now();
  const result = await transact([markFailed(held, at, errorCode), owedRefund(held, at)]);
  if (result.outcome === "refused") throw claimLapsed(held);
  const failed = await findItem(MessageRecord, messageKey(held), { consistent: true });
  return end(MessageRecord.parse(failed));
}

/** What follows when a message that this sender held has come to its end. */
async function end(ended: MessageRecord): Promise<MessageRecord> {
  const { organizationId, id: messageId, errorCode } = ended;
  log.info(errorCode === undefined ? "message.sent" : "message.failed", {
    organizationId,
    messageId,
    errorCode,
  });
  await conclude(ended);
  return ended;
}

/** Gives the message back and its job a later start. A crash in between lets the present job come again. */
async function comeBack(message: MessageRecord, delaySeconds: number): Promise<undefined> {
  await applyToHeld(release(message), message);
  await enqueue(sendJob(message, delaySeconds));
}

/** Applies a transition of a message that this sender holds. */
async function applyToHeld(transition: Update, held: MessageRecord): Promise<MessageRecord> {
  const applied = await updateItem(MessageRecord, transition, {
    // Nobody claimed it since, and it is free.
    isOwn: ({ attempts, claimToken }) => attempts === held.attempts && claimToken === undefined,
  });
  if (applied.applied) return applied.item;
  throw claimLapsed(held);
}

function claimLapsed({ id }: MessageRecord): Error {
  return new Error(`the claim on message ${id} lapsed before its outcome was recorded`);
}

/** What follows from a final state. Doing it again changes nothing, apart from repeating the event. */
async function conclude(message: MessageRecord): Promise<void> {
  if (message.refund === "due") {
    // The sender talks to the outside and may not touch a wallet; another function returns the money.
    await enqueue(refundJob(message));
  }
  const event = eventOf(message);
  if (event !== undefined) await enqueue(eventJob(message.organizationId, event));
}

/** What the customer hears about; nothing of a message that the customer cancelled. */
function eventOf(message: MessageRecord): WebhookEvent | undefined {
  const { id, to, status, sentAt, failedAt, errorCode } = message;
  if (status === "sent" && sentAt !== undefined) {
    return { event: "message.sent", timestamp: sentAt, data: { id, to, status } };
  }
  if (status === "failed" && failedAt !== undefined && errorCode !== undefined) {
    return { event: "message.failed", timestamp: failedAt, data: { id, to, errorCode } };
  }
  if (status === "cancelled") return undefined;
  throw new Error(`message ${id} has no final state`);
}
