import * as z from "zod/mini";

import { about, namedObject, withExample } from "./about.ts";
import { asciiEmail, Email } from "./email-addresses.ts";
import { idSchema, text, Timestamp } from "./primitives.ts";
import { Scope } from "./scopes.ts";
import { OwnPassword, SecondFactorCode } from "./second-factor.ts";

export const minPasswordCharacters = 8;

export const Password = about(
  z
    .string()
    .check(
      z.minLength(minPasswordCharacters, `must be at least ${minPasswordCharacters} characters long`),
      z.maxLength(72, { error: "must be at most 72 bytes long in UTF-8", abort: true }),
      z.regex(/^[^\0]*$/, "must not contain the character U+0000"),
    ),
  `At least ${minPasswordCharacters} characters, none of them U+0000, and in UTF-8 at most 72 bytes. A gateway may ` +
    "reject what is easy to guess.",
);
export const Name = text(100);

export const RegisterRequest = withExample(
  namedObject("RegisterRequest", {
    email: Email,
    password: Password,
    firstName: z.optional(Name),
    lastName: z.optional(Name),
    organizationName: about(z.optional(Name), "The email when there is none."),
  }),
  { email: "ada@example.com", password: "correct horse", organizationName: "Ada's shop" },
);
export type RegisterRequest = z.infer<typeof RegisterRequest>;

/** The password has no minimum here: a password that registration would reject is simply wrong. */
export const LoginRequest = withExample(
  namedObject("LoginRequest", {
    email: z.string().check(z.maxLength(254, { abort: true }), z.overwrite(asciiEmail), z.toLowerCase()),
    password: z.string().check(z.maxLength(1_000)),
    code: z.optional(SecondFactorCode),
  }),
  { email: "ada@example.com", password: "correct horse" },
);
export type LoginRequest = z.infer<typeof LoginRequest>;

export const User = namedObject("User", {
  id: idSchema("usr"),
  email: z.string(),
  emailVerified: about(z.optional(z.literal(true)), "Present once the user has verified the email."),
  firstName: z.optional(z.string()),
  lastName: z.optional(z.string()),
  secondFactor: about(z.boolean(), "Whether they need a code to log in, beside the password."),
  createdAt: Timestamp,
});
export type User = z.infer<typeof User>;

export const Organization = namedObject("Organization", {
  id: idSchema("org"),
  name: z.string(),
  secondFactorRequired: z.boolean(),
  createdAt: Timestamp,
});
export type Organization = z.infer<typeof Organization>;

export const Account = namedObject("Account", {
  user: User,
  organization: Organization,
  scopes: about(
    z.optional(z.array(Scope)),
    "The scopes of the credential, in the response of `GET /v1/auth/me`.",
  ),
});
export type Account = z.infer<typeof Account>;

export const Session = z
  .extend(Account, {
    token: about(z.string(), "A session token (JWT) for the Authorization header."),
    tokenType: z.literal("Bearer"),
    expiresAt: Timestamp,
  })
  .register(z.globalRegistry, { id: "Session" });
export type Session = z.infer<typeof Session>;

export const ReauthenticateRequest = withExample(
  namedObject("ReauthenticateRequest", { password: OwnPassword, code: z.optional(SecondFactorCode) }),
  { password: "correct horse" },
);
export type ReauthenticateRequest = z.infer<typeof ReauthenticateRequest>;

export const Reauthenticated = namedObject("Reauthenticated", {
  reauthenticated: z.literal(true),
  validUntil: about(
    Timestamp.clone(),
    "Until then this session may use operations that require a recent password.",
  ),
});
export type Reauthenticated = z.infer<typeof Reauthenticated>;

export const LoggedOut = namedObject("LoggedOut", { loggedOut: z.literal(true) });
export type LoggedOut = z.infer<typeof LoggedOut>;

export const ActiveSession = namedObject("ActiveSession", {
  id: idSchema("ses"),
  current: about(z.optional(z.literal(true)), "Present on the session of this request."),
  userAgent: about(
    z.optional(z.string()),
    "The browser or program that logged in, as its `User-Agent` names it.",
  ),
  createdAt: Timestamp,
  lastUsedAt: about(z.optional(Timestamp), "To five minutes. Absent for a session with a token."),
  expiresAt: about(
    Timestamp.clone(),
    "When it ends. Until 12 hours after the login, requests renew the session of a browser.",
  ),
});
export type ActiveSession = z.infer<typeof ActiveSession>;

export const SessionParams = z.object({ id: idSchema("ses") });

export const DeletedSession = namedObject("DeletedSession", {
  id: idSchema("ses"),
  deleted: z.literal(true),
});

/** The HTML of a page. */
export const AccountPage = z.string();

/**
 * The token of a link in an email. A malformed token is reported like one that was used. It ends at the first character that it
 * cannot have, because programs append parameters to links.
 */
export const EmailToken = about(
  z.string().check(
    z.maxLength(1_000, { abort: true }),
    z.overwrite((token) => /^(usr_\w{26}\.[\w-]{43})(?![\w-])/.exec(token)?.[1] ?? token),
  ),
  "From the link that was sent by email.",
);
/** Has the form of a token, and is none. */
export const exampleEmailToken = `usr_${"0".repeat(26)}.${"A".repeat(43)}`;

/** Confirms that an email will be sent, if there is a reason for one. */
export const EmailRequested = namedObject("EmailRequested", { requested: z.literal(true) });
export type EmailRequested = z.infer<typeof EmailRequested>;

export const VerifyEmailRequest = withExample(
  namedObject("VerifyEmailRequest", {
    token: EmailToken,
    password: about(z.string().check(z.maxLength(1_000)), "The password of the account."),
  }),
  { token: exampleEmailToken, password: "correct horse" },
);
export type VerifyEmailRequest = z.infer<typeof VerifyEmailRequest>;

export const PasswordResetRequest = withExample(namedObject("PasswordResetRequest", { email: Email }), {
  email: "ada@example.com",
});
export type PasswordResetRequest = z.infer<typeof PasswordResetRequest>;

export const ResetPasswordRequest = withExample(
  namedObject("ResetPasswordRequest", { token: EmailToken, password: Password }),
  { token: exampleEmailToken, password: "correct horse" },
);
export type ResetPasswordRequest = z.infer<typeof ResetPasswordRequest>;

export const ChangePasswordRequest = withExample(
  namedObject("ChangePasswordRequest", {
    currentPassword: z.string().check(z.maxLength(1_000)),
    newPassword: Password,
    code: z.optional(SecondFactorCode),
  }),
  { currentPassword: "correct horse", newPassword: "correct horse battery" },
);
export type ChangePasswordRequest = z.infer<typeof ChangePasswordRequest>;

export const ChangedPassword = namedObject("ChangedPassword", { changed: z.literal(true) });
export type ChangedPassword = z.infer<typeof ChangedPassword>;

export const VerifiedEmail = namedObject("VerifiedEmail", { email: z.string(), verified: z.literal(true) });
export type VerifiedEmail = z.infer<typeof VerifiedEmail>;
