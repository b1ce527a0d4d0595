import { ApiError } from "../contract/errors.ts";
import type { Member, UpdateMemberRequest } from "../contract/members.ts";
import type { Role } from "../contract/scopes.ts";
import type { Actor } from "../platform/auth/authenticate.ts";
import { keys } from "../platform/table/keys.ts";
import { transact, untilUndisturbed, type Write } from "../platform/table/table.ts";
import { checkOf, updateOf } from "../platform/table/update.ts";
import { endApiKeysBeyond } from "./end-api-keys.ts";
import { readManager, requireMayManage } from "./member-manager.ts";
import {
  findMember,
  inRole,
  ownersOf,
  presentMember,
  readOwned,
  replaceOwners,
  type ActiveMember,
  type InvitationRecord,
} from "./member-record.ts";
import type { OrganizationRecord } from "./organization-record.ts";

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
    const organization = await readOwned(actor.organizationId);
    const manager = await readManager(actor, organization);
    const member = await findMember(organization, userId);
    if (member === undefined || ("removedAt" in member && member.removedAt !== undefined)) {
      throw new ApiError("NOT_FOUND");
    }
    requireMayManage(manager, member.role, role);
    // The same call once more finishes what was left undone.
    if (member.role === role) return member;
    if (member.entity === "user") {
      const { outcome } = await transact(ofUser(organization, member, role));
      return outcome === "committed" ? { ...member, role } : undefined;
    }
    const changes = { role, invitedBy: manager.id };
    const { outcome } = await transact([ofInvitation(member, changes)]);
    return outcome === "committed" ? { ...member, ...changes } : undefined;
  });
  if (changed.entity === "user") await endApiKeysBeyond(changed);
  return presentMember(changed);
}

function ofUser(organization: OrganizationRecord, member: ActiveMember, role: Role): Write[] {
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
  const others = ownersOf(organization).filter((ownerId) => ownerId !== id);
  return [...writes, replaceOwners(organization, role === "owner" ? [...others, id] : others)];
}

/** Who gives the role answers for it from then on. */
function ofInvitation(
  { userId, createdAt, role: seen }: InvitationRecord,
  changed: Pick<InvitationRecord, "invitedBy" | "role">,
): Write {
  return updateOf(keys.invitation(userId), { set: changed }, { is: { createdAt, role: seen } });
}
