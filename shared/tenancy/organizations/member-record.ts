import { createHash } from "node:crypto";

import * as z from "zod/mini";

import type { Member } from "../../api/contract/members.ts";
import { defaultScopes, Role, scopesOfRole, type Scope } from "../../api/contract/scopes.ts";
import { now } from "../../platform/clock.ts";
import type { Requirements } from "../../platform/table/expressions.ts";
import { keys, type Key } from "../../platform/table/keys.ts";
import { findItem, itemsOf, queryRows } from "../../platform/table/read.ts";
import { type Check, checkOf, insertOf, type Put } from "../../platform/table/write.ts";
import { findUser, type UserRecord } from "../users/record.ts";

/** The maximum number of members besides the one that every organization has. Open and expired invitations count. */
export const maxFurtherMembers = 49;

/**
 * The membership or invitation of a user in an organization, with the role of a member. All other fields are in the
 * items of the user or the invitation.
 */
export const MembershipRecord = z.object({
  entity: z.enum(["member", "invitedEmail"]),
  userId: z.string(),
  role: z.optional(Role),
});

/** An invitation. Its id becomes the id of the user who accepts it. */
export const InvitationRecord = z.object({
  entity: z.literal("invitation"),
  userId: z.string(),
  organizationId: z.string(),
  email: z.string(),
  role: Role,
  invitedBy: z.string(),
  createdAt: z.string(),
  validUntil: z.string(),
});
export type InvitationRecord = z.infer<typeof InvitationRecord>;

/** A user with their role in their organization. */
export type ActiveMember = UserRecord & { readonly role: Role };

/** A member of an organization, or an invitation to it. */
export type MemberRecord = ActiveMember | InvitationRecord;

/** Returns the write of a new membership. */
export function insertMember(organizationId: string, userId: string, role: Role): Put {
  return insertOf(keys.member(organizationId, userId), { entity: "member", userId, role });
}

/** Returns the requirement that a member has one of the roles. */
export function inRole(...roles: readonly Role[]): Requirements<"member"> {
  return { anyOf: roles.map((role) => ({ is: { role } })) };
}

/**
 * Returns the checks that a user is a member in one of some roles. A transaction with them is rejected once the user is
 * removed or has another role. A caller that changes the role, and then looks for what the user made, finds all of it.
 */
export function checkMember(organizationId: string, userId: string, roles: readonly Role[]): Check[] {
  return [
    checkOf(keys.user(userId), { is: { organizationId }, absent: ["removedAt"] }),
    checkOf(keys.member(organizationId, userId), inRole(...roles)),
  ];
}

/** Returns the checks that a user is a member who may have an API key of these scopes. */
export function checkKeyMaker(organizationId: string, userId: string, scopes?: readonly Scope[]): Check[] {
  return checkMember(
    organizationId,
    userId,
    Role.options.filter((role) => mayHave(role, scopes)),
  );
}

/** Reports whether a member in a role may make an API key of these scopes. */
export function mayHave(role: Role, scopes: readonly Scope[] = defaultScopes): boolean {
  return scopes.every((scope) => scopesOfRole[role].includes(scope));
}

/** Returns the write of the item that prevents two invitations of one email. */
export function insertInvitedEmail({ organizationId, email, userId }: InvitationRecord): Put {
  return insertOf(keyOfInvitedEmail(organizationId, email), { entity: "invitedEmail", userId });
}

/** Returns the key with the hash of the email, because keys of items can appear in a log. */
export function keyOfInvitedEmail(organizationId: string, email: string): Key<"invitedEmail"> {
  return keys.invitedEmail(organizationId, createHash("sha256").update(email).digest("hex"));
}

export async function findInvitation(userId: string): Promise<InvitationRecord | undefined> {
  return findItem(InvitationRecord, keys.invitation(userId), { consistent: true });
}

/** Finds the invitation of an email to an organization. */
export async function findInvitationOf(
  organizationId: string,
  email: string,
): Promise<InvitationRecord | undefined> {
  const key = keyOfInvitedEmail(organizationId, email);
  const membership = await findItem(MembershipRecord, key, { consistent: true });
  return membership && findInvitation(membership.userId);
}

/** Returns all members and invitations of an organization, in the order in which they were made. */
export async function allMembers(organizationId: string): Promise<MemberRecord[]> {
  const { pk } = keys.member(organizationId, "");
  const range = { pk, limit: 2 * maxFurtherMembers, consistent: true };
  const memberships = itemsOf(await queryRows(MembershipRecord, range));
  const userIds = new Set(memberships.map(({ userId }) => userId));
  const found = await Promise.all(
    [...userIds].toSorted().map(async (userId) => findMember(organizationId, userId)),
  );
  return found.flatMap((member) => member ?? []);
}

/** Finds a member or an invitation of an organization. The read is consistent. */
export async function findMember(organizationId: string, userId: string): Promise<MemberRecord | undefined> {
  const active = await findActiveMember(organizationId, userId);
  if (active !== undefined) return active;
  const invitation = await findInvitation(userId);
  return invitation?.organizationId === organizationId ? invitation : undefined;
}

/**
 * The role of a user in an organization. It has an item of its own, because only functions that manage members may
 * write it.
 */
export const RoleOfMember = z.object({
  entity: z.literal("member"),
  userId: z.optional(z.string()),
  role: Role,
});

/** Finds a user of an organization with their role, also a user who is being removed. The read is consistent. */
export async function findActiveMember(
  organizationId: string,
  userId: string,
): Promise<ActiveMember | undefined> {
  const [user, membership] = await Promise.all([
    findUser(userId, { consistent: true }),
    findItem(RoleOfMember, keys.member(organizationId, userId), { consistent: true }),
  ]);
  if (user?.organizationId !== organizationId || membership === undefined) return undefined;
  return { ...user, role: membership.role };
}

export function toApiMember(member: MemberRecord): Member {
  const { email, role, createdAt } = member;
  if (member.entity === "user") {
    const { id, firstName, lastName, secondFactorAt } = member;
    const secondFactor = secondFactorAt !== undefined;
    return { id, email, firstName, lastName, role, status: "active", secondFactor, createdAt };
  }
  const { userId: id, invitedBy, validUntil: expiresAt } = member;
  const status = Date.parse(expiresAt) <= now().getTime() ? "expired" : "invited";
  return { id, email, role, status, secondFactor: false, createdAt, invitedBy, expiresAt };
}
