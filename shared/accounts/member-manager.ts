import { ApiError } from "../contract/errors.ts";
import type { Role } from "../contract/scopes.ts";
import type { Actor } from "../platform/auth/actor.ts";
import { findActiveMember, type ActiveMember } from "./member-record.ts";

/** The roles that manage members. */
const managers = ["owner", "admin"] as const satisfies readonly Role[];

/** The roles that may give a role, or take it away: admins manage all but owners. */
export function managersOf(role: Role): readonly Role[] {
  return role === "owner" ? ["owner"] : managers;
}

/**
 * The user of a session, who may manage members.
 * @throws ApiError INSUFFICIENT_SCOPE when they are neither owner nor admin; UNAUTHORIZED when they are gone
 */
export async function readManager({ organizationId, userId }: Actor): Promise<ActiveMember> {
  const manager = await findActiveMember(organizationId, userId);
  if (manager === undefined || manager.removedAt !== undefined) throw new ApiError("UNAUTHORIZED");
  if (managers.some((role) => role === manager.role)) return manager;
  throw new ApiError("INSUFFICIENT_SCOPE", { message: "Only owners and admins manage members." });
}

/**
 * Refuses an admin who would make, change or remove an owner.
 * @throws ApiError INSUFFICIENT_SCOPE
 */
export function requireMayManage({ role }: ActiveMember, ...roles: readonly Role[]): void {
  if (roles.every((each) => managersOf(each).includes(role))) return;
  throw new ApiError("INSUFFICIENT_SCOPE", { message: "Only owners make, change and remove owners." });
}
