import { orNotFound } from "../../api/contract/errors.ts";
import { findWallet } from "../../money/wallet/record.ts";
import { dayMs, now } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { pendingWorkOf } from "../../platform/jobs/pending-work.ts";
import type { Changes } from "../../platform/table/expressions.ts";
import { keys } from "../../platform/table/keys.ts";
import { transact, untilUndisturbed } from "../../platform/table/transact.ts";
import { type Update, updateOf, type Write, putOf } from "../../platform/table/write.ts";
import { changeRights, isEmailVerified, readRights } from "../../tenancy/organizations/rights-record.ts";
import { findUser, type EmailRecord, type UserRecord } from "../../tenancy/users/record.ts";

/** Returns the change in the record of a user whose email is now verified. */
export function verifiedSince(at: string): Required<Pick<Changes<"user">, "setIfAbsent">> {
  return { setIfAbsent: { emailVerifiedAt: at } };
}

/** Returns the change in the rights of the organization, which decide. The user's record only has the time. */
export function verifiedIn(userId: string): Required<Pick<Changes<"rights">, "add">> {
  return { add: { verifiedUserIds: new Set([userId]) } };
}

/** Returns the writes that list a user as verified and keep the organization from expiring. */
export function listVerified({
  id,
  organizationId,
}: Pick<UserRecord, "id" | "organizationId">): [Update<"rights">, Update<"organization">] {
  return [changeRights(organizationId, verifiedIn(id)), doesNotExpire(organizationId)];
}

/** How long an unverified account exists, where the stage requires verification. */
const unverifiedLifetimeMs = 7 * dayMs;

/**
 * Returns the fields that list a new organization for its expiry. There are none where the stage requires no
 * verification.
 */
export function expiryOf(
  organizationId: string,
  createdAt: Date,
): { pendingWork?: string; visitAt?: string } {
  return config.verifiedEmailBeforeSending() ? expiryAfter(organizationId, createdAt) : {};
}

function expiryAfter(organizationId: string, at: Date) {
  const visitAt = new Date(at.getTime() + unverifiedLifetimeMs).toISOString();
  return { pendingWork: pendingWorkOf("EXPIRE-ACCOUNT", organizationId), visitAt };
}

/** Whether an account is given up for its email: its owner never proved it, so a stranger may have registered. */
export async function isReplaceable({ id, organizationId }: UserRecord): Promise<boolean> {
  const rights = await readRights(organizationId, { consistent: true });
  return rights.ownerIds.includes(id) && !isEmailVerified(id, rights);
}

/**
 * Returns the writes that take the email from a replaceable account. Its rightful owner gets nothing that a
 * stranger may have made. The earlier organization is suspended, so that nothing of it is sent or charged. It expires, unless
 * its wallet has a movement by then: the operator decides on the money.
 * @param userId the user who has the email from then on
 */
export async function replaceUnproven(
  { id, organizationId, email }: UserRecord,
  userId: string,
  at: Date,
): Promise<Write[]> {
  const owner: EmailRecord = { entity: "email", userId };
  const suspendedAt = at.toISOString();
  const hasWallet = (await findWallet(organizationId)) !== undefined;
  const suspended = { suspendedAt, suspendedReason: "another person proved its email" };
  return [
    putOf(keys.email(email), owner, { is: { userId: id } }),
    updateOf(
      keys.user(id),
      { set: { removedAt: suspendedAt } },
      { present: ["pk"], absent: ["removedAt", "emailVerifiedAt"] },
    ),
    updateOf(
      keys.organization(organizationId),
      { set: expiryAfter(organizationId, at), setIfAbsent: suspended },
      { present: ["pk"] },
    ),
    ...(hasWallet
      ? [updateOf(keys.wallet(organizationId), { setIfAbsent: { suspendedAt } }, { present: ["pk"] })]
      : []),
  ];
}

/** Returns the write that cancels the expiry of an organization. */
export function doesNotExpire(organizationId: string): Update<"organization"> {
  return updateOf(
    keys.organization(organizationId),
    { remove: ["pendingWork", "visitAt"] },
    { present: ["pk"] },
  );
}

/**
 * Notes that the email of an organization's owner is theirs, because the operator confirms it. The first date stays.
 * @returns the owner
 * @throws ApiError NOT_FOUND when there is no such organization, or it has no owner. UNAVAILABLE
 */
export async function noteVerifiedEmail(organizationId: string): Promise<UserRecord> {
  return untilUndisturbed(async () => {
    const { ownerId } = await readRights(organizationId, { consistent: true });
    const owner = orNotFound(await findUser(orNotFound(ownerId), { consistent: true }));
    const emailVerifiedAt = owner.emailVerifiedAt ?? now().toISOString();
    const noted = await transact({
      user: updateOf(keys.user(owner.id), verifiedSince(emailVerifiedAt), {
        present: ["pk"],
        absent: ["removedAt"],
      }),
      rights: listVerified({ id: owner.id, organizationId }),
    });
    return noted.outcome === "committed" ? { ...owner, emailVerifiedAt } : undefined;
  });
}
