import type * as z from "zod/mini";

import { about, namedEnum } from "./about.ts";

export const HookKind = about(
  namedEnum("HookKind", ["supabase", "logto", "authentik", "auth0", "zitadel"]),
  "The login system that calls the hook.",
);
export type HookKind = z.infer<typeof HookKind>;
