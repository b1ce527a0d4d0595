import * as z from "zod/mini";

import { idSchema, text, Timestamp } from "./primitives.ts";
import { allScopes, Scope } from "./scopes.ts";
import { SecondFactorCode } from "./second-factor.ts";

/** Emails are compared without regard to case. RFC 5321 limits what stands before the @, and the whole. */
export const Email = z.email("must be an email address").check(
  z.maxLength(254),
  z.refine((email) => email.indexOf("@") <= 64, "must have at most 64 characters before the @"),
  z.toLowerCase(),
);
export const minPasswordCharacters = 8;

export const Password = z
  .string()
  .check(
    z.minLength(minPasswordCharacters, `must be at least ${minPasswordCharacters} characters long`),
    z.maxLength(72, "must be at most 72 bytes long in UTF-8"),
    z.regex(/^[^\0]*$/, "must not contain the character U+0000"),
  )
  .register(z.globalRegistry, {
    description:
      `At least ${minPasswordCharacters} characters, none of them U+0000, and in UTF-8 at most 72 bytes. A gateway may ` +
      "reject what is easy to guess.",
  });
export const Name = text(100);

export const RegisterRequest = z
  .object({
    email: Email,
    password: Password,
    firstName: z.optional(Name),
    lastName: z.optional(Name),
    organizationName: z
      .optional(Name)
      .register(z.globalRegistry, { description: "The email when there is none." }),
  })
  .register(z.globalRegistry, {
    id: "RegisterRequest",
    examples: [{ email: "ada@example.com", password: "correct horse", organizationName: "Ada's shop" }],
  });
export type RegisterRequest = z.infer<typeof RegisterRequest>;

/** The password has no minimum here: a password that registration would reject is simply wrong. */
export const LoginRequest = z
  .object({
    email: z.string().check(z.maxLength(254), z.toLowerCase()),
    password: z.string().check(z.maxLength(1_000)),
    code: z.optional(SecondFactorCode),
  })
  .register(z.globalRegistry, {
    id: "LoginRequest",
    examples: [{ email: "ada@example.com", password: "correct horse" }],
  });
export type LoginRequest = z.infer<typeof LoginRequest>;

export const User = z
  .object({
    id: idSchema("usr"),
    email: z.string(),
    firstName: z.optional(z.string()),
    lastName: z.optional(z.string()),
    secondFactor: z.boolean().register(z.globalRegistry, {
      description: "Whether they need a code to log in, beside the password.",
    }),
    createdAt: Timestamp,
  })
  .register(z.globalRegistry, { id: "User" });
export type User = z.infer<typeof User>;

export const Organization = z
  .object({ id: idSchema("org"), name: z.string(), createdAt: Timestamp })
  .register(z.globalRegistry, { id: "Organization" });
export type Organization = z.infer<typeof Organization>;

export const Account = z
  .object({ user: User, organization: Organization })
  .register(z.globalRegistry, { id: "Account" });
export type Account = z.infer<typeof Account>;

export const Session = z
  .extend(Account, {
    token: z
      .string()
      .register(z.globalRegistry, { description: "A session token (JWT) for the Authorization header." }),
    tokenType: z.literal("Bearer"),
    expiresAt: Timestamp,
  })
  .register(z.globalRegistry, { id: "Session" });
export type Session = z.infer<typeof Session>;

export const ReauthenticateRequest = z
  .object({
    password: z
      .string()
      .check(z.maxLength(1_000))
      .register(z.globalRegistry, { description: "Your password, once more." }),
    code: z.optional(SecondFactorCode),
  })
  .register(z.globalRegistry, { id: "ReauthenticateRequest", examples: [{ password: "correct horse" }] });
export type ReauthenticateRequest = z.infer<typeof ReauthenticateRequest>;

export const Reauthenticated = z
  .object({
    reauthenticated: z.literal(true),
    validUntil: Timestamp.clone().register(z.globalRegistry, {
      description: "Until then this session may use operations that require a recent password.",
    }),
  })
  .register(z.globalRegistry, { id: "Reauthenticated" });
export type Reauthenticated = z.infer<typeof Reauthenticated>;

export const LoggedOut = z
  .object({ loggedOut: z.literal(true) })
  .register(z.globalRegistry, { id: "LoggedOut" });
export type LoggedOut = z.infer<typeof LoggedOut>;

/** The HTML of a page. */
export const AccountPage = z.string();

/** The token of a link in an email. A malformed token is reported like one that was used. */
export const EmailToken = z
  .string()
  .check(z.maxLength(200))
  .register(z.globalRegistry, { description: "From the link that was sent by email." });
/** Has the form of a token, and is none. */
export const exampleEmailToken = `usr_${"0".repeat(26)}.${"A".repeat(43)}`;

/** Confirms that an email will be sent, if there is a reason for one. */
export const EmailRequested = z
  .object({ requested: z.literal(true) })
  .register(z.globalRegistry, { id: "EmailRequested" });
export type EmailRequested = z.infer<typeof EmailRequested>;

export const VerifyEmailRequest = z
  .object({
    token: EmailToken,
    password: z
      .string()
      .check(z.maxLength(1_000))
      .register(z.globalRegistry, { description: "The password of the account." }),
  })
  .register(z.globalRegistry, {
    id: "VerifyEmailRequest",
    examples: [{ token: exampleEmailToken, password: "correct horse" }],
  });
export type VerifyEmailRequest = z.infer<typeof VerifyEmailRequest>;

export const PasswordResetRequest = z
  .object({ email: Email })
  .register(z.globalRegistry, { id: "PasswordResetRequest", examples: [{ email: "ada@example.com" }] });
export type PasswordResetRequest = z.infer<typeof PasswordResetRequest>;

