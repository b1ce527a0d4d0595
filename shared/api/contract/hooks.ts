import * as z from "zod/mini";

import { about, namedObject } from "./about.ts";
import { ApiKey } from "./api-keys.ts";
import { HookKind } from "./hook-kinds.ts";
import { SendLimitsRequest } from "./key-limits.ts";
import { idSchema } from "./primitives.ts";
import { notNull } from "./validation.ts";
import { ProfileName } from "./verifications.ts";

const secretRule = "must be given for `supabase`, `auth0` and `zitadel`, and for no other kind";

/** Unknown fields are rejected, because a limit with a wrong name would not limit anything. */
export const CreateHookRequest = z
  .strictObject({
    kind: HookKind,
    profile: z.optional(ProfileName),
    secret: about(
      z.optional(z.string().check(z.minLength(16), z.maxLength(512))),
      "For `supabase`, `auth0` and `zitadel`: the secret with which the system signs its calls.",
    ),
    limits: notNull(z.optional(SendLimitsRequest)),
    test: about(notNull(z.optional(z.boolean())), "As of an API key."),
  })
  .check(
    z.refine(({ kind, secret }) => (kind === "logto" || kind === "authentik") === (secret === undefined), {
      path: ["secret"],
      error: secretRule,
    }),
  )
  .register(z.globalRegistry, { id: "CreateHookRequest", examples: [{ kind: "logto" }] });
export type CreateHookRequest = z.infer<typeof CreateHookRequest>;

export const HookParams = z.object({ id: idSchema("hok") });

/** Any id, so that one that cannot exist gets the same response as one that does not exist. */
export const HookCallParams = z.object({ id: z.string() });

/** The response to a call. Only Supabase reads it, when a code was not sent. */
export const HookCallResponse = z.object({
  error: z.optional(z.object({ http_code: z.int(), message: z.string() })),
});

export const Hook = z
  .extend(z.pick(ApiKey, { status: true, test: true, limits: true, createdAt: true }), {
    id: idSchema("hok"),
    kind: HookKind,
    profile: z.optional(z.string()),
    url: about(z.string(), "The address for the login system."),
  })
  .register(z.globalRegistry, { id: "Hook" });
export type Hook = z.infer<typeof Hook>;

export const CreatedHook = z
  .extend(Hook, {
    token: about(
      z.optional(z.string().check(z.regex(/^hook_[\w-]{43}$/))),
      "Shown this once, for a kind without a `secret`. The login system sends it with each call.",
    ),
  })
  .register(z.globalRegistry, { id: "CreatedHook" });
export type CreatedHook = z.infer<typeof CreatedHook>;

export const DeletedHook = namedObject("DeletedHook", { id: idSchema("hok"), deleted: z.literal(true) });
