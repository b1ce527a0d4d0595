import { ApiError } from "../contract/errors.ts";
import type { Role } from "../contract/scopes.ts";
import { insufficientScope, type Actor } from "../platform/auth/authenticate.ts";
import { findUser, type UserRecord } from "./user-record.ts";

/**
 * The user of a session, who may manage members.
 * @throws ApiError INSUFFICIENT_SCOPE when they are neither owner nor admin; UNAUTHORIZED when they are gone
 */
export async function readManager({ userId }: Actor): Promise<UserRecord> {
  const manager = await findUser(userId, { consistent: true });
  if (manager === undefined || manager.removedAt !== undefined) throw new ApiError("UNAUTHORIZED");
  if (manager.role === "owner" || manager.role === "admin") return manager;
  throw insufficientScope({ message: "Only owners and admins manage members." });
}

/**
 * Refuses an admin who would make, change or remove an owner.
 * @throws ApiError INSUFFICIENT_SCOPE
 */
export function requireMayManage({ role }: UserRecord, ...roles: readonly Role[]): void {
  if (role === "owner" || !roles.includes("owner")) return;
  throw insufficientScope({ message: "Only owners make, change and remove owners." });
}
