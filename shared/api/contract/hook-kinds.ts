import * as z from "zod/mini";

export const HookKind = z
  .enum(["supabase", "logto", "authentik", "auth0", "zitadel"])
  .register(z.globalRegistry, { id: "HookKind", description: "The login system that calls the hook." });
export type HookKind = z.infer<typeof HookKind>;
