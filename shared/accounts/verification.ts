import { ApiError } from "../contract/errors.ts";
import { dayMs, now } from "../platform/clock.ts";
import { config } from "../platform/config.ts";
import { agendaFields, agendaOf } from "../platform/jobs/agenda.ts";
import { keys } from "../platform/table/keys.ts";
import { transact, untilUndisturbed, type Update } from "../platform/table/table.ts";
import { updateOf, type Changes } from "../platform/table/update.ts";
import { changeRights, readRights } from "./rights-record.ts";
import { findUser, type UserRecord } from "./user-record.ts";

/** What changes in the record of a user whose email is now known to be theirs. */
export function verifiedSince(at: string): Required<Pick<Changes, "setIfAbsent">> {
  return { setIfAbsent: { emailVerifiedAt: at } };
}

/** What changes in the rights of their organization, where it decides: the user's record only says since when. */
export function verifiedIn(userId: string): Required<Pick<Changes, "add">> {
  return { add: { verifiedUserIds: new Set([userId]) } };
}

/** The writes of that, which keep the organization from expiring. */
export function listVerified({ id, organizationId }: Pick<UserRecord, "id" | "organizationId">): Update[] {
  return [changeRights(organizationId, verifiedIn(id)), doesNotExpire(organizationId)];
}

/** How long an unverified account lasts, where the stage asks for verification. */
const unverifiedLifetimeMs = 7 * dayMs;

/** What puts a new organization on the agenda of those that expire; nothing where the stage does not ask for verification. */
export function expiryOf(organizationId: string, createdAt: Date): { agenda?: string; lookAt?: string } {
  if (!config.verifiedEmailBeforeSending()) return {};
  const lookAt = new Date(createdAt.getTime() + unverifiedLifetimeMs).toISOString();
  return { agenda: agendaOf("EXPIRE-ACCOUNT", organizationId), lookAt };
}

/** The write that takes an organization off that agenda. */
export function doesNotExpire(organizationId: string): Update {
  return updateOf(
    keys.organization(organizationId),
    { remove: Object.keys(agendaFields) },
    { present: ["pk"] },
  );
}

/**
 * Notes that the email of an organization's owner is theirs, on the word of the operator. Once noted it stays as it is.
 * @returns the owner
 * @throws ApiError NOT_FOUND when there is no such organization, or it has no owner; UNAVAILABLE
 */
export async function noteVerifiedEmail(organizationId: string): Promise<UserRecord> {
  return untilUndisturbed(async () => {
    const { ownerId } = await readRights(organizationId, { consistent: true });
    const owner = ownerId === undefined ? undefined : await findUser(ownerId, { consistent: true });
    if (owner === undefined) throw new ApiError("NOT_FOUND");
    const emailVerifiedAt = owner.emailVerifiedAt ?? now().toISOString();
    const noted = await transact([
      updateOf(keys.user(owner.id), verifiedSince(emailVerifiedAt), {
        present: ["pk"],
        absent: ["removedAt"],
      }),
      ...listVerified({ id: owner.id, organizationId }),
    ]);
    return noted.outcome === "committed" ? { ...owner, emailVerifiedAt } : undefined;
  });
}
