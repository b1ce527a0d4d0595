import { removeMember } from "../accounts/delete-member.ts";
import { findEmailToken, type TokenPurpose } from "../accounts/email-tokens.ts";
import { endAll, endApiKeysMadeBy } from "../accounts/end-api-keys.ts";
import { allMembers, findActiveMember, type ActiveMember } from "../accounts/member-record.ts";
import { isEmailVerified, readRights } from "../accounts/rights-record.ts";
import { findUser } from "../accounts/user-record.ts";
import { ApiError } from "../contract/errors.ts";
import type { Delete } from "../platform/table/table.ts";
import { readWebhooks } from "../webhooks/record.ts";
import { deleteWebhook } from "../webhooks/webhooks.ts";

/** That somebody has opened a link that was sent to the email of a user. */
export interface Proof {
  readonly user: ActiveMember;
  /** Whether this is the first proof that the email is the user's. */
  readonly isFirst: boolean;
  /** The write that uses the link up. It belongs into the transaction of whatever the link is for. */
  readonly use: Delete;
}

/**
 * What the token of a link proves.
 * @throws ApiError INVALID_EMAIL_TOKEN when it is none, was used or replaced, its time is over, or its user is gone
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
 * Ends what was made in an account while nobody had shown that its email is theirs: a stranger may have registered with
 * it. Of an owner that is everything that lets anybody in or tells anybody of the organization: the other members, all
 * invitations, API keys and webhooks. Of another member it is what is their own, for the organization is not. Sessions,
 * the password and the second factor are ended by the caller, in the transaction of the proof.
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

/** Another call has ended it meanwhile. */
function ignoreNotFound(error: unknown): void {
  if (!(error instanceof ApiError && error.code === "NOT_FOUND")) throw error;
}
