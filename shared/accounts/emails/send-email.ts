import type { Role } from "../../contract/scopes.ts";
import type { EmailJob } from "../../emails/email-job.ts";
import { layOut, type EmailText, type OutgoingEmail } from "../../emails/layout.ts";
import { sendWithSes } from "../../emails/send-with-ses.ts";
import { leaseEmail, noteSentEmail } from "../../emails/sent-record.ts";
import { findSuppression } from "../../emails/suppression-record.ts";
import {
  invitationText,
  lowBalanceText,
  ownerNoticeText,
  passwordChangedText,
  passwordResetText,
  secondFactorChangedText,
  spendCapReachedText,
  verificationText,
} from "../../emails/texts.ts";
import { readBilling } from "../../payments/billing-record.ts";
import { billingText } from "../../payments/billing-text.ts";
import { config } from "../../platform/config.ts";
import { log } from "../../platform/log.ts";
import { countMetrics } from "../../platform/metrics.ts";
import { allMembers, findInvitation } from "../organizations/member-record.ts";
import { findOrganization } from "../organizations/record.ts";
import { isEmailVerified, readRights } from "../organizations/rights-record.ts";
import { newEmailToken, type TokenPurpose } from "../users/email-tokens.ts";
import { findUser, findUserByEmail } from "../users/record.ts";

/**
 * Sends an email, unless it was sent before, has no reason anymore, or the stage sends no emails. Emails to suppressed
 * addresses are not sent either. It is marked as sent after SES accepted it. If the worker dies in between, the email
 * is sent twice.
 * @throws Error when the job has to be retried: SES does not accept the email now, or another worker sends it
 */
export async function sendEmail(job: EmailJob): Promise<void> {
  const from = config.emailFrom();
  if (from === undefined || !(await leaseEmail(job.id))) return;
  for (const email of [(await emailsOf(job)) ?? []].flat()) {
    const isHeldBack = (await findSuppression(email.to)) !== undefined;
    if (!isHeldBack) await sendWithSes(from, email);
    if (isHeldBack) countMetrics({ SuppressedEmails: 1 });
    log.info(isHeldBack ? "email.suppressed" : "email.sent", { emailId: job.id, emailKind: job.kind });
  }
  await noteSentEmail(job.id);
}

/** Returns the emails of a job; none when there is no reason for them any more. */
async function emailsOf(job: EmailJob): Promise<OutgoingEmail | OutgoingEmail[] | undefined> {
  switch (job.kind) {
    case "verification": {
      const user = await findUser(job.userId, { consistent: true });
      if (user === undefined || user.emailVerifiedAt !== undefined) return undefined;
      return layOut(user.email, verificationText(await linkOf("verify", user.id)));
    }
    case "invitation": {
      const invitation = await findInvitation(job.userId);
      if (invitation === undefined) return undefined;
      const inviter = await findUser(invitation.invitedBy);
      // An unverified address is not shown: its owner could have chosen it for the words in it.
      const by = inviter?.emailVerifiedAt === undefined ? undefined : inviter.email;
      return layOut(invitation.email, invitationText(await linkOf("invitation", job.userId), by));
    }
    case "passwordReset": {
      const user = await findUserByEmail(job.email);
      if (user === undefined) return undefined;
      const rights = await readRights(user.organizationId, { consistent: true });
      const isUnverified = !isEmailVerified(user.id, rights);
      return layOut(user.email, passwordResetText(await linkOf("reset", user.id), isUnverified));
    }
    case "passwordChanged": {
      const user = await findUser(job.userId, { consistent: true });
      return user && layOut(user.email, passwordChangedText(job.wasUnverified));
    }
    case "secondFactorChanged": {
      const user = await findUser(job.userId, { consistent: true });
      return user && layOut(user.email, secondFactorChangedText(job.change));
    }
    case "ownerNotice":
      return layOut(job.to, ownerNoticeText(job.notice));
    case "lowBalance":
      return toMembers(job.organizationId, "warnings", async (name) => lowBalanceText(name, job));
    case "spendCapReached":
      return toMembers(job.organizationId, "warnings", async (name) => spendCapReachedText(name, job));
    case "billing": {
      const { organizationId, notice } = job;
      const kind = notice.what === "paymentReceived" ? "payments" : "warnings";
      return toMembers(organizationId, kind, async (name) => billingText(organizationId, name, notice));
    }
  }
}

/** Addresses an email to the members whose roles the customer chose for its kind, and who verified their address. */
async function toMembers(
  organizationId: string,
  kind: "payments" | "warnings",
  textOf: (organizationName: string) => Promise<EmailText | undefined>,
): Promise<OutgoingEmail[]> {
  const organization = await findOrganization(organizationId, { consistent: true });
  if (organization === undefined) return [];
  const { details } = await readBilling(organizationId);
  const roles: readonly Role[] = details?.emails?.[kind] ?? ["owner", "billing"];
  const members = await allMembers(organizationId);
  const text = await textOf(organization.name);
  if (text === undefined) return [];
  return members.flatMap((member) =>
    "validUntil" in member || member.emailVerifiedAt === undefined || !roles.includes(member.role)
      ? []
      : layOut(member.email, text),
  );
}

/** Returns the address of the page that a link opens. No server and no Referer gets the part after the #. */
async function linkOf(purpose: TokenPurpose, userId: string): Promise<string> {
  return `${config.apiUrl()}/account#${purpose}=${await newEmailToken(purpose, userId)}`;
}
