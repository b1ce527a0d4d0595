import * as z from "zod/mini";

/** What a credential may do. A route says which of these it asks for. */
export const Scope = z
  .enum(["send", "read", "contacts", "campaigns", "webhooks", "billing", "keys"])
  .register(z.globalRegistry, { id: "Scope" });
export type Scope = z.infer<typeof Scope>;

export const allScopes: readonly Scope[] = Scope.options;

/** What a person is in their organisation. */
export const Role = z
  .enum(["owner", "admin", "developer", "viewer"])
  .register(z.globalRegistry, { id: "Role" });
export type Role = z.infer<typeof Role>;

/** What the people of a role may do. */
export const scopesOfRole: Readonly<Record<Role, readonly Scope[]>> = {
  owner: allScopes,
  admin: allScopes,
  developer: ["send", "read", "contacts", "campaigns", "webhooks", "keys"],
  viewer: ["read"],
};
