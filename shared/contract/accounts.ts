import * as z from "zod";

import { idSchema, text, Timestamp } from "./primitives.ts";
import { allScopes, Scope } from "./scopes.ts";
import { SecondFactorCode } from "./second-factor.ts";

/** Emails are compared without regard to case. RFC 5321 limits what stands before the @, and the whole. */
export const Email = z
  .email("must be an email address")
  .max(254)
  .refine((email) => email.indexOf("@") <= 64, "must have at most 64 characters before the @")
  .toLowerCase();
export const minPasswordCharacters = 8;

export const Password = z
  .string()
  .min(minPasswordCharacters, `must be at least ${minPasswordCharacters} characters long`)
  .max(72, "must be at most 72 bytes long in UTF-8")
  .regex(/^[^\0]*$/, "must not contain the character U+0000")
  .meta({
    description:
      `At least ${minPasswordCharacters} characters, none of them U+0000, and in UTF-8 at most 72 bytes. A gateway may ` +
      "refuse what is easy to guess.",
  });
export const Name = text(100);

export const RegisterRequest = z
  .object({
    email: Email,
    password: Password,
    firstName: Name.optional(),
    lastName: Name.optional(),
    organizationName: Name.optional().meta({ description: "The email when there is none." }),
  })
  .meta({
    id: "RegisterRequest",
    examples: [{ email: "ada@example.com", password: "correct horse", organizationName: "Ada's shop" }],
  });
export type RegisterRequest = z.infer<typeof RegisterRequest>;

/** The password has no minimum here: a password that registration would refuse is simply wrong. */
export const LoginRequest = z
  .object({
    email: z.string().max(254).toLowerCase(),
    password: z.string().max(1_000),
    code: SecondFactorCode.optional(),
  })
  .meta({ id: "LoginRequest", examples: [{ email: "ada@example.com", password: "correct horse" }] });
export type LoginRequest = z.infer<typeof LoginRequest>;

export const User = z
  .object({
    id: idSchema("usr"),
    email: z.string(),
    firstName: z.string().optional(),
    lastName: z.string().optional(),
    secondFactor: z
      .boolean()
      .meta({ description: "Whether they need a code to log in, beside the password." }),
    createdAt: Timestamp,
  })
  .meta({ id: "User" });
export type User = z.infer<typeof User>;

export const Organization = z
  .object({ id: idSchema("org"), name: z.string(), createdAt: Timestamp })
  .meta({ id: "Organization" });
export type Organization = z.infer<typeof Organization>;

export const Account = z.object({ user: User, organization: Organization }).meta({ id: "Account" });
export type Account = z.infer<typeof Account>;

export const Session = Account.extend({
  token: z.string().meta({ description: "A session token (JWT) for the Authorization header." }),
  tokenType: z.literal("Bearer"),
  expiresAt: Timestamp,
}).meta({ id: "Session" });
export type Session = z.infer<typeof Session>;

export const ReauthenticateRequest = z
  .object({
    password: z.string().max(1_000).meta({ description: "Your password, once more." }),
    code: SecondFactorCode.optional(),
  })
  .meta({ id: "ReauthenticateRequest", examples: [{ password: "correct horse" }] });
export type ReauthenticateRequest = z.infer<typeof ReauthenticateRequest>;

export const Reauthenticated = z
  .object({
    reauthenticated: z.literal(true),
    validUntil: Timestamp.meta({ description: "Until then this session may do what asks for it." }),
  })
  .meta({ id: "Reauthenticated" });
export type Reauthenticated = z.infer<typeof Reauthenticated>;

export const LoggedOut = z.object({ loggedOut: z.literal(true) }).meta({ id: "LoggedOut" });
export type LoggedOut = z.infer<typeof LoggedOut>;

/** The HTML of a page. */
export const AccountPage = z.string();

/** What a link in an email carries. What is none is simply not good, like one that was used. */
export const EmailToken = z.string().max(200).meta({ description: "From the link that was sent by email." });
/** Has the form of a token, and is none. */
export const exampleEmailToken = `usr_${"0".repeat(26)}.${"A".repeat(43)}`;

/** That an email will come, if there is a reason for one. */
export const EmailRequested = z.object({ requested: z.literal(true) }).meta({ id: "EmailRequested" });
export type EmailRequested = z.infer<typeof EmailRequested>;

export const VerifyEmailRequest = z
  .object({
    token: EmailToken,
    password: z.string().max(1_000).meta({ description: "The password of the account." }),
  })
  .meta({
    id: "VerifyEmailRequest",
    examples: [{ token: exampleEmailToken, password: "correct horse" }],
  });
export type VerifyEmailRequest = z.infer<typeof VerifyEmailRequest>;

export const PasswordResetRequest = z
  .object({ email: Email })
  .meta({ id: "PasswordResetRequest", examples: [{ email: "ada@example.com" }] });
export type PasswordResetRequest = z.infer<typeof PasswordResetRequest>;

export const ResetPasswordRequest = z
  .object({ token: EmailToken, password: Password })
  .meta({ id: "ResetPasswordRequest", examples: [{ token: exampleEmailToken, password: "correct horse" }] });
