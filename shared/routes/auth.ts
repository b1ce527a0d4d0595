import {
  Account,
  ApiKey,
  ApiKeyParams,
  CreateApiKeyRequest,
  CreatedApiKey,
  DeletedApiKey,
  DisableApiKeyRequest,
  LoggedOut,
  LoginRequest,
  RegisterRequest,
  RevokeAllApiKeysRequest,
  RevokedApiKeys,
  RotateApiKeyRequest,
  Session,
} from "../contract/accounts.ts";
import { PageQuery } from "../contract/primitives.ts";
import type { Route } from "./route.ts";

/** What the audit log keeps of an API key. */
const auditedOfApiKey = ["id", "name", "hint", "status", "scopes", "expiresAt", "allowedAddresses"] as const;

export const register = {
  method: "POST",
  path: "/v1/auth/register",
  tag: "auth",
  summary: "Create a user, an organisation and its wallet",
  auth: "none",
  body: RegisterRequest,
  status: 201,
  data: Session,
  errors: ["EMAIL_TAKEN", "RATE_LIMITED"],
} as const satisfies Route;

export const login = {
  method: "POST",
  path: "/v1/auth/login",
  tag: "auth",
  summary: "Exchange email and password for a session token",
  auth: "none",
  body: LoginRequest,
  status: 200,
  data: Session,
  errors: ["INVALID_CREDENTIALS", "RATE_LIMITED", "ORGANIZATION_SUSPENDED"],
} as const satisfies Route;

export const logout = {
  method: "POST",
  path: "/v1/auth/logout",
  tag: "auth",
  summary: "End the session of this token, from the next request on",
  auth: "session",
  status: 200,
  data: LoggedOut,
  audited: ["loggedOut"],
  errors: [],
} as const satisfies Route;

export const logoutEverywhere = {
  method: "POST",
  path: "/v1/auth/logout-everywhere",
  tag: "auth",
  summary: "End all sessions of the user, this one too; API keys go on",
  auth: "session",
  status: 200,
  data: LoggedOut,
  audited: ["loggedOut"],
  errors: [],
} as const satisfies Route;

export const getMe = {
  method: "GET",
  path: "/v1/auth/me",
  tag: "auth",
  summary: "The user and organisation of the credential",
  auth: "bearer",
  scope: "read",
  status: 200,
  data: Account,
  errors: [],
} as const satisfies Route;

export const listApiKeys = {
  method: "GET",
  path: "/v1/auth/api-keys",
  tag: "auth",
  summary: "List API keys, without their secrets",
  auth: "bearer",
  scope: "keys",
  query: PageQuery,
  status: 200,
  data: ApiKey,
  paged: true,
  errors: [],
} as const satisfies Route;

export const createApiKey = {
  method: "POST",
  path: "/v1/auth/api-keys",
  tag: "auth",
  summary: "Create an API key; its secret is in this response and never again",
  auth: "bearer",
  scope: "keys",
  body: CreateApiKeyRequest,
  status: 201,
  data: CreatedApiKey,
  audited: auditedOfApiKey,
  errors: ["CONFLICT"],
} as const satisfies Route;

export const rotateApiKey = {
  method: "POST",
  path: "/v1/auth/api-keys/{id}/rotate",
  tag: "auth",
  summary: "Replace an API key by a new one that may do the same; the old one works on for a while",
  auth: "bearer",
  scope: "keys",
  params: ApiKeyParams,
  body: RotateApiKeyRequest,
  status: 201,
  data: CreatedApiKey,
  audited: auditedOfApiKey,
  errors: ["CONFLICT"],
} as const satisfies Route;

export const disableApiKey = {
  method: "POST",
  path: "/v1/auth/api-keys/{id}/disable",
  tag: "auth",
  summary: "Revoke an API key, from the next request on",
  auth: "bearer",
  scope: "keys",
  params: ApiKeyParams,
  body: DisableApiKeyRequest,
  status: 200,
  data: ApiKey,
  audited: ["id", "name", "hint", "status", "disabledAt"],
  errors: [],
} as const satisfies Route;

export const deleteApiKey = {
  method: "DELETE",
  path: "/v1/auth/api-keys/{id}",
  tag: "auth",
  summary: "Revoke an API key and forget it, which makes room for another",
  auth: "bearer",
  scope: "keys",
  params: ApiKeyParams,
  status: 200,
  data: DeletedApiKey,
  audited: auditedOfApiKey,
  errors: [],
} as const satisfies Route;

export const revokeAllApiKeys = {
  method: "POST",
  path: "/v1/auth/api-keys/revoke-all",
  tag: "auth",
  summary: "Revoke all API keys of the organisation at once",
  auth: "bearer",
  scope: "keys",
  body: RevokeAllApiKeysRequest,
  status: 200,
  data: RevokedApiKeys,
  audited: ["count"],
  errors: [],
} as const satisfies Route;

export const routes = {
  register,
  login,
  logout,
  logoutEverywhere,
  getMe,
  listApiKeys,
  createApiKey,
  rotateApiKey,
  disableApiKey,
  deleteApiKey,
  revokeAllApiKeys,
};
