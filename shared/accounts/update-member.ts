import { ApiError } from "../contract/errors.ts";
import type { Member, UpdateMemberRequest } from "../contract/members.ts";
import type { Role } from "../contract/scopes.ts";
import { owedEmail } from "../emails/email-job.ts";
import { queueOwedEmails } from "../emails/queue-email.ts";
import type { Actor } from "../platform/auth/actor.ts";
import type { QueuedJob } from "../platform/jobs/job.ts";
import { keys } from "../platform/table/keys.ts";
import { transact, untilUndisturbed, type Write } from "../platform/table/table.ts";
import { checkOf, updateOf } from "../platform/table/update.ts";
import { endApiKeysBeyond } from "./end-api-keys.ts";
import { readManager, requireMayManage } from "./member-manager.ts";
import {
  findMember,
  inRole,
  presentMember,
  type ActiveMember,
  type InvitationRecord,
  type MemberRecord,
} from "./member-record.ts";
import { ownerNotices } from "./owner-notices.ts";
import { requireRecentProof } from "./recent-proof.ts";
import { readRights, replaceOwners, type Rights } from "./rights-record.ts";

/**
 * Gives another role to a member, or to an invitation. API keys of theirs that may more than the new role end.
 * @throws ApiError NOT_FOUND, also for one of another organisation; INSUFFICIENT_SCOPE; LAST_OWNER;
 *   REAUTHENTICATION_REQUIRED for what changes owners, where the stage asks for that; UNAUTHORIZED when the
 *   caller was removed meanwhile; UNAVAILABLE when it did not come to its end: the same call goes on
 */
export async function updateMember(
  actor: Actor,
  userId: string,
  { role }: UpdateMemberRequest,
): Promise<Member> {
  const changed = await untilUndisturbed(async () => {
    const manager = await readManager(actor);
    const member = await findMember(actor.organizationId, userId);
    if (member === undefined || ("removedAt" in member && member.removedAt !== undefined)) {
      throw new ApiError("NOT_FOUND");
    }
    requireMayManage(manager, member.role, role);
    // The same call once more finishes what was left undone.
    if (member.role === role) return member;
    if (role === "owner" || (member.entity === "user" && member.role === "owner")) requireRecentProof(actor);
    const rights = await readRights(actor.organizationId, { consistent: true });
    const notices = await noticesOf(rights, member, role);
    if (member.entity === "user") {
      const { outcome } = await transact([...ofUser(rights, member, role), ...notices.map(owedEmail)]);
      if (outcome === "committed") await queueOwedEmails(notices);
      return outcome === "committed" ? { ...member, role } : undefined;
    }
    const changes = { role, invitedBy: manager.id };
    const { outcome } = await transact([ofInvitation(member, changes), ...notices.map(owedEmail)]);
    if (outcome === "committed") await queueOwedEmails(notices);
    return outcome === "committed" ? { ...member, ...changes } : undefined;
  });
  if (changed.entity === "user") await endApiKeysBeyond(changed);
  return presentMember(changed);
}

/** The notice to owners about a changed role. */
async function noticesOf(
  rights: Rights,
  { entity, email, role: before }: MemberRecord,
  role: Role,
): Promise<QueuedJob[]> {
  if (role === "owner") {
    return ownerNotices(rights, { what: entity === "user" ? "ownerAdded" : "ownerInvited", email });
  }
  if (entity === "invitation" || before !== "owner") return [];
  return ownerNotices(rights, { what: "ownerDemoted", email });
}

function ofUser(rights: Rights, member: ActiveMember, role: Role): Write[] {
  const { id, organizationId } = member;
  const writes = [
    checkOf(keys.user(id), { is: { organizationId }, absent: ["removedAt"] }),
    updateOf(
      keys.member(organizationId, id),
      { set: { entity: "member", userId: id, role } },
      inRole(member.role),
    ),
  ];
  if (role !== "owner" && member.role !== "owner") return writes;
  const others = rights.ownerIds.filter((ownerId) => ownerId !== id);
  return [...writes, replaceOwners(rights, role === "owner" ? [...others, id] : others)];
}

/** Who gives the role answers for it from then on. */
function ofInvitation(
  { userId, createdAt, role: seen }: InvitationRecord,
  changed: Pick<InvitationRecord, "invitedBy" | "role">,
): Write {
  return updateOf(keys.invitation(userId), { set: changed }, { is: { createdAt, role: seen } });
}
