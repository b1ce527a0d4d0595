import { ApiError } from "../contract/errors.ts";
import type { InviteMemberRequest, Member } from "../contract/members.ts";
import { emailJob, owedEmail } from "../emails/email-job.ts";
import { queueOwedEmails } from "../emails/queue-email.ts";
import type { Actor } from "../platform/auth/actor.ts";
import { dayMs, now } from "../platform/clock.ts";
import { config } from "../platform/config.ts";
import { newId } from "../platform/ids.ts";
import type { RateLimit } from "../platform/limits/rate-limit.ts";
import { consume } from "../platform/limits/sliding-window.ts";
import { keys } from "../platform/table/keys.ts";
import { transact, untilUndisturbed, type Write } from "../platform/table/table.ts";
import { lifetimeMsOf } from "./email-tokens.ts";
import { readManager, requireMayManage } from "./member-manager.ts";
import {
  allMembers,
  findInvitationOf,
  invitedEmailOf,
  maxFurtherMembers,
  presentMember,
  type InvitationRecord,
} from "./member-record.ts";
import { ownerNotices } from "./owner-notices.ts";
import { takeQuota } from "./quota.ts";
import { requireRecentProof } from "./recent-proof.ts";
import { isEmailVerified, readRights } from "./rights-record.ts";

/** Invitations that one organisation may send, also to the same email: they go to whom it likes. */
const invitationsPerOrganization: RateLimit = { name: "invitations", max: 50, windowMs: dayMs };

/**
 * Invites an email into the organisation of a session. One that is invited already gets another link, and the role of the
 * newer invitation. Whether it has an account elsewhere nobody is told here.
 * @throws ApiError EMAIL_DISABLED; EMAIL_NOT_VERIFIED when theirs is not; REAUTHENTICATION_REQUIRED for an owner, where the
 *   stage asks for that; INSUFFICIENT_SCOPE; CONFLICT for a member, and when there are as many members as there may
 *   be; RATE_LIMITED; UNAVAILABLE
 */
export async function inviteMember(actor: Actor, { email, role }: InviteMemberRequest): Promise<Member> {
  if (config.emailFrom() === undefined) throw new ApiError("EMAIL_DISABLED");
  const { organizationId } = actor;
  const manager = await readManager(actor);
  requireMayManage(manager, role);
  const rights = await readRights(organizationId, { consistent: true });
  if (!isEmailVerified(manager.id, rights)) throw unverified();
  if (role === "owner") requireRecentProof(actor);
  const members = await allMembers(organizationId);
  if (members.some((member) => member.entity === "user" && member.email === email)) {
    throw new ApiError("CONFLICT", { message: "Somebody with this email is a member." });
  }
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
    const notices = role === "owner" ? await ownerNotices(rights, { what: "ownerInvited", email }) : [];
    const isNew = before === undefined;
    const written = await transact({
      quota: isNew ? takeQuota(organizationId, "furtherMemberCount", maxFurtherMembers) : [],
      invitation: isNew ? putNew(invitation) : putAgain(invitation, before),
      emails: [job, ...notices].map(owedEmail),
    });
    if (written.outcome === "refused") {
      if (written.refusals.quota !== undefined) throw tooMany();
      return undefined;
    }
    await queueOwedEmails([job, ...notices]);
    return presentMember(invitation);
  });
}

/** Anybody can register with any address, and an invitation is an email to whomever they like. */
function unverified(): ApiError {
  return new ApiError("EMAIL_NOT_VERIFIED", {
    message: "Verify your own email before you invite others.",
  });
}

function putNew(invitation: InvitationRecord): Write[] {
  const condition = "attribute_not_exists(pk)";
  return [
    { put: invitedEmailOf(invitation), condition },
    { put: { ...keys.invitation(invitation.userId), ...invitation }, condition },
  ];
}

/** Refused when it was accepted, taken back or changed meanwhile. */
function putAgain(invitation: InvitationRecord, { createdAt, role }: InvitationRecord): Write {
  return {
    put: { ...keys.invitation(invitation.userId), ...invitation },
    condition: "createdAt = :createdAt AND #role = :role",
    names: { "#role": "role" },
    values: { ":createdAt": createdAt, ":role": role },
  };
}

function tooMany(): ApiError {
  return new ApiError("CONFLICT", {
    message: `An organisation has at most ${maxFurtherMembers + 1} members, with those who are invited.`,
  });
}
