import type { MessageErrorCode } from "../../api/contract/sms.ts";
import type { CallResult } from "../../carriers/breaker.ts";
import type { SubmitResult } from "../../carriers/carrier.ts";
import type { NamedCarrier } from "../../carriers/carriers.ts";
import { costMicrosOf } from "../../money/prices/cost.ts";
import { now, secondMs } from "../../platform/clock.ts";
import { ReturnsLater, type QueuedJob } from "../../platform/jobs/job.ts";
import { enqueue } from "../../platform/jobs/queue.ts";
import { log } from "../../platform/log.ts";
import { hasLease, renewedLease } from "../../platform/table/lease.ts";
import { findItem } from "../../platform/table/read.ts";
import { messageKey } from "../../platform/table/shards.ts";
import { transact } from "../../platform/table/transact.ts";
import { type Update, updateItem } from "../../platform/table/write.ts";
import { withAttempt } from "../message/attempts.ts";
import { effectsOf } from "../message/effects.ts";
import { owedRefund, sendJob, type MessageJob } from "../message/message-job.ts";
import { MessageRecord } from "../message/record.ts";
import { markFailed, markSent, noteUnknown, passOn, release, sentByReceipt } from "../message/transitions.ts";
import { isExpired } from "../message/validity.ts";
import { textToSubmit } from "../message/verification-code.ts";
import { recordWord } from "../opt-outs/opt-outs.ts";
import { messageLeaseMs, type Decision } from "./acquire-message.ts";
import { chooseNext, type Choice, type Sender } from "./choose-carrier.ts";
import { isRescheduledTooLong, laterJob, rescheduleSeconds } from "./reschedule.ts";
import {
  submitToCarrier,
  attemptOf,
  callResultOf,
  carrierTimeoutMs,
  type SubmitOutcome,
} from "./submit-to-carrier.ts";

/** The time that a sender needs after a carrier's response to record it, even if the table is slow. */
const recordingMs = 2 * secondMs;

/** The time until a message whose code could not be made is submitted again. */
const codeRetrySeconds = 10;

/** The number of attempts with an unknown outcome after which a message fails. */
const maxUnknownOutcomes = 5;

/** Whether the sender has time for a submission that times out, and for its recording. */
export function hasTimeToSubmit({ remainingTimeMs }: Sender): boolean {
  return remainingTimeMs() >= carrierTimeoutMs + recordingMs;
}

/** The submission of one message by one sender, from carrier to carrier. */
export class Submission {
  readonly #sender: Sender;
  readonly #job: MessageJob;
  readonly #tried = new Set<string>();

  constructor(sender: Sender, job: MessageJob) {
    this.#sender = sender;
    // The message has been acquired, so the next sender has to read it.
    this.#job = { ...job, facts: undefined };
  }

