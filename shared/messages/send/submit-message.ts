import { secondsUntil } from "../../platform/jobs/job.ts";
import { heldBackSeconds } from "../../platform/jobs/pause.ts";
import { enqueue } from "../../platform/jobs/queue.ts";
import { log } from "../../platform/log.ts";
import { findItem } from "../../platform/table/read.ts";
import { messageKey } from "../../platform/table/shards.ts";
import type { OrganizationState } from "../../tenancy/organizations/record.ts";
import { rejectionBeforeSubmit } from "../accept/policies.ts";
import { effectsOf } from "../message/effects.ts";
import { sendJob, sendJobWithFacts, type MessageJob } from "../message/message-job.ts";
import { MessageRecord } from "../message/record.ts";
import { isExpired, secondsUntilExpired } from "../message/validity.ts";
import { publishOutcome } from "../outcome/publish-outcome.ts";
import { chooseByFacts, acquireByFacts } from "./acquire-by-facts.ts";
import { acquireMessage, type Decision } from "./acquire-message.ts";
import { chooseCarrier, type Choice, type Sender } from "./choose-carrier.ts";
import { isRescheduledTooLong, reschedule } from "./reschedule.ts";
import { Submission, hasTimeToSubmit } from "./submission.ts";
import { testSender } from "./test-sender.ts";

/**
 * Submits one message to a carrier, at most once however often its job arrives. It ends as sent, or as failed with its
 * refund queued, and its webhook event is queued. If a carrier definitely did not accept the message, it fails over to the
 * next one of its route. A message with an unknown outcome goes to no other carrier. A test message goes to the sandbox.
 * @returns the message, if it has ended now and is to be counted
 * @throws Error when the job has to return later: another sender holds the message, or a write failed
 */
export async function submitMessage(job: MessageJob, present: Sender): Promise<MessageRecord | undefined> {
  const sender = effectsOf({ id: job.messageId }).usesSandbox ? testSender(present) : present;
  // Before the lease is acquired: if a read failed after that, the outcome would count as unknown.
  const [organization, read] = await Promise.all([
    sender.stateOf(job.organizationId),
    job.facts === undefined ? findOfJob(job) : undefined,
  ]);
  const choiceByFacts = await chooseByFacts(job, sender, organization);
  let found: MessageRecord | undefined;
  if (choiceByFacts?.kind === "ask") {
    requireTimeToSubmit(sender);
    const acquired = await acquireByFacts(job, sender, choiceByFacts);
    if (acquired.held !== undefined) {
      return submitHeld(acquired.held, choiceByFacts, { sender, organization, job });
    }
    ({ found } = acquired);
  }
  const message = read ?? found ?? (await findOfJob(job));
  if (message === undefined) {
    const { organizationId, messageId } = job;
    log.warn("message.job_without_message", { organizationId, messageId });
    return undefined;
  }
  if (message.status !== "queued") {
    // An earlier sender may have ended between the final state and its publication.
    await publishOutcome(message, organization);
    return undefined;
  }
  if (sender.sending.pausedAt !== undefined && !isExpired(message)) {
    // Without a lease, which would count as an attempt.
    await enqueue(sendJobWithFacts(message, Math.min(heldBackSeconds, secondsUntilExpired(message))));
    return undefined;
  }
  const delaySeconds = secondsUntil(message.scheduledAt);
  if (delaySeconds > 0) {
    await enqueue(sendJob(message, delaySeconds));
    return undefined;
  }
  // A start that was reserved for it is not reserved twice.
  const isAsInJob = choiceByFacts?.kind === "wait" && message.attempts === 0;
  const choice = isAsInJob ? choiceByFacts : await chooseOrFail(message, sender, { organization, job });
  if (choice.kind === "wait") {
    await reschedule(message, choice, job);
    return undefined;
  }
  if (choice.kind === "ask") requireTimeToSubmit(sender);
  const held = await acquireMessage(message, choice);
  if (held.status !== "queued") {
    await publishOutcome(held, organization);
    return undefined;
  }
  return submitHeld(held, choice, { sender, organization, job });
}

/** Submits a message that this sender holds. @returns the message, if it has ended */
async function submitHeld(
  held: MessageRecord,
  choice: Decision,
  {
    sender,
    organization,
    job,
  }: { readonly sender: Sender; readonly organization: OrganizationState; readonly job: MessageJob },
): Promise<MessageRecord | undefined> {
  const ended = await new Submission(sender, job).bringToItsEnd(held, choice);
  if (ended === undefined) return undefined;
  const { organizationId, id: messageId, carrier, errorCode, attemptLog } = ended;
  log.info(errorCode === undefined ? "message.sent" : "message.failed", {
    organizationId,
    messageId,
    carrier,
    errorCode,
    // A message that its first carrier accepted has no attempts to report.
    providerCode: attemptLog?.at(-1)?.code,
    attempts: attemptLog,
  });
  await publishOutcome(ended, organization);
  return ended;
}

/**
 * Requires time for a submission before the lease is acquired, because a sender that ends later leaves the outcome open.
 * The queue delivers the job again.
 * @throws Error when too little time is left
 */
function requireTimeToSubmit(sender: Sender): void {
  if (!hasTimeToSubmit(sender)) throw new Error("too little time is left to submit the message");
}

/** Returns the message of a job. If the first read does not find it, it may be new, so a consistent read follows. */
async function findOfJob({ organizationId, messageId }: MessageJob): Promise<MessageRecord | undefined> {
  const key = messageKey({ organizationId, id: messageId });
  return (await findItem(MessageRecord, key)) ?? (await findItem(MessageRecord, key, { consistent: true }));
}

/** Chooses a carrier, unless a change since the message was accepted forbids it. */
async function chooseOrFail(
  message: MessageRecord,
  sender: Sender,
  { organization, job }: { readonly organization: OrganizationState; readonly job: MessageJob },
): Promise<Choice> {
  const { isSuspended, isPaused, mayHaveReplies } = organization;
  const rejection = isSuspended
    ? "ORGANIZATION_SUSPENDED"
    : isPaused && effectsOf(message).hasLiveRules
      ? "SENDING_PAUSED"
      : await rejectionBeforeSubmit(message, mayHaveReplies);
  if (rejection !== undefined) return { kind: "fail", errorCode: rejection };
  if (isExpired(message)) return { kind: "fail", errorCode: "MESSAGE_EXPIRED" };
  const choice = await chooseCarrier(message, sender, job.reservedStart);
  if (choice.kind !== "wait" || choice.reservedStart !== undefined || !isRescheduledTooLong(job))
    return choice;
  return { kind: "fail", errorCode: "MESSAGE_PROVIDER_ERROR" };
}
