import { randomUUID } from "node:crypto";

import { stateOfOrganization, type OrganizationState } from "../accounts/organization-record.ts";
import type { HandOff } from "../carriers/carrier.ts";
import type { NamedCarrier } from "../carriers/carriers.ts";
import type { MessageErrorCode } from "../contract/sms.ts";
import type { WebhookEvent } from "../contract/webhooks.ts";
import { eventJob } from "../events/event-job.ts";
import { hourMs, minuteMs, now, secondMs } from "../platform/clock.ts";
import { secondsUntil, type QueuedJob } from "../platform/jobs/job.ts";
import { enqueue } from "../platform/jobs/queue.ts";
import { log } from "../platform/log.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem, transact, updateItem, type Update } from "../platform/table/table.ts";
import { costMicrosOf } from "../prices/cost.ts";
import {
  askCarrier,
  attemptOf,
  isOfWorkingCarrier,
  usualCarrierTimeoutMs,
  type CarrierAnswer,
} from "./ask-carrier.ts";
import { withAttempt } from "./attempts.ts";
import { chooseCarrier, chooseNext, type Choice, type Sender } from "./choose-carrier.ts";
import { owedRefund, refundJob, sendJob, type MessageJob } from "./message-job.ts";
import { refusalBeforeHandOff } from "./policies.ts";
import {
  claim,
  type Claim,
  markFailed,
  markSent,
  messageKey,
  MessageRecord,
  noteWaiting,
  passOn,
  redactedText,
  release,
  sentByReceipt,
} from "./record.ts";
import { heldBackSeconds } from "./sending-pause.ts";
import { isExpired, secondsUntilExpired } from "./validity.ts";

/**
 * Longer than a sender can run, so that a claim lapses only when its sender is surely gone; shorter than the
 * queue hides a job, so that it has lapsed when the job comes again.
 */
const claimLeaseMs = minuteMs;

/** The time that a sender needs after a carrier's answer, to record it though the table be slow. */
const recordingMs = 2 * secondMs;

/** Waits before the next attempts when the carrier asks to come back; the last one is kept to. */
const retryDelaysSeconds = [1, 5, 30, 120] as const;
const longestRetryDelaySeconds = 120;

/**
 * A message that carriers put off for so long fails. The time runs from the first time that one puts it off, whatever
 * the message waited for before: its schedule, a pause, its turn in a large campaign.
 */
const maxPutOffMs = 6 * hourMs;

/** How often the carrier is asked when it does not say anything that can be relied on. */
const maxUnknownOutcomes = 5;

/** A message that waits so long for its turn is noted to have its job, before the reconciler takes it for stranded. */
const notedAfterMs = 5 * minuteMs;

/**
 * Hands one message to a carrier, at most once however often its job arrives, and brings it to its end: sent, or failed
 * with its refund queued, and its webhook event queued. What a carrier surely did not take goes to the next one of its
 * route; of what nobody knows no other carrier hears.
 * @returns the message, if it has come to its end now and is to be counted
 * @throws Error when the job has to come again later: another sender holds the message, or a write failed
 */
export async function handToCarrier(job: MessageJob, sender: Sender): Promise<MessageRecord | undefined> {
  // Before the claim: if a read failed after it, what the carrier did would count as unknown.
  const [message, organization] = await Promise.all([
    findOfJob(job),
    stateOfOrganization(job.organizationId),
  ]);
  if (message === undefined) {
    const { organizationId, messageId } = job;
    log.warn("message.job_without_message", { organizationId, messageId });
    return undefined;
  }
  if (message.status !== "queued") {
    // An earlier sender may have ended between the last state and what follows from it.
    await conclude(message, organization);
    return undefined;
  }
  if (sender.sending?.pausedAt !== undefined && !isExpired(message)) {
    // Without a claim, which would count as an attempt.
    await enqueue(sendJob(message, Math.min(heldBackSeconds, secondsUntilExpired(message))));
    return undefined;
  }
  const delaySeconds = secondsUntil(message.scheduledAt);
  if (delaySeconds > 0) {
    await enqueue(sendJob(message, delaySeconds));
    return undefined;
  }
  const choice = await chooseOrFail(message, sender, { organization, job });
  if (choice.kind === "wait") {
    await waitForTurn(message, choice, job);
    return undefined;
  }
  // Without a claim, which would leave open what the carrier did: the queue brings the job back.
  if (choice.kind === "ask" && !hasTimeToAsk(sender))
    throw new Error("too little time is left to ask a carrier");
  const held = await claimFor(message, sender, choice);
  if (held.status !== "queued") {
    await conclude(held, organization);
    return undefined;
  }
  const ended = await new HandOver(sender, job).bringToItsEnd(held, choice);
  if (ended === undefined) return undefined;
  const { organizationId, id: messageId, carrier, errorCode, attemptLog } = ended;
  log.info(errorCode === undefined ? "message.sent" : "message.failed", {
    organizationId,
    messageId,
    carrier,
    errorCode,
    // A message that the first carrier took has nothing to say.
    providerCode: attemptLog?.at(-1)?.code,
    attempts: attemptLog,
  });
  await conclude(ended, organization);
  return ended;
}

