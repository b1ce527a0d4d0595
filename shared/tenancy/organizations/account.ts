import type { Account } from "../../api/contract/accounts.ts";
import { ApiError } from "../../api/contract/errors.ts";
import type { Actor } from "../../platform/auth/actor.ts";
import { findUser, toApiUser } from "../users/record.ts";
import { toApiOrganization, type OrganizationRecord } from "./record.ts";

/**
 * Returns the user, the organization and the scopes of a credential.
 * @throws ApiError UNAUTHORIZED when the user no longer exists
 */
export async function getAccount(actor: Actor, organization: OrganizationRecord): Promise<Account> {
  const user = await findUser(actor.userId);
  if (user === undefined) throw new ApiError("UNAUTHORIZED");
  const scopes = [...actor.scopes];
  return { user: toApiUser(user), organization: toApiOrganization(organization), scopes };
}
