import { ApiError } from "../contract/errors.ts";
import type { Member, UpdateMemberRequest } from "../contract/members.ts";
import type { Role } from "../contract/scopes.ts";
import type { Actor } from "../platform/auth/authenticate.ts";
import { keys } from "../platform/table/keys.ts";
import { transact, untilUndisturbed, type Write } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
import { endApiKeysBeyond } from "./end-api-keys.ts";
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
 * Gives another role to a member, or to an invitation. API keys of theirs that may more than the new role end.
 * @throws ApiError NOT_FOUND, also for one of another organisation; INSUFFICIENT_SCOPE; LAST_OWNER; UNAUTHORIZED when the
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
    const writes = member.entity === "user" ? await ofUser(member, role) : [ofInvitation(member, role)];
    const { outcome } = await transact(writes);
    return outcome === "committed" ? { ...member, role } : undefined;
  });
  if (changed.entity === "user") await endApiKeysBeyond(changed);
  return presentMember(changed);
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