/** The message of a job. What is not seen yet may only just have been written. */
async function findOfJob({ organizationId, messageId }: MessageJob): Promise<MessageRecord | undefined> {
  const key = keys.message(organizationId, messageId);
  return (await findItem(MessageRecord, key)) ?? (await findItem(MessageRecord, key, { consistent: true }));
}

/** Chooses a carrier, unless something that changed since the message was accepted forbids it. */
async function chooseOrFail(
  message: MessageRecord,
  sender: Sender,
  { organization, job }: { readonly organization: OrganizationState; readonly job: MessageJob },
): Promise<Choice> {
  const { isSuspended, mayHaveReplies } = organization;
  const refusal = isSuspended
    ? "ORGANIZATION_SUSPENDED"
    : await refusalBeforeHandOff(message, mayHaveReplies);
  if (refusal !== undefined) return { kind: "fail", errorCode: refusal };
  if (isExpired(message)) return { kind: "fail", errorCode: "MESSAGE_EXPIRED" };
  const choice = await chooseCarrier(message, sender, job.slot);
  if (choice.kind !== "wait" || choice.slot !== undefined || !isPutOffTooLong(job)) return choice;
  return { kind: "fail", errorCode: "MESSAGE_PROVIDER_ERROR" };
}

function isPutOffTooLong({ putOffSince }: MessageJob): boolean {
  return putOffSince !== undefined && now().getTime() - Date.parse(putOffSince) > maxPutOffMs;
}

/** Whether a carrier can be asked, time out, and be recorded, before the sender itself is ended. */
function hasTimeToAsk({ carrierTimeoutMs = usualCarrierTimeoutMs, remainingTimeMs }: Sender): boolean {
  return remainingTimeMs === undefined || remainingTimeMs() >= carrierTimeoutMs + recordingMs;
}

/** A later start for a job. */
type Wait = Omit<Extract<Choice, { kind: "wait" }>, "kind">;

/**
 * The job of a message that starts later. Without a slot the message is put off. While it waits for its slot, the time
 * for which it has been put off stands still.
 */
function laterJob(message: MessageRecord, wait: Wait, { putOffSince }: MessageJob): QueuedJob {
  const { slot } = wait;
  // At its expiry it fails, whatever it waits for.
  const delaySeconds = Math.min(wait.delaySeconds, secondsUntilExpired(message));
  if (slot === undefined) {
    return sendJob(message, delaySeconds, { putOffSince: putOffSince ?? now().toISOString() });
  }
  if (putOffSince === undefined) return sendJob(message, delaySeconds, { slot });
  const since = new Date(Date.parse(putOffSince) + delaySeconds * secondMs).toISOString();
  return sendJob(message, delaySeconds, { slot, putOffSince: since });
}

/** Gives the job of a message that nobody holds a later start. */
async function waitForTurn(message: MessageRecord, wait: Wait, job: MessageJob): Promise<void> {
  const waitsUntilMs = now().getTime() + wait.delaySeconds * secondMs;
  const dueAt = message.scheduledAt ?? message.queuedAt;
  if (message.attempts === 0 && waitsUntilMs - Date.parse(dueAt) > notedAfterMs) {
    // Refused where another sender has it, which then sees to its job.
    await updateItem(MessageRecord, noteWaiting(message));
  }
  await enqueue(laterJob(message, wait, job));
}

/** A choice that needs the message to be held. */
type Decision = Exclude<Choice, { kind: "wait" }>;

/**
 * Claims a message for what was chosen.
 * @returns the message as it is held now, or as it is since it has come to its end meanwhile
 * @throws Error when another sender holds it, or it was chosen by what has changed since
 */
async function claimFor(
  message: MessageRecord,
  { carriers }: Sender,
  choice: Decision,
): Promise<MessageRecord> {
  const at = now();
  const token = randomUUID();
  const carrier = choice.kind === "ask" ? choice.named.name : undefined;
  const isStageCarrier = carrier !== undefined && carriers.named(undefined)?.name === carrier;
  const until = new Date(at.getTime() + claimLeaseMs);
  const claimed = await updateItem(
    MessageRecord,
    claim(messageKey(message), {
      token,
      at,
      until,
      carrier,
      isStageCarrier,
      lapsed: lapsedClaim(message, at),
    }),
    { isOwn: ({ claimToken }) => claimToken === token },
  );
  if (claimed.applied) return claimed.item;
  const found = MessageRecord.parse(claimed.found);
  if (found.status === "queued") throw new Error("another sender holds this message");
  return found;
}

