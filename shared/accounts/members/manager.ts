import { ApiError } from "../../api/contract/errors.ts";
import type { Role } from "../../api/contract/scopes.ts";
import type { Actor } from "../../platform/auth/actor.ts";
import { findActiveMember, type ActiveMember } from "../../tenancy/organizations/member-record.ts";

/** The roles that manage members. */
const managers = ["owner", "admin"] as const satisfies readonly Role[];

/** Returns the roles that may grant or remove a role. Admins manage all members except owners. */
export function managersOf(role: Role): readonly Role[] {
  return role === "owner" ? ["owner"] : managers;
}

/**
 * Reads the user of a session, who must be allowed to manage members.
 * @throws ApiError INSUFFICIENT_SCOPE when they are neither owner nor admin. UNAUTHORIZED when they were removed
 */
export async function readManager({ organizationId, userId }: Actor): Promise<ActiveMember> {
  const manager = await findActiveMember(organizationId, userId);
  if (manager === undefined || manager.removedAt !== undefined) throw new ApiError("UNAUTHORIZED");
  if (managers.some((role) => role === manager.role)) return manager;
  throw new ApiError("INSUFFICIENT_SCOPE", { message: "Only owners and admins can manage members." });
}

/**
 * Rejects an admin who makes, changes or removes an owner.
 * @throws ApiError INSUFFICIENT_SCOPE
 */
export function requireMayManage({ role }: ActiveMember, ...roles: readonly Role[]): void {
  if (roles.every((each) => managersOf(each).includes(role))) return;
  throw new ApiError("INSUFFICIENT_SCOPE", { message: "Only owners can make, change and remove owners." });
}
