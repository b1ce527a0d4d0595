import { createHash } from "node:crypto";

import * as z from "zod/mini";

import type { Member } from "../contract/members.ts";
import { allScopes, Role, scopesOfRole, type Scope } from "../contract/scopes.ts";
import { now } from "../platform/clock.ts";
import { keys, type Key } from "../platform/table/keys.ts";
import { findItem, itemsOf, queryRows, type Check } from "../platform/table/table.ts";
import { checkOf, type Requirements } from "../platform/table/update.ts";
import { findUser, type UserRecord } from "./user-record.ts";

/** Beside the one that an organisation cannot be without; open invitations count, and those that have run out. */
export const maxFurtherMembers = 49;

/**
 * That a user belongs to an organisation, and in which role, or is invited into it: what else there is to know is in items
 * of theirs.
 */
const MembershipRecord = z.object({
  entity: z.enum(["member", "invitedEmail"]),
  userId: z.string(),
  role: z.optional(Role),
});
type Membership = Key & z.infer<typeof MembershipRecord> & Record<string, unknown>;

/** An invitation, by the id of the user whom it makes when it is accepted. */
export const InvitationRecord = z.object({
  entity: z.literal("invitation"),
  userId: z.string(),
  organizationId: z.string(),
  email: z.string(),
  role: Role,
  /** The user who has invited. */
  invitedBy: z.string(),
  createdAt: z.string(),
  validUntil: z.string(),
});
export type InvitationRecord = z.infer<typeof InvitationRecord>;

/** A user with their role in their organisation. */
export type ActiveMember = UserRecord & { readonly role: Role };

/** Somebody who is in an organisation, or is invited into it. */
export type MemberRecord = ActiveMember | InvitationRecord;

/** The item of a membership: that a user is a member, in a role. */
export function membershipOf(organizationId: string, userId: string, role: Role): Membership {
  return { ...keys.member(organizationId, userId), entity: "member", userId, role };
}

/** That a member has the role that was seen. */
export function inRole(...roles: readonly Role[]): Requirements {
  const placeholders = roles.map((role, index) => [`:role${index}`, role] as const);
  return {
    where: `#role IN (${placeholders.map(([name]) => name).join(", ")})`,
    values: Object.fromEntries(placeholders),
  };
}

/**
 * The checks that a user is a member, in one of some roles. A transaction with them is refused once the user is removed or
 * has another role: whoever changes that, and then looks for what the user has made, finds all of it.
 */
export function checkMember(organizationId: string, userId: string, roles: readonly Role[]): Check[] {
  return [
    checkOf(keys.user(userId), { is: { organizationId }, absent: ["removedAt"] }),
    checkOf(keys.member(organizationId, userId), inRole(...roles)),
  ];
}

/** The checks that a user is a member who may have an API key of these scopes. */
export function checkKeyMaker(organizationId: string, userId: string, scopes?: readonly Scope[]): Check[] {
  return checkMember(
    organizationId,
    userId,
    Role.options.filter((role) => mayHave(role, scopes)),
  );
}

/** Whether somebody in a role may make an API key of these scopes. */
export function mayHave(role: Role, scopes: readonly Scope[] = allScopes): boolean {
  return scopes.every((scope) => scopesOfRole[role].includes(scope));
}

/** The item that keeps an email from being invited twice. */
export function invitedEmailOf(invitation: InvitationRecord): Membership {
  const { organizationId, email, userId } = invitation;
  return { ...keyOfInvitedEmail(organizationId, email), entity: "invitedEmail", userId };
}

/** The email is hashed, for the keys of items can stand in a log. */
export function keyOfInvitedEmail(organizationId: string, email: string): Key {
  return keys.invitedEmail(organizationId, createHash("sha256").update(email).digest("hex"));
}

export async function findInvitation(userId: string): Promise<InvitationRecord | undefined> {
  return findItem(InvitationRecord, keys.invitation(userId), { consistent: true });
}

/** The invitation of an email into an organisation. */
export async function findInvitationOf(
  organizationId: string,
  email: string,
): Promise<InvitationRecord | undefined> {
  const key = keyOfInvitedEmail(organizationId, email);
  const membership = await findItem(MembershipRecord, key, { consistent: true });
  return membership && findInvitation(membership.userId);
}

/** Everybody who is in an organisation or invited into it, in the order in which they came. */
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

/** A member or an invitation of an organisation, as it is now. */
export async function findMember(organizationId: string, userId: string): Promise<MemberRecord | undefined> {
  const active = await findActiveMember(organizationId, userId);
  if (active !== undefined) return active;
  const invitation = await findInvitation(userId);
  return invitation?.organizationId === organizationId ? invitation : undefined;
}

/** The role of a user in an organization: in an item of its own, because only functions that manage members may write it. */
export const RoleOfMember = z.object({ entity: z.literal("member"), role: Role });

/** A user of an organisation with their role, as they are now; also one who is being removed. */
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

export function presentMember(member: MemberRecord): Member {
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
