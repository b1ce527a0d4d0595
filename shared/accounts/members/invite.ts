import { ApiError } from "../../api/contract/errors.ts";
import type { InviteMemberRequest, Member } from "../../api/contract/members.ts";
import { emailJob } from "../../notices/emails/email-job.ts";
import { transactWithEmails } from "../../notices/emails/queue-email.ts";
import type { Actor } from "../../platform/auth/actor.ts";
import { dayMs, now } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { newId } from "../../platform/ids.ts";
import type { RateLimit } from "../../platform/limits/rate-limit.ts";
import { consume } from "../../platform/limits/sliding-window.ts";
import { keys } from "../../platform/table/keys.ts";
import { untilUndisturbed } from "../../platform/table/transact.ts";
import { insertOf, type Write, putOf } from "../../platform/table/write.ts";
import {
  allMembers,
  findInvitationOf,
  insertInvitedEmail,
  maxFurtherMembers,
  toApiMember,
  type InvitationRecord,
} from "../../tenancy/organizations/member-record.ts";
import { roleNotices } from "../../tenancy/organizations/owner-notices.ts";
import { takeQuota } from "../../tenancy/organizations/quota.ts";
import { isEmailVerified, readRights } from "../../tenancy/organizations/rights-record.ts";
import { lifetimeMsOf } from "../../tenancy/users/email-tokens.ts";
import { readManager, requireMayManage } from "./manager.ts";

/**
 * Invitations that one organization may send, also to the same email. The limit exists because it may choose any
 * addresses.
 */
const invitationsPerOrganization: RateLimit = { name: "invitations", max: 50, windowMs: dayMs };

/** Invitations of one organization to one email, which are as many as it gets emails. */
const invitationsPerRecipient: RateLimit = { name: "invitations-recipient", max: 3, windowMs: dayMs };

/**
 * Invites an email to the organization of a session. If it is invited already, it gets another link and the new role.
 * The response does not show whether the email has an account in another organization.
 * @throws ApiError EMAIL_DISABLED. EMAIL_NOT_VERIFIED when the caller's email is not verified. INSUFFICIENT_SCOPE.
 *   CONFLICT for a member, and when the organization has the maximum number of members. RATE_LIMITED; UNAVAILABLE
 */
export async function inviteMember(actor: Actor, { email, role }: InviteMemberRequest): Promise<Member> {
  if (config.emailFrom() === undefined) throw new ApiError("EMAIL_DISABLED");
  const { organizationId } = actor;
  const manager = await readManager(actor);
  requireMayManage(manager, role);
  const rights = await readRights(organizationId, { consistent: true });
  if (!isEmailVerified(manager.id, rights)) throw unverified();
  const members = await allMembers(organizationId);
  if (members.some((member) => member.entity === "user" && member.email === email)) {
    throw new ApiError("CONFLICT", { message: "This email already belongs to a member." });
  }
  await consume(invitationsPerRecipient, `${organizationId} ${email}`);
  await consume(invitationsPerOrganization, organizationId);
  return untilUndisturbed(async () => {
    const before = await findInvitationOf(organizationId, email);
    if (before !== undefined) requireMayManage(manager, before.role);
    const createdAt = now();
    const invitation: InvitationRecord = {
      entity: "invitation",
      userId: before?.userId ?? newId("usr"),
      organizationId,
      email,
      role,
      invitedBy: manager.id,
      createdAt: createdAt.toISOString(),
      validUntil: new Date(createdAt.getTime() + lifetimeMsOf("invitation")).toISOString(),
    };
    const job = emailJob(organizationId, { kind: "invitation", userId: invitation.userId });
    const notices = await roleNotices(rights, "Invited", { email, role });
    const isNew = before === undefined;
    const written = await transactWithEmails([job, ...notices], {
      quota: isNew ? takeQuota(organizationId, "furtherMemberCount", maxFurtherMembers) : [],
      invitation: isNew ? putNew(invitation) : putAgain(invitation, before),
    });
    if (written.outcome === "rejected") {
      if (written.rejections.quota !== undefined) throw tooMany();
      return undefined;
    }
    return toApiMember(invitation);
  });
}

/**
 * Returns the error for an unverified inviter. Anyone can register with any address, and an invitation sends an email
 * to any address.
 */
function unverified(): ApiError {
  return new ApiError("EMAIL_NOT_VERIFIED", {
    message: "Verify your own email before you invite others.",
  });
}

function putNew(invitation: InvitationRecord): Write[] {
  return [insertInvitedEmail(invitation), insertOf(keys.invitation(invitation.userId), invitation)];
}

/** Replaces an invitation. It is rejected when the invitation was accepted, withdrawn or changed meanwhile. */
function putAgain(invitation: InvitationRecord, { createdAt, role }: InvitationRecord): Write {
  return putOf(keys.invitation(invitation.userId), invitation, { is: { createdAt, role } });
}

function tooMany(): ApiError {
  return new ApiError("CONFLICT", {
    message: `An organization has at most ${maxFurtherMembers + 1} members, including invitations.`,
  });
}
