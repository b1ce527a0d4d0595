import {
  AccountPage,
  ChangedPassword,
  ChangePasswordRequest,
  EmailRequested,
  PasswordResetRequest,
  ResetPasswordRequest,
} from "../contract/accounts.ts";
import {
  ConfirmedTotp,
  ConfirmTotpRequest,
  DeletedTotp,
  DeleteTotpRequest,
  StartedTotp,
  StartTotpRequest,
} from "../contract/second-factor.ts";
import type { Route } from "./route.ts";

export const startTotp = {
  method: "POST",
  path: "/v1/auth/totp",
  summary:
    "Begin to set up a second factor: returns the secret for an authenticator app, until it is confirmed",
  description: "Show the URI to an authenticator app as a QR code, then confirm it with a code of the app.",
  auth: "session",
  withoutSecondFactor: true,
  body: StartTotpRequest,
  status: 201,
  data: StartedTotp,
  rejectsIdempotencyKey: true,
  audited: ["enabled"],
  errors: ["INVALID_CREDENTIALS", "RATE_LIMITED", "CONFLICT"],
} as const satisfies Route;

export const confirmTotp = {
  method: "POST",
  path: "/v1/auth/totp/confirm",
  summary:
    "Let log-ins need a code of the app from now on; the recovery codes are in this response and never again",
  description: "From then on each login needs a code. Keep the recovery codes in a safe place.",
  auth: "session",
  withoutSecondFactor: true,
  body: ConfirmTotpRequest,
  data: ConfirmedTotp,
  rejectsIdempotencyKey: true,
  audited: ["enabled"],
  errors: ["INVALID_SECOND_FACTOR", "RATE_LIMITED", "CONFLICT"],
} as const satisfies Route;

export const deleteTotp = {
  method: "DELETE",
  path: "/v1/auth/totp",
  summary: "Remove the second factor",
  description: "It needs the password and a code. While the organization requires a second factor, it stays.",
  auth: "session",
  body: DeleteTotpRequest,
  data: DeletedTotp,
  audited: ["enabled"],
  errors: ["INVALID_CREDENTIALS", "INVALID_SECOND_FACTOR", "RATE_LIMITED", "CONFLICT"],
} as const satisfies Route;

export const requestPasswordReset = {
  method: "POST",
  path: "/v1/auth/password-reset/request",
  summary: "Send a link to set a new password; the response is the same whether or not the account exists",
  description: "The link is valid for 30 minutes.",
  auth: "none",
  body: PasswordResetRequest,
  status: 202,
  data: EmailRequested,
  errors: ["EMAIL_DISABLED", "RATE_LIMITED"],
} as const satisfies Route;

export const resetPassword = {
  method: "POST",
  path: "/v1/auth/password-reset",
  summary:
    "Set a new password with the token of the link; ends all sessions and, if the email was never verified, everything made before",
  description: "It ends all sessions of the user.",
  auth: "none",
  body: ResetPasswordRequest,
  data: ChangedPassword,
  errors: ["INVALID_EMAIL_TOKEN"],
} as const satisfies Route;

export const changePassword = {
  method: "POST",
  path: "/v1/auth/password",
  summary: "Set a new password; ends all other sessions of the user",
  description:
    "With a second factor, it needs a `code` too. Other sessions have to log in again with the new password. API keys keep working.",
  auth: "session",
  body: ChangePasswordRequest,
  data: ChangedPassword,
  audited: ["changed"],
  errors: ["INVALID_CREDENTIALS", "SECOND_FACTOR_REQUIRED", "INVALID_SECOND_FACTOR", "RATE_LIMITED"],
} as const satisfies Route;

export const getAccountPage = {
  method: "GET",
  path: "/account",
  summary: "The page of the links in emails",
  internal: true,
  auth: "none",
  data: AccountPage,
  raw: ["text/html"],
} as const satisfies Route;

export const routes = {
  startTotp,
  confirmTotp,
  deleteTotp,
  requestPasswordReset,
  resetPassword,
  changePassword,
  getAccountPage,
};
