import type * as z from "zod/mini";

import { namedEnum } from "./about.ts";

/**
 * The scopes of credentials. Each route requires one of them. `personal` is for the business verification, the audit log,
 * exports, and the texts of messages of type `otp`. A held message has its text for all, because a person decides about it.
 */
export const Scope = namedEnum("Scope", [
  "send",
  "read",
  "contacts",
  "campaigns",
  "webhooks",
  "billing",
  "keys",
  "charge",
  "personal",
]);
export type Scope = z.infer<typeof Scope>;

export const allScopes: readonly Scope[] = Scope.options;

/** The scopes of an API key whose request names none. Charges of saved cards have to be named. */
export const defaultScopes: readonly Scope[] = allScopes.filter((scope) => scope !== "charge");

/** The scopes that a test key can have. */
export const scopesOfTestKeys: readonly Scope[] = ["send", "read", "webhooks"];

/** The role of a person in their organization. */
export const Role = namedEnum("Role", ["owner", "admin", "billing", "developer", "sender", "viewer"]);
export type Role = z.infer<typeof Role>;

/** The scopes of each role. */
export const scopesOfRole: Readonly<Record<Role, readonly Scope[]>> = {
  owner: allScopes,
  admin: allScopes,
  billing: ["read", "billing", "charge", "personal"],
  developer: ["send", "read", "contacts", "campaigns", "webhooks", "keys", "personal"],
  sender: ["send", "read", "contacts", "campaigns"],
  viewer: ["read"],
};
