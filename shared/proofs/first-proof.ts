import { endAll, endApiKeysMadeBy } from "../accounts/api-keys/end.ts";
import { removeMember } from "../accounts/members/delete.ts";
import { allMembers, findActiveMember, type ActiveMember } from "../accounts/organizations/member-record.ts";
import { isEmailVerified, readRights } from "../accounts/organizations/rights-record.ts";
import { findEmailToken, type TokenPurpose } from "../accounts/users/email-tokens.ts";
import { findUser } from "../accounts/users/record.ts";
import { ApiError } from "../contract/errors.ts";
import type { Delete } from "../platform/table/write.ts";
import { readWebhooks } from "../webhooks/record.ts";
import { deleteWebhook } from "../webhooks/webhooks.ts";

/** The proof that a person has opened a link in an email to a user. */
export interface Proof {
  readonly user: ActiveMember;
  /** Whether this is the first proof that the email is the user's. */
  readonly isFirst: boolean;
  /** The write that invalidates the link, for the transaction of the link's purpose. */
  readonly use: Delete;
}

/**
 * Reads the token of a link.
 * @throws ApiError INVALID_EMAIL_TOKEN when it does not exist, was used or replaced, has expired, or its user is
 *   removed
 */
export async function readProof(purpose: TokenPurpose, token: string): Promise<Proof> {
  const shown = await findEmailToken(purpose, token);
  const found = shown && (await findUser(shown.userId, { consistent: true }));
  if (shown === undefined || found === undefined) throw new ApiError("INVALID_EMAIL_TOKEN");
  const user = await findActiveMember(found.organizationId, found.id);
  if (user === undefined || user.removedAt !== undefined) throw new ApiError("INVALID_EMAIL_TOKEN");
  const rights = await readRights(user.organizationId, { consistent: true });
  return { user, isFirst: !isEmailVerified(user.id, rights), use: shown.use };
}

/**
 * Removes what was created in an account before the first proof of its email, because a stranger may have registered
 * with it. For an owner this is all access to the organization, and all notifications about it: other members,
 * invitations, API keys and webhooks. For another member it is only their own invitations and API keys. The caller ends
 * sessions, the password and the second factor, in the transaction of the proof.
 * @throws ApiError UNAVAILABLE when it was not completed: the same call continues it
 */
export async function endUnproven(user: ActiveMember): Promise<void> {
  const { id, organizationId } = user;
  const isOwner = user.role === "owner";
  for (const member of await allMembers(organizationId)) {
    const memberId = member.entity === "user" ? member.id : member.userId;
    const isTheirs = member.entity === "invitation" && member.invitedBy === id;
    if (memberId !== id && (isOwner || isTheirs)) {
      await removeMember(organizationId, memberId).catch(ignoreNotFound);
    }
  }
  await (isOwner ? endAll(organizationId, () => true) : endApiKeysMadeBy(user));
  if (!isOwner) return;
  for (const webhook of await readWebhooks(organizationId)) {
    await deleteWebhook(organizationId, webhook.id).catch(ignoreNotFound);
  }
}

/** Ignores that another call has removed it at the same time. */
function ignoreNotFound(error: unknown): void {
  if (!(error instanceof ApiError && error.code === "NOT_FOUND")) throw error;
}
