import { ApiError } from "../../api/contract/errors.ts";
import type { Member, UpdateMemberRequest } from "../../api/contract/members.ts";
import type { Role } from "../../api/contract/scopes.ts";
import type { QueuedEmail } from "../../notices/emails/email-job.ts";
import { transactWithEmails } from "../../notices/emails/queue-email.ts";
import type { Actor } from "../../platform/auth/actor.ts";
import { keys } from "../../platform/table/keys.ts";
import { untilUndisturbed } from "../../platform/table/transact.ts";
import { updateOf, type Write, checkOf } from "../../platform/table/write.ts";
import {
  findMember,
  inRole,
  toApiMember,
  type ActiveMember,
  type InvitationRecord,
  type MemberRecord,
} from "../../tenancy/organizations/member-record.ts";
import { ownerNotices, roleNotices } from "../../tenancy/organizations/owner-notices.ts";
import { readRights, replaceOwners, type Rights } from "../../tenancy/organizations/rights-record.ts";
import { endApiKeysBeyond } from "../api-keys/end.ts";
import { readManager, requireMayManage } from "./manager.ts";

/**
 * Changes the role of a member or of an invitation. API keys of the member end if they have scopes that the new role
 * does not have.
 * @throws ApiError NOT_FOUND, also for a member of another organization. INSUFFICIENT_SCOPE; LAST_OWNER.
 *   UNAUTHORIZED when the caller was removed meanwhile. UNAVAILABLE when the change is incomplete: the same call
 *   continues it
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
    // A repeated call ends the keys that the first one left.
    if (member.role === role) return member;
    const rights = await readRights(actor.organizationId, { consistent: true });
    const notices = await noticesOf(rights, member, role);
    if (member.entity === "user") {
      const { outcome } = await transactWithEmails(notices, {
        member: ofUser(rights, member, role),
      });
      return outcome === "committed" ? { ...member, role } : undefined;
    }
    const changes = { role, invitedBy: manager.id };
    const { outcome } = await transactWithEmails(notices, {
      invitation: ofInvitation(member, changes),
    });
    return outcome === "committed" ? { ...member, ...changes } : undefined;
  });
  if (changed.entity === "user") await endApiKeysBeyond(changed);
  return toApiMember(changed);
}

/** Returns the emails that notify owners of a changed role. */
async function noticesOf(
  rights: Rights,
  { entity, email, role: before }: MemberRecord,
  role: Role,
): Promise<QueuedEmail[]> {
  if (before === "owner" && entity === "user") return ownerNotices(rights, { what: "ownerDemoted", email });
  return roleNotices(rights, entity === "user" ? "Added" : "Invited", { email, role });
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

/** Returns the write that changes an invitation. A caller who changes its role becomes its inviter. */
function ofInvitation(
  { userId, createdAt, role: seen }: InvitationRecord,
  changed: Pick<InvitationRecord, "invitedBy" | "role">,
): Write {
  return updateOf(keys.invitation(userId), { set: changed }, { is: { createdAt, role: seen } });
}
