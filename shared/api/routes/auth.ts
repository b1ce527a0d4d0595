import {
  Account,
  AccountPage,
  ActiveSession,
  ChangedPassword,
  ChangePasswordRequest,
  DeletedSession,
  EmailRequested,
  LoggedOut,
  LoginRequest,
  PasswordResetRequest,
  Reauthenticated,
  ReauthenticateRequest,
  RegisterRequest,
  ResetPasswordRequest,
  Session,
  SessionParams,
  VerifiedEmail,
  VerifyEmailRequest,
} from "../contract/accounts.ts";
import { AcceptedInvitation, AcceptInvitationRequest } from "../contract/members.ts";
import { PageQuery } from "../contract/primitives.ts";
import {
  ConfirmedTotp,
  ConfirmTotpRequest,
  DeletedTotp,
  DeleteTotpRequest,
  StartedTotp,
  StartTotpRequest,
} from "../contract/second-factor.ts";
import type { Route } from "./route.ts";

export const register = {
  method: "POST",
  path: "/v1/auth/register",
  tag: "auth",
  summary: "Create a user, an organization and its wallet",
  auth: "none",
  body: RegisterRequest,
  status: 201,
  data: Session,
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
  tag: "auth",
  summary: "Log in with email and password, and a code if the user has a second factor",
  auth: "none",
  body: LoginRequest,
  data: Session,
  errors: loginErrors,
} as const satisfies Route;

export const reauthenticate = {
  method: "POST",
  path: "/v1/auth/reauthenticate",
  tag: "auth",
  summary: "Confirm your password, for operations on members, API keys, webhooks, billing and saved cards",
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
  tag: "auth",
  summary: "Log out: end the session of this token",
  auth: "session",
  withoutSecondFactor: true,
  data: LoggedOut,
  audited: ["loggedOut"],
} as const satisfies Route;

export const logoutEverywhere = {
  method: "POST",
  path: "/v1/auth/logout-everywhere",
  tag: "auth",
  summary: "End all sessions of the user, including this one; API keys keep working",
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
  tag: "auth",
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
  tag: "auth",
  summary: "List your sessions",
  auth: "session",
  withoutSecondFactor: true,
  query: PageQuery,
  data: ActiveSession,
  paged: true,
} as const satisfies Route;

export const deleteSession = {
  method: "DELETE",
  path: "/v1/auth/sessions/{id}",
  tag: "auth",
  summary: "End one of your sessions",
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
  tag: "auth",
  summary: "Send a new link to verify your email",
  auth: "session",
  status: 202,
  data: EmailRequested,
  audited: ["requested"],
  errors: ["EMAIL_DISABLED", "CONFLICT", "RATE_LIMITED"],
} as const satisfies Route;

export const verifyEmail = {
  method: "POST",
  path: "/v1/auth/verify-email",
  tag: "auth",
  summary: "Show that an email is yours, with the token of the link that was sent there and the password",
  auth: "none",
  body: VerifyEmailRequest,
  data: VerifiedEmail,
  errors: ["INVALID_EMAIL_TOKEN", "INVALID_CREDENTIALS", "RATE_LIMITED"],
} as const satisfies Route;

export const acceptInvitation = {
  method: "POST",
  path: "/v1/auth/accept-invitation",
  tag: "auth",
  summary: "Accept an invitation to an organization, with the token from the email",
  auth: "none",
  body: AcceptInvitationRequest,
  status: 201,
  data: AcceptedInvitation,
  errors: ["INVALID_EMAIL_TOKEN", "EMAIL_TAKEN", "ORGANIZATION_SUSPENDED"],
} as const satisfies Route;

export const startTotp = {
  method: "POST",
  path: "/v1/auth/totp",
  tag: "auth",
  summary:
    "Begin to set up a second factor: returns the secret for an authenticator app, until it is confirmed",
  auth: "session",
  withoutSecondFactor: true,
  body: StartTotpRequest,
  status: 201,
  data: StartedTotp,
  audited: ["enabled"],
  errors: ["INVALID_CREDENTIALS", "RATE_LIMITED", "CONFLICT"],
} as const satisfies Route;

export const confirmTotp = {
  method: "POST",
  path: "/v1/auth/totp/confirm",
  tag: "auth",
  summary:
    "Let log-ins need a code of the app from now on; the recovery codes are in this response and never again",
  auth: "session",
  withoutSecondFactor: true,
  body: ConfirmTotpRequest,
  data: ConfirmedTotp,
  audited: ["enabled"],
  errors: ["INVALID_SECOND_FACTOR", "RATE_LIMITED", "CONFLICT"],
} as const satisfies Route;

export const deleteTotp = {
  method: "DELETE",
  path: "/v1/auth/totp",
  tag: "auth",
  summary: "Remove the second factor",
  auth: "session",
  body: DeleteTotpRequest,
  data: DeletedTotp,
  audited: ["enabled"],
  errors: ["INVALID_CREDENTIALS", "INVALID_SECOND_FACTOR", "RATE_LIMITED", "CONFLICT"],
} as const satisfies Route;

export const requestPasswordReset = {
  method: "POST",
  path: "/v1/auth/password-reset/request",
  tag: "auth",
  summary: "Send a link to set a new password; the response is the same whether or not the account exists",
  auth: "none",
  body: PasswordResetRequest,
  status: 202,
  data: EmailRequested,
  errors: ["EMAIL_DISABLED", "RATE_LIMITED"],
} as const satisfies Route;

export const resetPassword = {
  method: "POST",
  path: "/v1/auth/password-reset",
  tag: "auth",
  summary:
    "Set a new password with the token of the link; ends all sessions and, if the email was never verified, everything made before",
  auth: "none",
  body: ResetPasswordRequest,
  data: ChangedPassword,
  errors: ["INVALID_EMAIL_TOKEN"],
} as const satisfies Route;

export const changePassword = {
  method: "POST",
  path: "/v1/auth/password",
  tag: "auth",
  summary: "Set a new password; ends all other sessions of the user",
  auth: "session",
  body: ChangePasswordRequest,
  data: ChangedPassword,
  audited: ["changed"],
  errors: ["INVALID_CREDENTIALS", "SECOND_FACTOR_REQUIRED", "INVALID_SECOND_FACTOR", "RATE_LIMITED"],
} as const satisfies Route;

export const getAccountPage = {
  method: "GET",
  path: "/account",
  tag: "auth",
  summary: "The page of the links in emails",
  internal: true,
  auth: "none",
  data: AccountPage,
  raw: ["text/html"],
} as const satisfies Route;

export const getMe = {
  method: "GET",
  path: "/v1/auth/me",
  tag: "auth",
  summary: "Get the user and the organization of the credential",
  auth: "bearer",
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
  startTotp,
  confirmTotp,
  deleteTotp,
  requestPasswordReset,
  resetPassword,
  changePassword,
  getAccountPage,
  getMe,
};
