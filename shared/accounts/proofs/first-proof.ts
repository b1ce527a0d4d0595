import { ApiError } from "../../api/contract/errors.ts";
import { now } from "../../platform/clock.ts";
import { keys } from "../../platform/table/keys.ts";
import { type Write, deleteOf } from "../../platform/table/write.ts";
import { allMembers, type ActiveMember } from "../../tenancy/organizations/member-record.ts";
import { endAllSessions, type UserRecord } from "../../tenancy/users/record.ts";
import { endApiKeysMadeBy } from "../api-keys/end.ts";
import { newAccount } from "../authentication/new-account.ts";
import { removeMember } from "../members/delete.ts";
import {
  isReplaceable,
  listVerified,
  replaceUnproven,
  verifiedSince,
} from "../organizations/verification.ts";
import { replacePassword } from "../passwords/record.ts";
import type { Proof } from "./proof.ts";

/** The account of a person who has proven its email, and the writes that give it to them with their new password. */
export interface ProvenAccount {
  readonly user: Pick<UserRecord, "id" | "organizationId">;
  readonly writes: readonly Write[];
}

/**
 * Decides which account a person gets who has proven an email, and not the password of its account. It is the account
 * itself, unless this is the first proof: a stranger may have registered with the email. Then it is a new account with
 * an empty organization. A member of another's organization stays, without their credentials.
 *
 * A person who also gives the password has registered themselves, and keeps everything (`verify-email.ts`).
 * @throws ApiError UNAVAILABLE when it was not completed: the same call continues it
 */
export async function accountAfterReset(
  { user, isFirst }: Proof,
  passwordHash: string,
): Promise<ProvenAccount> {
  const at = now();
  if (isFirst && (await isReplaceable(user))) {
    const account = newAccount({ email: user.email, passwordHash, isVerified: true }, at);
    return { ...account, writes: [...account.writes, ...(await replaceUnproven(user, account.user.id, at))] };
  }
  if (isFirst) await endUnproven(user);
  const { set, remove } = endAllSessions(user, at.toISOString());
  const changes = { ...verifiedSince(at.toISOString()), set };
  const writes = [
    ...replacePassword(user.id, passwordHash, {
      ...changes,
      remove: isFirst ? [...remove, "secondFactorAt"] : remove,
    }),
    ...(isFirst ? [deleteOf(keys.secondFactor(user.id))] : []),
    ...listVerified(user),
  ];
  return { user, writes };
}

/**
 * Removes the invitations and API keys that a member made before the first proof of their email, because a stranger may
 * have used the account. The caller ends sessions, the password and the second factor, in the transaction of the proof.
 * @throws ApiError UNAVAILABLE when it was not completed: the same call continues it
 */
export async function endUnproven(user: ActiveMember): Promise<void> {
  const { id, organizationId } = user;
  for (const member of await allMembers(organizationId)) {
    if (member.entity === "invitation" && member.invitedBy === id) {
      await removeMember(organizationId, member.userId).catch(ignoreNotFound);
    }
  }
  await endApiKeysMadeBy(user);
}

/** Ignores that another call has removed it at the same time. */
function ignoreNotFound(error: unknown): void {
  if (!(error instanceof ApiError && error.code === "NOT_FOUND")) throw error;
}