  /** @returns the message, if it has ended */
  async bringToItsEnd(leased: MessageRecord, choice: Decision): Promise<MessageRecord | undefined> {
    const sentAt = sentByReceipt(leased);
    if (sentAt !== undefined) return this.#endAsSent(leased, { at: sentAt });
    // Other attempts than the one that the choice is based on may be unresolved. Then only a carrier that recognizes
    // repeats may get the message.
    if (choice.kind === "fail") {
      // This decision rests on an attempt that has been released since: its carrier did not accept the message.
      const isOutdated = choice.errorCode === "MESSAGE_OUTCOME_UNKNOWN" && leased.unresolvedAttempts === 1;
      return isOutdated
        ? requeue(leased, sendJob(leased, 1, this.#job))
        : this.#endAsUnsent(leased, choice.errorCode);
    }
    if (leased.unresolvedAttempts > 1 && !choice.named.carrier.idempotent) {
      return this.#endAsFailed(leased, "MESSAGE_OUTCOME_UNKNOWN");
    }
    return this.#submit(leased, choice);
  }

  async #submit(
    leased: MessageRecord,
    { named, probe }: Extract<Choice, { kind: "submit" }>,
  ): Promise<MessageRecord | undefined> {
    // Acquiring the lease may have taken long. The message was not submitted, so it is free again.
    if (!hasTimeToSubmit(this.#sender)) return requeue(leased, sendJob(leased, 1, this.#job));
    if (isExpired(leased)) return this.#endAsUnsent(leased, "MESSAGE_EXPIRED");
    const text = await textToSubmit(leased).catch((error: unknown) => {
      log.error("message.code_missing", {
        organizationId: leased.organizationId,
        messageId: leased.id,
        error,
      });
    });
    // It waits for the key of its code, at most until it expires.
    if (text === undefined) return requeue(leased, sendJob(leased, codeRetrySeconds, this.#job));
    const startedAt = now();
    const response = await submitToCarrier(leased, text, named);
    const result = callResultOf(leased, response, startedAt);
    const attempt = attemptOf(named.name, response, startedAt);
    const attempted = attempt === undefined ? leased : withAttempt(leased, attempt);
    try {
      return await this.#settle(attempted, named, response);
    } finally {
      // After the message: a slow write here must not lose the carrier's outcome.
      await this.#note(named.name, result, probe);
    }
  }

  /** Applies the outcome of a submission to the message. */
  async #settle(
    leased: MessageRecord,
    named: NamedCarrier,
    response: SubmitOutcome,
  ): Promise<MessageRecord | undefined> {
    switch (response.outcome) {
      case "accepted":
        return this.#endAsSent(leased, { at: now(), carrierReference: response.carrierReference });
      case "unknown":
        // The job returns when the lease has lapsed. Delays by carriers are no attempts with an unknown outcome.
        if (leased.unresolvedAttempts < maxUnknownOutcomes) {
          await recordUnknown(leased);
          // The metric of unknown outcomes counts it, and an alarm on jobs would be a second one for one outage.
          throw new ReturnsLater(`what the carrier did is not known: ${response.errorName}`);
        }
        return this.#endAsFailed(leased, "MESSAGE_OUTCOME_UNKNOWN");
      case "rejected":
        if (response.errorCode === "MESSAGE_RECIPIENT_OPTED_OUT") await keepOptOut(leased);
        // An invalid number is invalid for all carriers. If an earlier outcome is unknown, that attempt may have been
        // accepted, whatever the carrier returns now. Then no other carrier gets the message.
        if (isForGood(response.errorCode) || leased.unresolvedAttempts > 1)
          return this.#endAsFailed(leased, response.errorCode);
        return this.#submitToNext(
          { ...leased, rejectedBy: [...(leased.rejectedBy ?? []), named.name] },
          named,
          response,
        );
      case "unreachable":
        return leased.unresolvedAttempts > 1
          ? this.#reschedule(leased)
          : this.#submitToNext(leased, named, response);
      case "throttled":
        return leased.unresolvedAttempts > 1
          ? this.#reschedule(leased, response.retryAfterSeconds)
          : this.#submitToNext(leased, named, response);
    }
  }

  async #submitToNext(
    leased: MessageRecord,
    { name }: NamedCarrier,
    response: Exclude<SubmitResult, { outcome: "accepted" }>,
  ): Promise<MessageRecord | undefined> {
    this.#tried.add(name);
    const next = await chooseNext(leased, this.#sender, this.#tried);
    if (next === undefined) {
      return this.#endAsFailed(
        leased,
        response.outcome === "rejected" ? response.errorCode : "MESSAGE_PROVIDER_ERROR",
      );
    }
    if (next.kind === "submit" && hasTimeToSubmit(this.#sender)) {
      const at = now();
      const lease = renewedLease(leased, at, messageLeaseMs);
      const passed = await updateItem(MessageRecord, passOn(leased, next.named.name, lease, at), {
        isOwn: hasLease(lease),
      });
      if (!passed.applied) throw leaseLapsed(leased);
      return this.#submit(passed.item, next);
    }
    if (next.kind === "wait" && next.reservedStart !== undefined) {
      return requeue(leased, laterJob(leased, next, this.#job));
    }
    return this.#reschedule(
      leased,
      response.outcome === "throttled" ? response.retryAfterSeconds : undefined,
    );
  }

  async #reschedule(leased: MessageRecord, retryAfterSeconds = 0): Promise<MessageRecord | undefined> {
    if (isRescheduledTooLong(this.#job)) return this.#endAsFailed(leased, "MESSAGE_PROVIDER_ERROR");
    const delaySeconds = rescheduleSeconds(leased, retryAfterSeconds);
    return requeue(leased, laterJob(leased, { delaySeconds }, this.#job));
  }

  /** Ends a message as sent by its carrier. */
  async #endAsSent(
    leased: MessageRecord,
    { at, carrierReference }: { readonly at: Date; readonly carrierReference?: string | undefined },
  ): Promise<MessageRecord> {
    const costMicros = this.#costOf(leased, at);
    return applyToLeased(markSent(leased, at, { carrierReference, costMicros }), leased);
  }

  /** Ends a message as failed that may no longer be submitted. If it may have been sent before, its outcome is unknown. */
  async #endAsUnsent(leased: MessageRecord, errorCode: MessageErrorCode): Promise<MessageRecord> {
    return this.#endAsFailed(leased, leased.unresolvedAttempts > 1 ? "MESSAGE_OUTCOME_UNKNOWN" : errorCode);
  }

  /** Ends a message as failed, and records the refund that it owes in the same transaction. A test message owes none. */
  async #endAsFailed(leased: MessageRecord, errorCode: MessageErrorCode): Promise<MessageRecord> {
    const at = now();
    const costMicros = errorCode === "MESSAGE_OUTCOME_UNKNOWN" ? this.#costOf(leased, at) : undefined;
    const result = await transact({
      message: markFailed(leased, at, { errorCode, costMicros }),
      refund: effectsOf(leased).isPaid ? owedRefund(leased, at) : [],
    });
    if (result.outcome === "rejected") throw leaseLapsed(leased);
    const failed = await findItem(MessageRecord, messageKey(leased), { consistent: true });
    return MessageRecord.parse(failed);
  }

  #costOf(message: MessageRecord, at: Date): number | undefined {
    const { carrier } = message;
    return carrier === undefined ? undefined : costMicrosOf(this.#sender.rateCard, message, { carrier, at });
  }

  /** Informs the breaker. The message does not depend on it. */
  async #note(carrier: string, result: CallResult, probe: string | undefined): Promise<void> {
    try {
      await this.#sender.breakers.note(carrier, result, probe);
    } catch (error) {
      log.warn("carrier.breaker_not_noted", { carrier, error });
    }
  }
}

/** Records an attempt without a known outcome, for the people who look for the message. The lease has its state without it too. */
async function recordUnknown(attempted: MessageRecord): Promise<void> {
  try {
    await updateItem(MessageRecord, noteUnknown(attempted));
  } catch (error) {
    const { organizationId, id: messageId } = attempted;
    log.warn("message.attempt_not_recorded", { organizationId, messageId, error });
  }
}

/** Records that a person has sent STOP to a carrier, which keeps it to itself otherwise. */
async function keepOptOut(message: MessageRecord): Promise<void> {
  if (!effectsOf(message).hasLiveRules) return;
  await recordWord(message.organizationId, message.to, { word: "stop", saidAt: now().toISOString() });
}

/** Whether no other carrier may get a message that one has rejected. */
function isForGood(errorCode: MessageErrorCode): boolean {
  return errorCode === "MESSAGE_INVALID_DESTINATION" || errorCode === "MESSAGE_RECIPIENT_OPTED_OUT";
}

/** Releases the message and queues a later job. After a crash in between, the present job returns. */
async function requeue(message: MessageRecord, later: QueuedJob): Promise<undefined> {
  await applyToLeased(release(message), message);
  await enqueue(later);
}

/** Applies a transition of a message that this sender holds. */
export async function applyToLeased(
  transition: Update<"message">,
  leased: MessageRecord,
): Promise<MessageRecord> {
  const applied = await updateItem(MessageRecord, transition, {
    // No other sender has acquired it since, and it is free.
    isOwn: ({ attempts, leaseToken }) => attempts === leased.attempts && leaseToken === undefined,
  });
  if (applied.applied) return applied.item;
  throw leaseLapsed(leased);
}

function leaseLapsed({ id }: MessageRecord): Error {
  return new Error(`the lease on message ${id} lapsed before its outcome was recorded`);
}
