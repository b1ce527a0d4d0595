import * as z from "zod/mini";

import { about, namedEnum, namedObject, namedStrictObject, withExample } from "./about.ts";
import { SendLimits, SendLimitsRequest } from "./key-limits.ts";
import { idSchema, text, Timestamp } from "./primitives.ts";
import { allScopes, Scope } from "./scopes.ts";
import { notNull } from "./validation.ts";
import { Webhook } from "./webhooks.ts";

const Scopes = z
  .array(Scope)
  .check(
    z.minLength(1),
    z.maxLength(allScopes.length),
    z.refine((scopes) => new Set(scopes).size === scopes.length, "must not name a scope twice"),
  )
  .register(z.globalRegistry, { uniqueItems: true });

const AllowedAddresses = z
  .array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], "must be an address or a CIDR block"))
  .check(z.minLength(1), z.maxLength(50));

export const CreateApiKeyRequest = z.prefault(
  withExample(
    namedStrictObject("CreateApiKeyRequest", {
      name: about(z.optional(text(100)), "A description of the key, in your own words."),
      scopes: about(
        notNull(z.optional(Scopes)),
        "The scopes of the key. By default, all that this gateway grants to keys: every scope except `charge`, and on a " +
          "strict gateway except `keys`. A key cannot have more scopes than the credential that creates it. `charge` is for " +
          "saved cards, auto-recharge and the daily spend cap. `personal` adds to `read` the business verification, the audit " +
          "log, exports, and the texts of messages of type `otp`.",
      ),
      expiresAt: about(
        notNull(z.optional(Timestamp)),
        "When the key ends; not later than the key that makes it, whose end it gets without this.",
      ),
      allowedAddresses: about(
        notNull(z.optional(AllowedAddresses)),
        "The IPv4 and IPv6 addresses and CIDR blocks that may use the key. By default, those of the key that creates " +
          "it, or all addresses.",
      ),
      limits: about(
        notNull(z.optional(SendLimitsRequest)),
        "Limits on the messages that the key sends. A key that is made with a limited key has its limits, and cannot have " +
          "others. A limited key sends, drafts campaigns, and manages the keys and webhooks that were made with it. It cannot " +
          "change contacts, templates, or other data and settings that later messages depend on.",
      ),
      test: about(
        notNull(z.optional(z.boolean())),
        "Whether to create a test key. Its messages are free and go to no phone. A test key has at most the scopes " +
          "`send`, `read` and `webhooks`, which it has by default. See the [guide](/docs/guides/test-numbers).",
      ),
    }),
    { name: "server" },
  ),
  {},
);
export type CreateApiKeyRequest = z.infer<typeof CreateApiKeyRequest>;

export const ApiKeyParams = z.object({ id: idSchema("key") });

export const UpdateApiKeyRequest = withExample(
  namedStrictObject("UpdateApiKeyRequest", { limits: SendLimitsRequest }),
  { limits: { dailyBudget: 10 } },
);
export type UpdateApiKeyRequest = z.infer<typeof UpdateApiKeyRequest>;

export const RotateApiKeyRequest = z.prefault(
  withExample(
    namedStrictObject("RotateApiKeyRequest", {
      overlapHours: about(
        notNull(z._default(z.int().check(z.gte(0), z.lte(168)), 24)),
        "How long the old key still works. With 0 it is disabled immediately, and if a person rotates it, so are " +
          "the keys that were made with it.",
      ),
    }),
    { overlapHours: 24 },
  ),
  {},
);
export type RotateApiKeyRequest = z.infer<typeof RotateApiKeyRequest>;

export const DisableApiKeyRequest = z.prefault(
  withExample(
    namedStrictObject("DisableApiKeyRequest", {
      descendants: about(
        z._default(z.boolean(), true),
        "Whether the keys that were made with it are disabled too, and those made with them. This includes its " +
          "replacement if the key rotated itself.",
      ),
    }),
    { descendants: false },
  ),
  {},
);
export type DisableApiKeyRequest = z.infer<typeof DisableApiKeyRequest>;

export const RevokeAllApiKeysRequest = z.prefault(
  withExample(
    namedStrictObject("RevokeAllApiKeysRequest", {
      exceptCalling: about(z._default(z.boolean(), false), "Whether the key that makes this call stays."),
    }),
    { exceptCalling: true },
  ),
  {},
);
export type RevokeAllApiKeysRequest = z.infer<typeof RevokeAllApiKeysRequest>;

export const ApiKey = namedObject("ApiKey", {
  id: idSchema("key"),
  name: z.optional(z.string()),
  hint: about(z.string(), "The first characters of the secret, enough to recognize the key."),
  status: namedEnum("ApiKeyStatus", ["active", "disabled", "expired"]),
  test: about(z.optional(z.literal(true)), "Present for a test key."),
  scopes: about(z.array(Scope), "The operations that it may use."),
  allowedAddresses: about(
    z.optional(z.array(z.string())),
    "Where it may be used from; absent where that is anywhere.",
  ),
  limits: about(z.optional(SendLimits), "Its limits on the messages that it sends, if it has any."),
  spentToday: about(z.optional(z.number()), "In a list, what counts against its daily budget today (UTC)."),
  createdAt: Timestamp,
  createdBy: about(
    z.object({
      type: namedEnum("CredentialType", ["user", "apiKey"]),
      id: z.union([idSchema("usr"), idSchema("key")]),
    }),
    "The credential that created it.",
  ),
  expiresAt: z.optional(Timestamp),
  lastUsedAt: about(z.optional(Timestamp), "To the hour; absent while it was not used."),
  disabledAt: z.optional(Timestamp),
});
export type ApiKey = z.infer<typeof ApiKey>;

/** The only response that ever carries the secret. */
export const CreatedApiKey = z
  .extend(ApiKey, {
    secret: about(
      z.string().check(z.regex(/^nn_(test_)?[0-9A-Za-z]{38}$/)),
      "Shown this once. Goes into the Authorization header like a session token. A test key begins with `nn_test_`.",
    ),
  })
  .register(z.globalRegistry, { id: "CreatedApiKey" });
export type CreatedApiKey = z.infer<typeof CreatedApiKey>;

const CalledWebhooks = about(
  z.array(Webhook),
  "The webhooks that the key registered, or keys that were made with it. They are still called.",
);

export const DisabledApiKey = z
  .extend(ApiKey, { webhooks: CalledWebhooks })
  .register(z.globalRegistry, { id: "DisabledApiKey" });
export type DisabledApiKey = z.infer<typeof DisabledApiKey>;

export const DeletedApiKey = namedObject("DeletedApiKey", {
  id: idSchema("key"),
  deleted: z.literal(true),
  webhooks: CalledWebhooks,
});

export const RevokedApiKeys = namedObject("RevokedApiKeys", {
  count: about(z.int(), "How many keys this call has disabled."),
});
export type RevokedApiKeys = z.infer<typeof RevokedApiKeys>;