export const ResetPasswordRequest = z
  .object({ token: EmailToken, password: Password })
  .register(z.globalRegistry, {
    id: "ResetPasswordRequest",
    examples: [{ token: exampleEmailToken, password: "correct horse" }],
  });
export type ResetPasswordRequest = z.infer<typeof ResetPasswordRequest>;

export const ChangePasswordRequest = z
  .object({ currentPassword: z.string().check(z.maxLength(1_000)), newPassword: Password })
  .register(z.globalRegistry, {
    id: "ChangePasswordRequest",
    examples: [{ currentPassword: "correct horse", newPassword: "correct horse battery" }],
  });
export type ChangePasswordRequest = z.infer<typeof ChangePasswordRequest>;

export const ChangedPassword = z
  .object({ changed: z.literal(true) })
  .register(z.globalRegistry, { id: "ChangedPassword" });
export type ChangedPassword = z.infer<typeof ChangedPassword>;

export const VerifiedEmail = z
  .object({ email: z.string(), verified: z.literal(true) })
  .register(z.globalRegistry, { id: "VerifiedEmail" });
export type VerifiedEmail = z.infer<typeof VerifiedEmail>;

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
  z
    .object({
      name: z
        .optional(text(100))
        .register(z.globalRegistry, { description: "A description of the key, in your own words." }),
      scopes: z.optional(Scopes).register(z.globalRegistry, {
        description:
          "The scopes of the key. By default, all that this gateway grants to keys: every scope, or on a strict gateway " +
          "every scope except `keys`. A key cannot have more scopes than the credential that creates it.",
      }),
      expiresAt: z.optional(Timestamp).register(z.globalRegistry, {
        description:
          "When the key ends; not later than the key that makes it, whose end it gets without this.",
      }),
      allowedAddresses: z.optional(AllowedAddresses).register(z.globalRegistry, {
        description:
          "The IPv4 and IPv6 addresses and CIDR blocks that may use the key. By default, those of the key that creates " +
          "it, or all addresses.",
      }),
    })
    .register(z.globalRegistry, { id: "CreateApiKeyRequest", examples: [{ name: "server" }] }),
  {},
);
export type CreateApiKeyRequest = z.infer<typeof CreateApiKeyRequest>;

export const ApiKeyParams = z.object({ id: idSchema("key") });

export const RotateApiKeyRequest = z.prefault(
  z
    .object({
      overlapHours: z._default(z.int().check(z.gte(0), z.lte(168)), 24).register(z.globalRegistry, {
        description: "How long the old key still works. With 0 it is disabled immediately.",
      }),
    })
    .register(z.globalRegistry, { id: "RotateApiKeyRequest", examples: [{ overlapHours: 24 }] }),
  {},
);
export type RotateApiKeyRequest = z.infer<typeof RotateApiKeyRequest>;

export const DisableApiKeyRequest = z.prefault(
  z
    .object({
      descendants: z._default(z.boolean(), false).register(z.globalRegistry, {
        description: "Whether the keys that were made with it go too, and those made with them.",
      }),
    })
    .register(z.globalRegistry, { id: "DisableApiKeyRequest", examples: [{ descendants: true }] }),
  {},
);
export type DisableApiKeyRequest = z.infer<typeof DisableApiKeyRequest>;

export const RevokeAllApiKeysRequest = z.prefault(
  z
    .object({
      exceptCalling: z._default(z.boolean(), false).register(z.globalRegistry, {
        description: "Whether the key that makes this call stays.",
      }),
    })
    .register(z.globalRegistry, { id: "RevokeAllApiKeysRequest", examples: [{ exceptCalling: true }] }),
  {},
);
export type RevokeAllApiKeysRequest = z.infer<typeof RevokeAllApiKeysRequest>;

export const ApiKey = z
  .object({
    id: idSchema("key"),
    name: z.optional(z.string()),
    hint: z.string().register(z.globalRegistry, {
      description: "The first characters of the secret, enough to recognize the key.",
    }),
    status: z.enum(["active", "disabled", "expired"]),
    scopes: z.array(Scope).register(z.globalRegistry, { description: "The operations that it may use." }),
    allowedAddresses: z.optional(z.array(z.string())).register(z.globalRegistry, {
      description: "Where it may be used from; absent where that is anywhere.",
    }),
    createdAt: Timestamp,
    createdBy: z
      .object({ type: z.enum(["user", "apiKey"]), id: z.union([idSchema("usr"), idSchema("key")]) })
      .register(z.globalRegistry, { description: "The credential that created it." }),
    expiresAt: z.optional(Timestamp),
    lastUsedAt: z
      .optional(Timestamp)
      .register(z.globalRegistry, { description: "To the hour; absent while it was not used." }),
    disabledAt: z.optional(Timestamp),
  })
  .register(z.globalRegistry, { id: "ApiKey" });
export type ApiKey = z.infer<typeof ApiKey>;

/** The only response that ever carries the secret. */
export const CreatedApiKey = z
  .extend(ApiKey, {
    secret: z
      .string()
      .check(z.regex(/^nn_[0-9A-Za-z]{38}$/))
      .register(z.globalRegistry, {
        description: "Shown this once. Goes into the Authorization header like a session token.",
      }),
  })
  .register(z.globalRegistry, { id: "CreatedApiKey" });
export type CreatedApiKey = z.infer<typeof CreatedApiKey>;

export const DeletedApiKey = z
  .object({ id: idSchema("key"), deleted: z.literal(true) })
  .register(z.globalRegistry, { id: "DeletedApiKey" });

export const RevokedApiKeys = z
  .object({
    count: z.int().register(z.globalRegistry, { description: "How many keys this call has disabled." }),
  })
  .register(z.globalRegistry, { id: "RevokedApiKeys" });
export type RevokedApiKeys = z.infer<typeof RevokedApiKeys>;
