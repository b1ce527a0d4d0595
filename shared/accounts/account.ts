import type { Account } from "../contract/accounts.ts";
import { ApiError } from "../contract/errors.ts";
import type { Actor } from "../platform/auth/authenticate.ts";
import { findOrganization, presentOrganization } from "./organization-record.ts";
import { findUser, presentUser } from "./user-record.ts";

/**
 * The user and organisation behind a credential.
 * @throws ApiError UNAUTHORIZED when they no longer exist
 */
export async function getAccount(actor: Actor): Promise<Account> {
  const [user, organization] = await Promise.all([
    findUser(actor.userId),
    findOrganization(actor.organizationId),
  ]);
  if (user === undefined || organization === undefined) throw new ApiError("UNAUTHORIZED");
  return { user: presentUser(user), organization: presentOrganization(organization) };
}
