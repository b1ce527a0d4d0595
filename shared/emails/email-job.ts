import * as z from "zod/mini";

import type { WebhookEvent } from "../contract/events.ts";
import { minuteMs, now } from "../platform/clock.ts";
import { newId } from "../platform/ids.ts";
import { dueJob } from "../platform/jobs/due-job.ts";
import type { QueuedJob } from "../platform/jobs/job.ts";
import type { Put } from "../platform/table/table.ts";

/** Later than any queue can hold a job, as what waits in the table has to be. */
const sendAgainAfterMs = 16 * minuteMs;

/** With this id an email is sent once, however often its job comes. */
const id = z.string();

/** That somebody has to show that an email address is theirs. */
const VerificationJob = z.object({ kind: z.literal("verification"), id, userId: z.string() });

/** That somebody has asked for a new password. Only who sends it looks whether there is such an account. */
const PasswordResetJob = z.object({ kind: z.literal("passwordReset"), id, email: z.string() });

/** That a user has another password now. */
const PasswordChangedJob = z.object({
  kind: z.literal("passwordChanged"),
  id,
  userId: z.string(),
  /** Whether what was there before may be a stranger's, whose API keys were revoked with it. */
  wasUnverified: z.boolean(),
});

/** What may become of the second factor of a user: `reset` is the operator's action, the others are their own. */
export const SecondFactorChange = z.enum(["enabled", "removed", "reset"]);
export type SecondFactorChange = z.infer<typeof SecondFactorChange>;

/** That log-ins of a user need a second factor from now on, or none any more. */
const SecondFactorChangedJob = z.object({
  kind: z.literal("secondFactorChanged"),
  id,
  userId: z.string(),
  change: SecondFactorChange,
});

/** What all owners of an organization get an email about, with the email of the person concerned. */
const OwnerNotice = z.discriminatedUnion("what", [
  z.object({
    what: z.enum(["ownerInvited", "ownerAdded", "ownerDemoted", "ownerRemoved", "secondFactorRemoved"]),
    email: z.string(),
  }),
  /** An API key that may make keys or move money. */
  z.object({ what: z.literal("apiKeyMade") }),
]);
export type OwnerNotice = z.infer<typeof OwnerNotice>;

/** It has the address of whom it is for: an owner who is removed has no record when it is sent. */
const OwnerNoticeJob = z.object({ kind: z.literal("ownerNotice"), id, to: z.string(), notice: OwnerNotice });

/** What the owner of an organization is emailed about the wallet, when their email is verified. */
const LowBalanceJob = z.object({
  kind: z.literal("lowBalance"),
  id,
  organizationId: z.string(),
  balance: z.number(),
  lowBalanceThreshold: z.number(),
});
const SpendCapReachedJob = z.object({
  kind: z.literal("spendCapReached"),
  id,
  organizationId: z.string(),
  dailySpendCap: z.number(),
  resetsAt: z.string(),
});

/** That somebody is invited into an organisation. */
const InvitationJob = z.object({ kind: z.literal("invitation"), id, userId: z.string() });

/**
 * What the queue of emails carries: whom to write to and why. No job has a token or a text in it: those are made when the
 * email is sent.
 */
export const EmailJob = z.discriminatedUnion("kind", [
  VerificationJob,
  PasswordResetJob,
  PasswordChangedJob,
  SecondFactorChangedJob,
  OwnerNoticeJob,
  LowBalanceJob,
  SpendCapReachedJob,
  InvitationJob,
]);
export type EmailJob = z.infer<typeof EmailJob>;

/** An email without the id that its job gets. */
export type Email = WithoutId<EmailJob>;
type WithoutId<Job> = Job extends EmailJob ? Omit<Job, "id"> : never;

/**
 * The job that sends an email.
 * @param group whose emails wait behind each other: an organisation, or another part of those who ask for them
 * @param emailId names it where it may be queued more than once
 */
export function emailJob(group: string, email: Email, emailId: string = newId("eml")): QueuedJob {
  const body: EmailJob = { ...email, id: emailId };
  return { queue: "emails", group, body };
}

/**
 * The job that tells the owner of an organisation by email what its webhooks are told; undefined of what they are not. The
 * event's id makes it one email, however often the event is handed out.
 */
export function emailOfEvent(
  organizationId: string,
  eventId: string,
  event: WebhookEvent,
): QueuedJob | undefined {
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
 * The write that belongs into the transaction an email is owed from. It sends the email later, whatever becomes of the
 * job that is queued once the transaction is through.
 */
export function owedEmail(job: QueuedJob): Put {
  const { id: emailId } = EmailJob.parse(job.body);
  const dueAt = new Date(now().getTime() + sendAgainAfterMs).toISOString();
  return dueJob({ id: emailId, dueAt }, job);
}
