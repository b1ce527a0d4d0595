import type { EmailJob } from "../../emails/email-job.ts";
import { layOut, type OutgoingEmail } from "../../emails/layout.ts";
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
import { config } from "../../platform/config.ts";
import { log } from "../../platform/log.ts";
import { countMetrics } from "../../platform/metrics.ts";
import { findInvitation } from "../organizations/member-record.ts";
import { findOrganization } from "../organizations/record.ts";
import { isEmailVerified, isOwnerVerified, readRights } from "../organizations/rights-record.ts";
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
  const email = await emailOf(job);
  const isHeldBack = email !== undefined && (await findSuppression(email.to)) !== undefined;
  if (email !== undefined && !isHeldBack) await sendWithSes(from, email);
  await noteSentEmail(job.id);
  if (isHeldBack) countMetrics({ SuppressedEmails: 1 });
  log.info(isHeldBack ? "email.suppressed" : "email.sent", { emailId: job.id, emailKind: job.kind });
}

/** Returns the email of a job, or undefined when there is no reason for it anymore. */
async function emailOf(job: EmailJob): Promise<OutgoingEmail | undefined> {
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
    case "lowBalance": {
      const owner = await findVerifiedOwner(job.organizationId);
      return owner && layOut(owner.email, lowBalanceText(owner.organizationName, job));
    }
    case "spendCapReached": {
      const owner = await findVerifiedOwner(job.organizationId);
      return owner && layOut(owner.email, spendCapReachedText(owner.organizationName, job));
    }
  }
}

/** Finds the email of an organization's owner, if it is verified. */
async function findVerifiedOwner(
  organizationId: string,
): Promise<{ readonly email: string; readonly organizationName: string } | undefined> {
  const organization = await findOrganization(organizationId, { consistent: true });
  if (organization === undefined) return undefined;
  const rights = await readRights(organizationId, { consistent: true });
  if (rights.ownerId === undefined || !isOwnerVerified(rights)) return undefined;
  const owner = await findUser(rights.ownerId, { consistent: true });
  return owner && { email: owner.email, organizationName: organization.name };
}

/** Returns the address of the page that a link opens. No server and no Referer gets the part after the #. */
async function linkOf(purpose: TokenPurpose, userId: string): Promise<string> {
  return `${config.apiUrl()}/account#${purpose}=${await newEmailToken(purpose, userId)}`;
}
