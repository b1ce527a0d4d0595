import { stateOfOrganization, type OrganizationState } from "../accounts/organization-record.ts";
import { secondsUntil } from "../platform/jobs/job.ts";
import { enqueue } from "../platform/jobs/queue.ts";
import { log } from "../platform/log.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem } from "../platform/table/table.ts";
import { chooseCarrier, type Choice, type Sender } from "./choose-carrier.ts";
import { claimFor } from "./claim-message.ts";
import { conclude } from "./conclude.ts";
import { HandOver, hasTimeToAsk } from "./hand-over.ts";
import { sendJob, type MessageJob } from "./message-job.ts";
import { refusalBeforeHandOff } from "./policies.ts";
import { isPutOffTooLong, waitForTurn } from "./putting-off.ts";
import { MessageRecord } from "./record.ts";
import { heldBackSeconds } from "./sending-pause.ts";
import { isExpired, secondsUntilExpired } from "./validity.ts";

/**
 * Hands one message to a carrier, at most once however often its job arrives, and brings it to its end: sent, or failed
 * with its refund queued, and its webhook event queued. What a carrier surely did not take goes to the next one of its
 * route; no other carrier is asked about a message whose outcome is unknown.
 * @returns the message, if it has ended now and is to be counted
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
