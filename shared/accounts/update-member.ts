import { ApiError } from "../contract/errors.ts";
import type { Member, UpdateMemberRequest } from "../contract/members.ts";
import type { Role } from "../contract/scopes.ts";
import type { Actor } from "../platform/auth/authenticate.ts";
import { keys } from "../platform/table/keys.ts";
import { transact, untilUndisturbed, type Write } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
import { readManager, requireMayManage } from "./member-manager.ts";
import {
  findMember,
  membershipOf,
  ownersOf,
  presentMember,
  readOwned,
  replaceOwners,
  type InvitationRecord,
} from "./member-record.ts";
import { asSeen, type UserRecord } from "./user-record.ts";

/**
 * Gives another role to a member, or to an invitation.
 * @throws ApiError NOT_FOUND, also for one of another organisation; INSUFFICIENT_SCOPE; LAST_OWNER; UNAUTHORIZED when the
 *   caller was removed meanwhile; UNAVAILABLE
 */
export async function updateMember(
  actor: Actor,
  userId: string,
  { role }: UpdateMemberRequest,
): Promise<Member> {
  return untilUndisturbed(async () => {
    const manager = await readManager(actor);
    const member = await findMember(actor.organizationId, userId);
    if (member === undefined || ("removedAt" in member && member.removedAt !== undefined)) {
      throw new ApiError("NOT_FOUND");
    }
    requireMayManage(manager, member.role, role);
    if (member.role === role) return presentMember(member);
    const changed = { ...member, role };
    const writes = member.entity === "user" ? await ofUser(member, role) : [ofInvitation(member, role)];
    const { outcome } = await transact(writes);
    return outcome === "committed" ? presentMember(changed) : undefined;
  });
}

async function ofUser(user: UserRecord, role: Role): Promise<Write[]> {
  const { id, organizationId } = user;
  const writes = [
    updateOf(keys.user(id), { set: { role } }, asSeen(user)),
    { put: membershipOf(organizationId, id) },
  ];
  if (role !== "owner" && user.role !== "owner") return writes;
  const organization = await readOwned(organizationId);
  const others = ownersOf(organization).filter((ownerId) => ownerId !== id);
  return [...writes, replaceOwners(organization, role === "owner" ? [...others, id] : others)];
}

function ofInvitation({ userId, createdAt, role: seen }: InvitationRecord, role: Role): Write {
  return updateOf(keys.invitation(userId), { set: { role } }, { is: { createdAt, role: seen } });
}
