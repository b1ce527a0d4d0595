import { LedgerEntryRecord } from "../../money/wallet/ledger.ts";
import { secondsUntil, type QueuedJob } from "../../platform/jobs/job.ts";
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

/** A job, the dependencies of its sender, and the state of its organization. */
interface Call {
  readonly job: MessageJob;
  readonly sender: Sender;
  readonly organization: OrganizationState;
}

/**
 * Submits one message to a carrier, at most once however often its job arrives. It ends as sent, or as failed with its
 * refund queued, and its webhook event is queued. If a carrier definitely did not accept the message, it fails over to the
 * next one of its route. A message with an unknown outcome goes to no other carrier. A test message goes to the sandbox. If it
 * cannot be submitted now, a later job is queued.
 * @returns the message, if it has ended now and is to be counted
 * @throws Error when the job has to return later: another sender has its lease, or a write failed
 */
export async function submitMessage(job: MessageJob, present: Sender): Promise<MessageRecord | undefined> {
  const sender = effectsOf({ id: job.messageId }).usesSandbox ? testSender(present) : present;
  // These reads come before the lease. A later failed read would make the outcome unknown.
  const [organization, read, payment] = await Promise.all([
    sender.stateOf(job.organizationId),
    job.facts === undefined ? findOfJob(job) : undefined,
    paymentOf(job),
  ]);
  if (payment !== "paid") return payment === "later" ? waitForPayment(job, read) : reportUnpaid(job);
  const call = { job, sender, organization };
  // The job of most messages carries the fields that decide the route, so that the message need not be read.
  const choiceByFacts = await chooseByFacts(job, sender, organization);
  let found: MessageRecord | undefined;
  if (choiceByFacts?.kind === "submit") {
    requireTimeToSubmit(sender);
    const acquired = await acquireByFacts(job, sender, choiceByFacts);
    if (acquired.leased !== undefined) return submitLeased(acquired.leased, choiceByFacts, call);
    ({ found } = acquired);
  }
  const message = read ?? found ?? (await findOfJob(job));
  if (message === undefined) return reportMissing(job);
  if (message.status !== "queued") return publishAgain(message, call);
  const laterJob = jobAfterPause(message, sender) ?? jobAtItsTime(message);
  if (laterJob !== undefined) {
    await enqueue(laterJob);
    return undefined;
  }
  // The choice to wait may have reserved a start already, so it is not made again.
  const keepsChoice = choiceByFacts?.kind === "wait" && message.attempts === 0;
  const choice = keepsChoice ? choiceByFacts : await chooseOrFail(message, call);
  if (choice.kind === "wait") return reschedule(message, choice, job);
  if (choice.kind === "submit") requireTimeToSubmit(sender);
  const leased = await acquireMessage(message, choice);
  return leased.status === "queued" ? submitLeased(leased, choice, call) : publishAgain(leased, call);
}

function reportMissing({ organizationId, messageId }: MessageJob): undefined {
  log.warn("message.job_without_message", { organizationId, messageId });
}

/** Publishes a message that has ended: an earlier sender may have stopped between the final state and its publication. */
async function publishAgain(ended: MessageRecord, { organization }: Call): Promise<undefined> {
  await publishOutcome(ended, organization);
}

/** Returns the job that checks again whether sending is paused. No lease is acquired, because it would count as an attempt. */
function jobAfterPause(message: MessageRecord, { sending }: Sender): QueuedJob | undefined {
  if (sending.pausedAt === undefined || isExpired(message)) return undefined;
  return sendJobWithFacts(message, Math.min(heldBackSeconds, secondsUntilExpired(message)));
}

function jobAtItsTime(message: MessageRecord): QueuedJob | undefined {
  const delaySeconds = secondsUntil(message.scheduledAt);
  return delaySeconds > 0 ? sendJob(message, delaySeconds) : undefined;
}

/** Submits a message whose lease this sender has. @returns the message, if it has ended */
async function submitLeased(
  leased: MessageRecord,
  choice: Decision,
  { job, sender, organization }: Call,
): Promise<MessageRecord | undefined> {
  const ended = await new Submission(sender, job).bringToItsEnd(leased, choice);
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
 * Requires time for a submission before the lease is acquired, because a sender that runs out of time leaves the outcome open.
 * The queue delivers the job again.
 * @throws Error when too little time is left
 */
function requireTimeToSubmit(sender: Sender): void {
  if (!hasTimeToSubmit(sender)) throw new Error("too little time is left to submit the message");
}

/** How long a job waits for the ledger entry of its message: longer in total than a function can run. */
const paymentWaitSeconds = 2;
const maxPaymentWaits = 30;

/**
 * Finds out whether the message of a job is paid. Entries never change, so that one which an eventually consistent read finds is
 * there. Another entry with its seq means that the debit was returned.
 */
async function paymentOf({ entry: key, messageId }: MessageJob): Promise<"later" | "never" | "paid"> {
  if (key === undefined) return "paid";
  const entry =
    (await findItem(LedgerEntryRecord, key)) ??
    (await findItem(LedgerEntryRecord, key, { consistent: true }));
  if (entry === undefined) return "later";
  return entry.type === "message" && entry.messageId === messageId ? "paid" : "never";
}

/** Lets a job return. After its last wait, the function has ended that may write the entry: the reconciler has the rest. */
async function waitForPayment(job: MessageJob, read: MessageRecord | undefined): Promise<undefined> {
  const { organizationId, messageId: id, entry, facts, waits = 0 } = job;
  if (waits >= maxPaymentWaits) return reportUnpaid(job);
  const message = { organizationId, id, messageType: (read ?? facts)?.messageType };
  await enqueue(sendJob(message, paymentWaitSeconds, { entry, facts, waits: waits + 1 }));
}

function reportUnpaid({ organizationId, messageId }: MessageJob): undefined {
  log.warn("message.job_without_payment", { organizationId, messageId });
}

/** Returns the message of a job. If the first read does not find it, it may be new, so a consistent read follows. */
async function findOfJob({ organizationId, messageId }: MessageJob): Promise<MessageRecord | undefined> {
  const key = messageKey({ organizationId, id: messageId });
  return (await findItem(MessageRecord, key)) ?? (await findItem(MessageRecord, key, { consistent: true }));
}

/** Chooses a carrier. The message fails instead if it has expired, or if a change since its acceptance forbids it. */
async function chooseOrFail(message: MessageRecord, { job, sender, organization }: Call): Promise<Choice> {
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
