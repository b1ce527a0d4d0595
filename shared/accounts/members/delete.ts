import { ApiError } from "../../api/contract/errors.ts";
import type { Role } from "../../api/contract/scopes.ts";
import { transactWithEmails } from "../../notices/emails/queue-email.ts";
import type { Actor } from "../../platform/auth/actor.ts";
import { now } from "../../platform/clock.ts";
import { keys } from "../../platform/table/keys.ts";
import { transact, untilUndisturbed } from "../../platform/table/transact.ts";
import { updateOf, deleteOf, checkOf } from "../../platform/table/write.ts";
import {
  findMember,
  inRole,
  keyOfInvitedEmail,
  type ActiveMember,
  type InvitationRecord,
} from "../../tenancy/organizations/member-record.ts";
import { ownerNotices } from "../../tenancy/organizations/owner-notices.ts";
import { releaseQuota } from "../../tenancy/organizations/quota.ts";
import { changeRights, readRights, replaceOwners } from "../../tenancy/organizations/rights-record.ts";
import { keysOfEmailTokens } from "../../tenancy/users/email-tokens.ts";
import type { UserRecord } from "../../tenancy/users/record.ts";
import { endApiKeysMadeBy } from "../api-keys/end.ts";
import { readManager, requireMayManage } from "./manager.ts";

/**
 * Removes a member with the API keys that they made, or withdraws an invitation. Sessions of the member end with the
 * next request.
 * @throws ApiError NOT_FOUND, also for a member of another organization. INSUFFICIENT_SCOPE; LAST_OWNER.
 *   UNAUTHORIZED when the caller was removed meanwhile. UNAVAILABLE when the removal is incomplete: the same call
 *   continues it
 */
export async function deleteMember(actor: Actor, userId: string): Promise<void> {
  await removeMember(actor.organizationId, userId, async (role) => {
    requireMayManage(await readManager(actor), role);
  });
}

/**
 * Removes a member or an invitation without checking a caller.
 * @param check throws to reject the removal
 */
export async function removeMember(
  organizationId: string,
  userId: string,
  check: (role: Role) => Promise<void> = async () => undefined,
): Promise<void> {
  const removed = await untilUndisturbed(async () => {
    const member = await findMember(organizationId, userId);
    await check(member?.role ?? "viewer");
    if (member === undefined) throw new ApiError("NOT_FOUND");
    const isDone = member.entity === "user" ? await shutOut(member) : await takeBack(member);
    return isDone ? member : undefined;
  });
  if (removed.entity === "user") await forget(removed);
}

/**
 * Ends the log-ins, sessions and owner rights of a member. Their record stays until the removal is complete.
 * @returns whether the member is locked out; false when the member was changed meanwhile
 */
async function shutOut(member: ActiveMember): Promise<boolean> {
  if (member.removedAt !== undefined) return true;
  const { id, organizationId, email } = member;
  const rights = await readRights(organizationId, { consistent: true });
  const isOwner = member.role === "owner";
  const others = rights.ownerIds.filter((ownerId) => ownerId !== id);
  const unlisted = { take: { verifiedUserIds: new Set([id]) } };
  const notices = isOwner ? await ownerNotices(rights, { what: "ownerRemoved", email }) : [];
  const { outcome } = await transactWithEmails(notices, {
    user: updateOf(
      keys.user(id),
      { set: { removedAt: now().toISOString() } },
      { present: ["pk"], absent: ["removedAt"] },
    ),
    role: checkOf(keys.member(organizationId, id), inRole(member.role)),
    credentials: [keys.email(email), keys.password(id), keys.secondFactor(id)].map((key) => deleteOf(key)),
    rights: isOwner ? replaceOwners(rights, others, unlisted) : changeRights(organizationId, unlisted),
    quota: releaseQuota(organizationId, "furtherMemberCount"),
  });
  return outcome === "committed";
}

/** Disables the keys of a removed user, who can make no more keys, and then deletes the user. */
async function forget(user: UserRecord): Promise<void> {
  const { id, organizationId } = user;
  await endApiKeysMadeBy(user);
  const itsKeys = [
    keys.member(organizationId, id),
    ...keysOfEmailTokens(id),
    keys.password(id),
    keys.user(id),
  ];
  await transact({ user: itsKeys.map((key) => deleteOf(key)) });
}

/**
 * Withdraws an invitation.
 * @returns whether it was withdrawn; false when it was accepted or changed meanwhile
 */
async function takeBack(invitation: InvitationRecord): Promise<boolean> {
  const { userId, organizationId, email, createdAt, role } = invitation;
  const others = [keyOfInvitedEmail(organizationId, email), ...keysOfEmailTokens(userId)];
  const { outcome } = await transact({
    invitation: deleteOf(keys.invitation(userId), { is: { createdAt, role } }),
    others: others.map((key) => deleteOf(key)),
    quota: releaseQuota(organizationId, "furtherMemberCount"),
  });
  return outcome === "committed";
}
