import * as z from "zod/mini";

import { Role } from "../../contract/scopes.ts";

/**
 * What the item of a membership says of a user's rights. The role is there, and not in the user's own item, because only
 * the functions that manage members may write it.
 */
export const RoleOfMember = z.object({
  entity: z.literal("member"),
  /** Absent on items of older releases. */
  role: z.optional(Role),
});

/** What the item of an organization's rights says of a user who has no role in an item of a membership. */
export const OwnerOfRights = z.object({ entity: z.literal("rights"), ownerId: z.optional(z.string()) });

/**
 * The role of a user in an organization; undefined for somebody who is not a member. A user who registered with release 0.2
 * has no membership: they own the organization that they made.
 * @param owner the rights in the organization
 */
export function roleOf(
  userId: string,
  membership: z.infer<typeof RoleOfMember> | undefined,
  { ownerId }: { readonly ownerId?: string | undefined },
): Role | undefined {
  if (membership?.role !== undefined) return membership.role;
  if (ownerId === userId) return "owner";
  return membership === undefined ? undefined : "viewer";
}
