import { Role, scopesOfRole } from "../../api/contract/scopes.ts";
import { noticeOf } from "../../figures/operators/record.ts";
import { operatorsText } from "../../figures/operators/report.ts";
import { riseText } from "../../figures/statements/rise-notice.ts";
import { listHeldMessages } from "../../messages/accept/held.ts";
import { readSenderIds } from "../../messages/sender-ids/record.ts";
import { readBilling } from "../../money/payments/billing-record.ts";
import { billingText } from "../../money/payments/billing-text.ts";
import type { EmailJob } from "../../notices/emails/email-kinds.ts";
import { layOut, type EmailText } from "../../notices/emails/layout.ts";
import { sendWithSes } from "../../notices/emails/send-with-ses.ts";
import {
  addressHash,
  leaseEmail,
  noteDone,
  noteSentEmail,
  releaseEmail,
} from "../../notices/emails/sent-record.ts";
import { sessionsEndedText, stoppedText } from "../../notices/emails/stop-texts.ts";
import { findSuppression } from "../../notices/emails/suppression-record.ts";
import {
  exportReadyText,
  invitationText,
  lowBalanceText,
  messagesHeldText,
  ownerNoticeText,
  passwordChangedText,
  passwordResetText,
  reviewDecidedText,
  secondFactorChangedText,
  spendCapReachedText,
  verificationText,
} from "../../notices/emails/texts.ts";
import { dayMs } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import type { RateLimit } from "../../platform/limits/rate-limit.ts";
import { refund, tryConsume, type Use } from "../../platform/limits/sliding-window.ts";
import { log } from "../../platform/log.ts";
import { countMetrics } from "../../platform/metrics.ts";
import { putItem, putOf } from "../../platform/table/write.ts";
import { findKyc } from "../../tenancy/kyc/record.ts";
import { allMembers, findInvitation } from "../../tenancy/organizations/member-record.ts";
import { findOrganization, type OrganizationRecord } from "../../tenancy/organizations/record.ts";
import { isEmailVerified, readRights } from "../../tenancy/organizations/rights-record.ts";
import { newEmailToken, type TokenPurpose } from "../../tenancy/users/email-tokens.ts";
import { findUser, findUserByEmail, type UserRecord } from "../../tenancy/users/record.ts";

/** The notices to one address in a day, from all organizations together. Anyone who makes a change causes some. */
const noticesPerAddress: RateLimit = { name: "emails-notice", max: 50, windowMs: dayMs };

/** The notices of one kind, where an API key can cause them. Otherwise a leaked key could use up those of all other kinds. */
const noticesOfKeys = { max: 5, windowMs: dayMs } as const;

/** The links of one kind to one address in a day. Anyone may request a link to any address. */
const linksPerAddress = { max: 10, windowMs: dayMs } as const;

/** The invitations of one organization to one address in a day, so that it uses up few of the links. */
const invitationsPerOrganization: RateLimit = {
  name: "emails-invitation-organization",
  max: 3,
  windowMs: dayMs,
};

/** An email whose text is written after the limits allow it, because a new link ends the one before it. */
interface Draft {
  readonly to: string;
  readonly text: EmailText | (() => Promise<EmailText>);
  /** The organization that invites. */
  readonly organizationId?: string;
}

/** Returns the limits of an email, each with its subject. */
function limitsOf(job: EmailJob, { to, organizationId }: Draft): (readonly [RateLimit, string])[] {
  switch (job.kind) {
    case "passwordReset": {
      // Strangers cannot use up the links that the owner of an account requests from a known network.
      const name = job.isFromKnownNetwork === true ? "emails-passwordReset-known" : "emails-passwordReset";
      return [[{ ...linksPerAddress, name }, to]];
    }
    case "verification":
      return [[{ ...linksPerAddress, name: "emails-verification" }, to]];
    case "invitation":
      return [
        [invitationsPerOrganization, `${to} ${organizationId}`],
        [{ ...linksPerAddress, name: "emails-invitation" }, to],
      ];
    case "ownerNotice": {
      // A notice about a person, whose email it has, follows from what no API key can do.
      const { what } = job.notice;
      const ofKeys =
        "email" in job.notice ? [] : [[{ ...noticesOfKeys, name: `emails-${what}` }, to] as const];
      return [...ofKeys, [noticesPerAddress, to]];
    }
    case "operators":
      return [];
    case "messagesHeld":
    case "pricesRise":
      return [[{ ...noticesOfKeys, name: `emails-${job.kind}`, max: 24 }, to]];
    case "billing":
    case "exportReady":
    case "lowBalance":
    case "passwordChanged":
    case "reviewDecided":
    case "secondFactorChanged":
    case "spendCapReached":
    case "stopped":
      return [[noticesPerAddress, to]];
  }
}

