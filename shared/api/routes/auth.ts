import {
  Account,
  ActiveSession,
  DeletedSession,
  EmailRequested,
  LoggedOut,
  LoginRequest,
  Reauthenticated,
  ReauthenticateRequest,
  RegisterRequest,
  Session,
  SessionParams,
  VerifiedEmail,
  VerifyEmailRequest,
} from "../contract/accounts.ts";
import { AcceptedInvitation, AcceptInvitationRequest } from "../contract/members.ts";
import { PageQuery } from "../contract/primitives.ts";
import type { Route } from "./route.ts";

export const register = {
  method: "POST",
  path: "/v1/auth/register",
  summary: "Create a user, an organization and its wallet",
  description:
    "The response has a session token, which is valid for an hour. If the gateway sends emails, the user gets a link that " +
    "verifies the email.",
  auth: "none",
  body: RegisterRequest,
  status: 201,
  data: Session,
  rejectsIdempotencyKey: true,
  errors: ["EMAIL_TAKEN", "RATE_LIMITED"],
} as const satisfies Route;

const loginErrors = [
  "INVALID_CREDENTIALS",
  "SECOND_FACTOR_REQUIRED",
  "INVALID_SECOND_FACTOR",
  "RATE_LIMITED",
  "ORGANIZATION_SUSPENDED",
] as const;

export const login = {
  method: "POST",
  path: "/v1/auth/login",
  summary: "Log in with email and password, and a code if the user has a second factor",
  description:
    "The response has a session token, which is valid for an hour. Too many wrong passwords block the login for a time.",
  auth: "none",
  body: LoginRequest,
  data: Session,
  errors: loginErrors,
} as const satisfies Route;

export const reauthenticate = {
  method: "POST",
  path: "/v1/auth/reauthenticate",
  summary: "Confirm your password, for operations on members, API keys, webhooks, billing and saved cards",
  description:
    "Some changes need a session that entered its password recently. Call this, then repeat the request that was rejected.",
  auth: "session",
  withoutSecondFactor: true,
  body: ReauthenticateRequest,
  data: Reauthenticated,
  audited: ["reauthenticated"],
  errors: ["INVALID_CREDENTIALS", "SECOND_FACTOR_REQUIRED", "INVALID_SECOND_FACTOR", "RATE_LIMITED"],
} as const satisfies Route;

export const logout = {
  method: "POST",
  path: "/v1/auth/logout",
  summary: "Log out: end the session of this token",
  description: "The token is rejected from then on. API keys keep working.",
  auth: "session",
  withoutSecondFactor: true,
  data: LoggedOut,
  audited: ["loggedOut"],
} as const satisfies Route;

export const logoutEverywhere = {
  method: "POST",
  path: "/v1/auth/logout-everywhere",
  summary: "End all sessions of the user, including this one; API keys keep working",
  description: "Use it when a device is lost or a token has leaked.",
  auth: "session",
  withoutSecondFactor: true,
  data: LoggedOut,
  audited: ["loggedOut"],
} as const satisfies Route;

/** Bundles of the other rows omit a call that is marked as pure, but not a list with `...` in it. */
const createSessionErrors = /* @__PURE__ */ (() => [...loginErrors, "INSUFFICIENT_SCOPE"] as const)();

export const createSession = {
  method: "POST",
  path: "/v1/auth/console-session",
  summary: "Log in to the console: the session is in a cookie, which only the console can use",
  internal: true,
  auth: "none",
  body: LoginRequest,
  status: 201,
  data: Account,
  errors: createSessionErrors,
} as const satisfies Route;

export const listSessions = {
  method: "GET",
  path: "/v1/auth/sessions",
  summary: "List your sessions",
  description:
    "The list has the sessions of the console, and those of tokens that a login or registration returned. The newest is first.",
  auth: "session",
  withoutSecondFactor: true,
  query: PageQuery,
  data: ActiveSession,
  paged: true,
} as const satisfies Route;

export const deleteSession = {
  method: "DELETE",
  path: "/v1/auth/sessions/{id}",
  summary: "End one of your sessions",
  description: "The session is rejected from its next request on. Other sessions and API keys keep working.",
  auth: "session",
  withoutSecondFactor: true,
  params: SessionParams,
  recentProof: true,
  data: DeletedSession,
  audited: ["id", "deleted"],
} as const satisfies Route;

export const requestEmailVerification = {
  method: "POST",
  path: "/v1/auth/verify-email/request",
  summary: "Send a new link to verify your email",
  description: "Earlier links stop working. The link is valid for one day.",
  auth: "session",
  status: 202,
  data: EmailRequested,
  audited: ["requested"],
  errors: ["EMAIL_DISABLED", "CONFLICT", "RATE_LIMITED"],
} as const satisfies Route;

export const verifyEmail = {
  method: "POST",
  path: "/v1/auth/verify-email",
  summary: "Show that an email is yours, with the token of the link that was sent there and the password",
  description: "The token is from the link in the email, and the password shows that the account is yours.",
  auth: "none",
  body: VerifyEmailRequest,
  data: VerifiedEmail,
  errors: ["INVALID_EMAIL_TOKEN", "INVALID_CREDENTIALS", "RATE_LIMITED"],
} as const satisfies Route;

export const acceptInvitation = {
  method: "POST",
  path: "/v1/auth/accept-invitation",
  summary: "Accept an invitation to an organization, with the token from the email",
  description: "It creates the user's account with its password. Log in afterwards.",
  auth: "none",
  body: AcceptInvitationRequest,
  status: 201,
  data: AcceptedInvitation,
  rejectsIdempotencyKey: true,
  errors: ["INVALID_EMAIL_TOKEN", "EMAIL_TAKEN", "ORGANIZATION_SUSPENDED"],
} as const satisfies Route;

export const getMe = {
  method: "GET",
  path: "/v1/auth/me",
  summary: "Get the user and the organization of the credential",
  description: "Use it to check a credential, and to find its owner.",
  scope: "read",
  testKeys: true,
  withoutSecondFactor: true,
  data: Account,
} as const satisfies Route;

export const routes = {
  register,
  login,
  reauthenticate,
  logout,
  logoutEverywhere,
  createSession,
  listSessions,
  deleteSession,
  requestEmailVerification,
  verifyEmail,
  acceptInvitation,
  getMe,
};