export type ResetPasswordRequest = z.infer<typeof ResetPasswordRequest>;

export const ChangePasswordRequest = z
  .object({ currentPassword: z.string().max(1_000), newPassword: Password })
  .meta({
    id: "ChangePasswordRequest",
    examples: [{ currentPassword: "correct horse", newPassword: "correct horse battery" }],
  });
export type ChangePasswordRequest = z.infer<typeof ChangePasswordRequest>;

export const ChangedPassword = z.object({ changed: z.literal(true) }).meta({ id: "ChangedPassword" });
export type ChangedPassword = z.infer<typeof ChangedPassword>;

export const VerifiedEmail = z
  .object({ email: z.string(), verified: z.literal(true) })
  .meta({ id: "VerifiedEmail" });
export type VerifiedEmail = z.infer<typeof VerifiedEmail>;

const Scopes = z
  .array(Scope)
  .min(1)
  .max(allScopes.length)
  .refine((scopes) => new Set(scopes).size === scopes.length, "must not name a scope twice")
  .meta({ uniqueItems: true });

const AllowedAddresses = z
  .array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], "must be an address or a CIDR block"))
  .min(1)
  .max(50);

export const CreateApiKeyRequest = z
  .object({
    name: text(100).optional().meta({ description: "What the key is for, in words of your own." }),
    scopes: Scopes.optional().meta({
      description:
        "What the key may do. Without it as much as the gateway gives to keys: everything, or on a strict one " +
        "everything but `keys`. Never more than the credential that makes it.",
    }),
    expiresAt: Timestamp.optional().meta({
      description: "When the key ends; not later than the key that makes it, whose end it gets without this.",
    }),
    allowedAddresses: AllowedAddresses.optional().meta({
      description:
        "The addresses and CIDR blocks, of IPv4 and IPv6, that the key may be used from; without it those of the key " +
        "that makes it, or all.",
    }),
  })
  .meta({ id: "CreateApiKeyRequest", examples: [{ name: "server" }] })
  .prefault({});
export type CreateApiKeyRequest = z.infer<typeof CreateApiKeyRequest>;

export const ApiKeyParams = z.object({ id: idSchema("key") });

export const RotateApiKeyRequest = z
  .object({
    overlapHours: z.int().min(0).max(168).default(24).meta({
      description: "How long the old key still works; with 0 it is disabled at once.",
    }),
  })
  .meta({ id: "RotateApiKeyRequest", examples: [{ overlapHours: 24 }] })
  .prefault({});
export type RotateApiKeyRequest = z.infer<typeof RotateApiKeyRequest>;

export const DisableApiKeyRequest = z
  .object({
    descendants: z.boolean().default(false).meta({
      description: "Whether the keys that were made with it go too, and those made with them.",
    }),
  })
  .meta({ id: "DisableApiKeyRequest", examples: [{ descendants: true }] })
  .prefault({});
export type DisableApiKeyRequest = z.infer<typeof DisableApiKeyRequest>;

export const RevokeAllApiKeysRequest = z
  .object({
    exceptCalling: z.boolean().default(false).meta({
      description: "Whether the key that makes this call stays.",
    }),
  })
  .meta({ id: "RevokeAllApiKeysRequest", examples: [{ exceptCalling: true }] })
  .prefault({});
export type RevokeAllApiKeysRequest = z.infer<typeof RevokeAllApiKeysRequest>;

export const ApiKey = z
  .object({
    id: idSchema("key"),
    name: z.string().optional(),
    hint: z
      .string()
      .meta({ description: "The first characters of the secret, enough to tell one key from another." }),
    status: z.enum(["active", "disabled", "expired"]),
    scopes: z.array(Scope).meta({ description: "What it may do." }),
    allowedAddresses: z
      .array(z.string())
      .optional()
      .meta({ description: "Where it may be used from; absent where that is anywhere." }),
    createdAt: Timestamp,
    createdBy: z
      .object({ type: z.enum(["user", "apiKey"]), id: z.union([idSchema("usr"), idSchema("key")]) })
      .optional()
      .meta({ description: "Whose call made it; absent of keys that were made before this was kept." }),
    expiresAt: Timestamp.optional(),
    lastUsedAt: Timestamp.optional().meta({ description: "To the hour; absent while it was not used." }),
    disabledAt: Timestamp.optional(),
  })
  .meta({ id: "ApiKey" });
export type ApiKey = z.infer<typeof ApiKey>;

/** The only response that ever carries the secret. */
export const CreatedApiKey = ApiKey.extend({
  secret: z
    .string()
    .regex(/^nn_[0-9A-Za-z]{38}$/)
    .meta({ description: "Shown this once. Goes into the Authorization header like a session token." }),
}).meta({ id: "CreatedApiKey" });
export type CreatedApiKey = z.infer<typeof CreatedApiKey>;

export const DeletedApiKey = z
  .object({ id: idSchema("key"), deleted: z.literal(true) })
  .meta({ id: "DeletedApiKey" });

export const RevokedApiKeys = z
  .object({ count: z.int().meta({ description: "How many keys this call has disabled." }) })
  .meta({ id: "RevokedApiKeys" });
export type RevokedApiKeys = z.infer<typeof RevokedApiKeys>;