/** The claim of a sender that ended without a word on what its carrier did, and the attempts with that one. */
function lapsedClaim(message: MessageRecord, at: Date): Claim["lapsed"] {
  const { openClaims, carrier, claimedUntil } = message;
  if (openClaims === 0 || carrier === undefined || claimedUntil === undefined) return undefined;
  if (claimedUntil >= at.toISOString()) return undefined;
  const askedAt = new Date(Date.parse(claimedUntil) - claimLeaseMs).toISOString();
  const { attemptLog } = withAttempt(message, { at: askedAt, carrier, outcome: "unknown" });
  return { claimedUntil, attemptLog };
}

/** One message on its way from carrier to carrier, in the hands of one sender. */
class HandOver {
  readonly #sender: Sender;
  readonly #job: MessageJob;
  readonly #tried = new Set<string>();

  constructor(sender: Sender, job: MessageJob) {
    this.#sender = sender;
    this.#job = job;
  }

  /** @returns the message, if it has come to its end */
  async bringToItsEnd(held: MessageRecord, choice: Decision): Promise<MessageRecord | undefined> {
    const sentAt = sentByReceipt(held);
    if (sentAt !== undefined) return this.#endAsSent(held, { at: sentAt });
    // The claim that was open when the carrier was chosen may be one of several: nobody may be asked then but who knows it.
    if (choice.kind === "fail") {
      // The open claim that this was decided by has been released since: its carrier surely did not take the message.
      const isOutdated = choice.errorCode === "MESSAGE_OUTCOME_UNKNOWN" && held.openClaims === 1;
      return isOutdated ? comeBack(held, sendJob(held, 1, this.#job)) : endAsUnsent(held, choice.errorCode);
    }
    if (held.openClaims > 1 && !choice.named.carrier.deduplicates) {
      return endAsFailed(held, "MESSAGE_OUTCOME_UNKNOWN");
    }
    return this.#ask(held, choice);
  }

  async #ask(
    held: MessageRecord,
    { named, probe }: Extract<Choice, { kind: "ask" }>,
  ): Promise<MessageRecord | undefined> {
    // The claim may have taken long. No carrier was asked, so the message is free again.
    if (!hasTimeToAsk(this.#sender)) return comeBack(held, sendJob(held, 1, this.#job));
    if (isExpired(held)) return endAsUnsent(held, "MESSAGE_EXPIRED");
    const answer = await askCarrier(held, named, this.#sender);
    const attempt = attemptOf(named.name, answer);
    const asked = attempt === undefined ? held : withAttempt(held, attempt);
    try {
      return await this.#settle(asked, named, answer);
    } finally {
      // After the message: a slow write here must not cost what the carrier's answer was.
      await this.#note(named.name, answer, probe);
    }
  }

  /** Does with a message what a carrier's answer asks for. */
  async #settle(
    held: MessageRecord,
    named: NamedCarrier,
    answer: CarrierAnswer,
  ): Promise<MessageRecord | undefined> {
    switch (answer.outcome) {
      case "accepted":
        return this.#endAsSent(held, { at: now(), carrierReference: answer.carrierReference });
      case "unknown":
        // The job comes again when the claim has lapsed, until it has been tried enough. Being put off does not count.
        if (held.openClaims < maxUnknownOutcomes) {
          throw new Error(`what the carrier did is not known: ${answer.errorName}`);
        }
        return endAsFailed(held, "MESSAGE_OUTCOME_UNKNOWN");
      case "refused":
        // What is wrong with the number is wrong for all carriers. And where an earlier sender ended without a word, the
        // carrier may have taken the message then, whatever it says now: no other one is asked.
        if (isForGood(answer.errorCode) || held.openClaims > 1) return endAsFailed(held, answer.errorCode);
        return this.#askNext({ ...held, refusedBy: [...(held.refusedBy ?? []), named.name] }, named, answer);
      case "notReached":
        return held.openClaims > 1 ? this.#putOff(held) : this.#askNext(held, named, answer);
      case "tryLater":
        return held.openClaims > 1
          ? this.#putOff(held, answer.retryAfterSeconds)
          : this.#askNext(held, named, answer);
    }
  }

  async #askNext(
    held: MessageRecord,
    { name }: NamedCarrier,
    answer: Exclude<HandOff, { outcome: "accepted" }>,
  ): Promise<MessageRecord | undefined> {
    this.#tried.add(name);
    const next = await chooseNext(held, this.#sender, this.#tried);
    if (next === undefined) {
      return endAsFailed(held, answer.outcome === "refused" ? answer.errorCode : "MESSAGE_PROVIDER_ERROR");
    }
    if (next.kind === "ask" && hasTimeToAsk(this.#sender)) {
      const until = new Date(now().getTime() + claimLeaseMs);
      const carrier = next.named.name;
      const passed = await updateItem(MessageRecord, passOn(held, carrier, until), {
        isOwn: ({ claimToken }) => claimToken === held.claimToken,
      });
      if (!passed.applied) throw claimLapsed(held);
      return this.#ask(passed.item, next);
    }
    if (next.kind === "wait" && next.slot !== undefined) {
      return comeBack(held, laterJob(held, next, this.#job));
    }
    return this.#putOff(held, answer.outcome === "tryLater" ? answer.retryAfterSeconds : undefined);
  }

  async #putOff(held: MessageRecord, retryAfterSeconds = 0): Promise<MessageRecord | undefined> {
    if (isPutOffTooLong(this.#job)) return endAsFailed(held, "MESSAGE_PROVIDER_ERROR");
    const delaySeconds = retryDelaysSeconds[held.attempts - 1] ?? longestRetryDelaySeconds;
    const wait = { delaySeconds: Math.max(delaySeconds, retryAfterSeconds) };
    return comeBack(held, laterJob(held, wait, this.#job));
  }

  /** Ends a message as sent by the carrier that it is held for. */
  async #endAsSent(
    held: MessageRecord,
    { at, carrierReference }: { readonly at: Date; readonly carrierReference?: string | undefined },
  ): Promise<MessageRecord> {
    const { carrier } = held;
    const { rateCard } = this.#sender;
    const costMicros = carrier === undefined ? undefined : costMicrosOf(rateCard, held, { carrier, at });
    return applyToHeld(markSent(held, at, { carrierReference, costMicros }), held);
  }

  /** Lets the breaker know. What becomes of the message does not depend on it. */
  async #note(carrier: string, answer: CarrierAnswer, probe: string | undefined): Promise<void> {
    try {
      await this.#sender.breakers?.note(carrier, isOfWorkingCarrier(answer), probe);
    } catch (error) {
      log.warn("carrier.breaker_not_noted", { carrier, error });
    }
  }
}

/** Whether no carrier is to be asked about a message that one has refused. */
function isForGood(errorCode: MessageErrorCode): boolean {
  return errorCode === "MESSAGE_INVALID_DESTINATION" || errorCode === "MESSAGE_RECIPIENT_OPTED_OUT";
}

/** Ends a message as failed that is not handed over any more: with what stands against it, unless it may have been sent before. */
async function endAsUnsent(held: MessageRecord, errorCode: MessageErrorCode): Promise<MessageRecord> {
  return endAsFailed(held, held.openClaims > 1 ? "MESSAGE_OUTCOME_UNKNOWN" : errorCode);
}

/** Ends a message as failed. The refund that is then owed is written down in the same transaction. */
async function endAsFailed(held: MessageRecord, errorCode: MessageErrorCode): Promise<MessageRecord> {
  const at = now();
  const result = await transact([markFailed(held, at, errorCode), owedRefund(held, at)]);
  if (result.outcome === "refused") throw claimLapsed(held);
  const failed = await findItem(MessageRecord, messageKey(held), { consistent: true });
  return MessageRecord.parse(failed);
}

/** Gives the message back and queues a later job. After a crash in between, the present job comes again. */
async function comeBack(message: MessageRecord, later: QueuedJob): Promise<undefined> {
  await applyToHeld(release(message), message);
  await enqueue(later);
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
async function conclude(message: MessageRecord, { hasWebhooks }: OrganizationState): Promise<void> {
  if (message.refund === "due") {
    // The sender talks to the outside and may not touch a wallet; another function returns the money.
    await enqueue(refundJob(message));
  }
  // Most customers have no webhook: the way to the dispatcher is a sixth of what their messages cost.
  const event = hasWebhooks ? eventOf(message) : undefined;
  if (event !== undefined) await enqueue(eventJob(message.organizationId, event));
}

/** What the customer hears about; nothing of a message that the customer cancelled, or whose number was erased. */
function eventOf(message: MessageRecord): WebhookEvent | undefined {
  const { id, to, status, sentAt, failedAt, errorCode } = message;
  if (to === redactedText) return undefined;
  if (status === "sent" && sentAt !== undefined) {
    return { event: "message.sent", timestamp: sentAt, data: { id, to, status } };
  }
  if (status === "failed" && failedAt !== undefined && errorCode !== undefined) {
    return { event: "message.failed", timestamp: failedAt, data: { id, to, errorCode } };
  }
  if (status === "cancelled") return undefined;
  throw new Error(`message ${id} has no final state`);
}
