import { ApiError } from "../../api/contract/errors.ts";
import type { Delete } from "../../platform/table/write.ts";
import { findActiveMember, type ActiveMember } from "../../tenancy/organizations/member-record.ts";
import { isEmailVerified, readRights } from "../../tenancy/organizations/rights-record.ts";
import { findEmailToken, type TokenPurpose } from "../../tenancy/users/email-tokens.ts";
import { findUser } from "../../tenancy/users/record.ts";

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
