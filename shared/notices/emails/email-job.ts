import type { WebhookEvent } from "../../api/contract/events.ts";
import { hourMs } from "../../platform/clock.ts";
import { derivedId, newId } from "../../platform/ids.ts";
import type { QueuedJob } from "../../platform/jobs/job.ts";
import { owedJob } from "../../platform/jobs/scheduled-job.ts";
import type { Put } from "../../platform/table/write.ts";
import type { BillingNotice, Email, EmailJob, OperatorNotice, Stopped } from "./email-kinds.ts";

/** A job that sends an email. */
export interface QueuedEmail extends QueuedJob {
  readonly body: EmailJob;
}

/**
 * Builds the job that sends an email.
 * @param group emails of one group are sent in turn: the group is an organization, or another set of senders
 * @param emailId the id of an email that may be queued more than once
 */
export function emailJob(group: string, email: Email, emailId: string = newId("eml")): QueuedEmail {
  const body: EmailJob = { ...email, id: emailId };
  return { queue: "emails", group, body };
}

/** Builds the job of the notice about held messages. An organization gets one in an hour, however often it is queued. */
export function heldEmail(organizationId: string, at: Date): QueuedEmail {
  const hour = new Date(Math.floor(at.getTime() / hourMs) * hourMs);
  const emailId = derivedId("eml", hour, `${organizationId} messagesHeld`);
  return emailJob(organizationId, { kind: "messagesHeld", organizationId }, emailId);
}

/**
 * Returns the write of the transaction that records a decision of the operator. It emails the decision to the organization in
 * about a quarter of an hour, because commands cannot queue jobs of functions.
 */
export function owedDecision(organizationId: string, senderIdId?: string): Put {
  return owedEmail(emailJob(organizationId, { kind: "reviewDecided", organizationId, senderIdId }));
}

/** Returns the write that emails a stop by the operator. Commands cannot queue jobs of functions. */
export function owedStop(organizationId: string, what: Stopped, stoppedId: string): Put {
  return owedEmail(emailJob(organizationId, { kind: "stopped", organizationId, what, stoppedId }));
}

/** Builds the job that emails a notice about payments. @param emailId makes it one email, however often it is queued */
export function billingEmail(organizationId: string, notice: BillingNotice, emailId: string): QueuedEmail {
  return emailJob(organizationId, { kind: "billing", organizationId, notice }, emailId);
}

/** Builds the job of an email to the operators. @param emailId makes it one email, however often it is queued */
export function operatorsEmail(notice: OperatorNotice, emailId: string): QueuedEmail {
  return emailJob("operators", { kind: "operators", notice }, emailId);
}

/**
 * Builds the job that emails an event to the owner of an organization.
 * The event's id makes it one email, even if the event is published repeatedly.
 * @returns undefined for an event that owners get no email about
 */
export function emailOfEvent(
  organizationId: string,
  eventId: string,
  event: WebhookEvent,
): QueuedEmail | undefined {
  if (event.event === "balance.low") {
    const { balance, lowBalanceThreshold } = event.data;
    const email = { kind: "lowBalance", organizationId, balance, lowBalanceThreshold } as const;
    return emailJob(organizationId, email, eventId);
  }
  if (event.event === "spend.cap_reached") {
    const { dailySpendCap, resetsAt } = event.data;
    const email = { kind: "spendCapReached", organizationId, dailySpendCap, resetsAt } as const;
    return emailJob(organizationId, email, eventId);
  }
  return undefined;
}

/**
 * The write to add to the transaction that causes an email. It sends the email later, even if the job that is queued
 * after the transaction gets lost.
 */
export function owedEmail(job: QueuedEmail): Put {
  return owedJob(job.body.id, job);
}