/**
 * Sends an email, unless it was sent before, has no reason anymore, or the stage sends none. Suppressed addresses, and those
 * beyond their limit, get none. If the worker dies before it notes that SES accepted it, the email is sent twice.
 * @throws Error when the job has to be retried: SES does not accept the email now, or another worker sends it
 */
export async function sendEmail(job: EmailJob): Promise<void> {
  const from = config.emailFrom();
  const done =
    from === undefined ? undefined : await leaseEmail(job.id, "at" in job ? new Date(job.at) : undefined);
  if (from === undefined || done === undefined) return;
  const drafts = await draftsOf(job);
  // A later job with its id may have a reason.
  if (drafts === undefined) return releaseEmail(job.id);
  const failures: unknown[] = [];
  const all = [drafts].flat();
  for (const draft of all) {
    if (done.includes(addressHash(draft.to))) continue;
    try {
      const isSuppressed = (await findSuppression(draft.to)) !== undefined;
      const outcome = isSuppressed ? "suppressed" : (await sendWithin(job, from, draft)) ? "sent" : "limited";
      if (outcome !== "sent") countMetrics({ SuppressedEmails: 1 });
      log.info(`email.${outcome}`, { emailId: job.id, emailKind: job.kind });
      done.push(addressHash(draft.to));
      if (all.length > 1) await noteDone(job.id, done);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, String(failures[0]));
  await noteSentEmail(job.id);
}

/** Sends an email within the limits of its address. @returns whether it was sent */
async function sendWithin(job: EmailJob, from: string, draft: Draft): Promise<boolean> {
  const uses: Use[] = [];
  const giveBack = async (): Promise<unknown> => Promise.all(uses.map(refund));
  for (const [limit, subject] of limitsOf(job, draft)) {
    const use = await tryConsume(limit, subject);
    if ("waitMs" in use) {
      await giveBack();
      return false;
    }
    uses.push(use);
  }
  try {
    const text = typeof draft.text === "function" ? await draft.text() : draft.text;
    await sendWithSes(from, layOut(draft.to, text));
  } catch (error) {
    await giveBack();
    throw error;
  }
  return true;
}

/** Returns the emails of a job; none when there is no reason for them any more. */
async function draftsOf(job: EmailJob): Promise<Draft | Draft[] | undefined> {
  switch (job.kind) {
    case "verification": {
      const user = await findUser(job.userId, { consistent: true });
      if (user === undefined || user.emailVerifiedAt !== undefined) return undefined;
      const { id, email: to } = user;
      return { to, text: async () => verificationText(await linkOf("verify", id, to)) };
    }
    case "invitation": {
      const invitation = await findInvitation(job.userId);
      if (invitation === undefined) return undefined;
      const { email: to, organizationId } = invitation;
      const inviter = await findUser(invitation.invitedBy);
      // An unverified address is not shown: its owner could have chosen it for the words in it.
      const by = inviter?.emailVerifiedAt === undefined ? undefined : inviter.email;
      const text = async (): Promise<EmailText> =>
        invitationText(await linkOf("invitation", job.userId, to), by);
      return { to, text, organizationId };
    }
    case "passwordReset": {
      const user = await findUserByEmail(job.email);
      if (user === undefined) return undefined;
      const rights = await readRights(user.organizationId, { consistent: true });
      const isUnverified = !isEmailVerified(user.id, rights);
      return {
        to: user.email,
        text: async () => passwordResetText(await linkOf("reset", user.id, user.email), isUnverified),
      };
    }
    case "passwordChanged": {
      const user = await findVerified(job.userId);
      return user && { to: user.email, text: passwordChangedText(job.wasUnverified) };
    }
    case "secondFactorChanged": {
      const user = await findVerified(job.userId);
      return user && { to: user.email, text: secondFactorChangedText(job.change) };
    }
    case "stopped": {
      const { organizationId, what, stoppedId } = job;
      if (what !== "sessions")
        return toMembers(organizationId, "decisions", async ({ name }) => stoppedText(name, what, stoppedId));
      const user = await findVerified(stoppedId);
      return user && { to: user.email, text: sessionsEndedText() };
    }
    case "exportReady": {
      const user = await findVerified(job.userId);
      return user && { to: user.email, text: exportReadyText(job.exportId) };
    }
    case "ownerNotice":
      return { to: job.to, text: ownerNoticeText(job.notice) };
    case "lowBalance":
      return toMembers(job.organizationId, "warnings", async ({ name }) => lowBalanceText(name, job));
    case "spendCapReached":
      return toMembers(job.organizationId, "warnings", async ({ name }) => spendCapReachedText(name, job));
    case "pricesRise":
      return toMembers(job.organizationId, "warnings", async (organization) => riseText(organization, job));
    case "messagesHeld": {
      const { rows } = await listHeldMessages(job.organizationId, { page: 1, limit: 1, status: "held" });
      if (rows.length === 0) return undefined;
      return toMembers(job.organizationId, "approvals", async ({ name }) => messagesHeldText(name));
    }
    case "reviewDecided": {
      const { organizationId, senderIdId } = job;
      const decided =
        senderIdId === undefined
          ? await findKyc(organizationId)
          : (await readSenderIds(organizationId)).find(({ id }) => id === senderIdId);
      if (decided === undefined || decided.status === "pending") return undefined;
      return toMembers(organizationId, "decisions", async ({ name }) => reviewDecidedText(name, decided));
    }
    case "operators": {
      const text = await operatorsText(job.notice);
      return text === undefined ? [] : config.operatorEmails().map((to) => ({ to, text }));
    }
    case "billing": {
      const { organizationId, notice } = job;
      if (notice.what === "rechargeFailed") {
        // For the operators' email of the day. A retried job writes the same notice.
        const { key, record } = noticeOf({
          what: "recharge failed",
          organizationId,
          paymentId: notice.paymentId,
        });
        await putItem(putOf(key, record));
      }
      const kind = notice.what === "paymentReceived" ? "payments" : "warnings";
      return toMembers(organizationId, kind, async ({ name }) => billingText(organizationId, name, notice));
    }
  }
}

/** Finds a user who verified their address. An unverified one may be a stranger's, who gets only links. */
async function findVerified(userId: string): Promise<UserRecord | undefined> {
  const user = await findUser(userId, { consistent: true });
  return user?.emailVerifiedAt === undefined ? undefined : user;
}

/** Addresses an email to the members with the roles of its kind, if they verified their address. */
async function toMembers(
  organizationId: string,
  kind: MembersEmail,
  textOf: (organization: OrganizationRecord) => Promise<EmailText | undefined>,
): Promise<Draft[]> {
  const organization = await findOrganization(organizationId, { consistent: true });
  if (organization === undefined) return [];
  const roles = await rolesOf(kind, organizationId);
  const members = await allMembers(organizationId);
  const text = await textOf(organization);
  if (text === undefined) return [];
  return members.flatMap((member) =>
    "validUntil" in member || member.emailVerifiedAt === undefined || !roles.includes(member.role)
      ? []
      : { to: member.email, text },
  );
}

/** The subject of an email to members: held messages, decisions of the operator, receipts, or money that runs out. */
type MembersEmail = "approvals" | "decisions" | "payments" | "warnings";

/**
 * Returns the roles that get a kind of email. The customer chose those about money. Owners cannot be left out, because a stolen
 * credential could then silence them.
 */
async function rolesOf(kind: MembersEmail, organizationId: string): Promise<readonly Role[]> {
  if (kind === "approvals") return Role.options.filter((role) => scopesOfRole[role].includes("send"));
  if (kind === "decisions") return ["owner", "admin"];
  const { details } = await readBilling(organizationId);
  return ["owner", ...(details?.emails?.[kind] ?? ["billing"])];
}

/** Returns the address of the page that a link opens. No server and no Referer gets the part after the #. */
async function linkOf(purpose: TokenPurpose, userId: string, email: string): Promise<string> {
  const token = await newEmailToken(purpose, userId);
  return `${config.apiUrl()}/account#${purpose}=${token}~${encodeURIComponent(email)}`;
}
