import {
  ApiKey,
  ApiKeyParams,
  CreateApiKeyRequest,
  CreatedApiKey,
  DeletedApiKey,
  DisableApiKeyRequest,
  DisabledApiKey,
  RevokeAllApiKeysRequest,
  RevokedApiKeys,
  RotateApiKeyRequest,
  UpdateApiKeyRequest,
} from "../contract/api-keys.ts";
import { PageQuery } from "../contract/primitives.ts";
import type { Route } from "./route.ts";

/** The fields of an API key that the audit log keeps. */
const auditedOfApiKey = [
  "id",
  "name",
  "hint",
  "status",
  "scopes",
  "expiresAt",
  "allowedAddresses",
  "limits",
] as const;

export const listApiKeys = {
  method: "GET",
  path: "/v1/auth/api-keys",
  summary: "List API keys, without their secrets",
  description:
    "Each key has its scopes, its limits and the time of its last use. Disabled keys stay in the list.",
  scope: "keys",
  query: PageQuery,
  data: ApiKey,
  paged: true,
} as const satisfies Route;

export const createApiKey = {
  method: "POST",
  path: "/v1/auth/api-keys",
  summary: "Create an API key; its secret is only in this response",
  description:
    "Give a key only the scopes that its program needs. Unknown fields are rejected, because a limit with a wrong name " +
    "would limit nothing.",
  scope: "keys",
  limitedKeys: true,
  body: CreateApiKeyRequest,
  recentProof: true,
  status: 201,
  data: CreatedApiKey,
  rejectsIdempotencyKey: true,
  audited: auditedOfApiKey,
  errors: ["CONFLICT"],
} as const satisfies Route;

export const updateApiKey = {
  method: "PATCH",
  path: "/v1/auth/api-keys/{id}",
  summary: "Change the limits of an API key; only a person can",
  description:
    "The new limits replace the earlier ones. Keys that share its budget get them too. A key without limits cannot get any.",
  auth: "session",
  params: ApiKeyParams,
  body: UpdateApiKeyRequest,
  recentProof: true,
  data: ApiKey,
  audited: auditedOfApiKey,
  errors: ["CONFLICT"],
} as const satisfies Route;

export const rotateApiKey = {
  method: "POST",
  path: "/v1/auth/api-keys/{id}/rotate",
  summary: "Replace an API key by a new one with the same rights; the old one works for the overlap",
  description: "Deploy the new secret before the overlap ends.",
  scope: "keys",
  limitedKeys: true,
  params: ApiKeyParams,
  body: RotateApiKeyRequest,
  recentProof: true,
  status: 201,
  data: CreatedApiKey,
  rejectsIdempotencyKey: true,
  audited: auditedOfApiKey,
  errors: ["CONFLICT"],
} as const satisfies Route;

export const disableApiKey = {
  method: "POST",
  path: "/v1/auth/api-keys/{id}/disable",
  summary: "Revoke an API key",
  description: "Requests with the key are rejected from then on. A disabled key cannot be enabled again.",
  scope: "keys",
  limitedKeys: true,
  params: ApiKeyParams,
  body: DisableApiKeyRequest,
  data: DisabledApiKey,
  audited: ["id", "name", "hint", "status", "disabledAt"],
} as const satisfies Route;

export const deleteApiKey = {
  method: "DELETE",
  path: "/v1/auth/api-keys/{id}",
  summary: "Revoke an API key and delete it from the list",
  description:
    "The keys that were made with an active key are revoked too. If the key had ended before, they stay: disable it once more " +
    "first. The audit log keeps what the key has changed.",
  scope: "keys",
  limitedKeys: true,
  params: ApiKeyParams,
  data: DeletedApiKey,
  audited: auditedOfApiKey,
} as const satisfies Route;

export const revokeAllApiKeys = {
  method: "POST",
  path: "/v1/auth/api-keys/revoke-all",
  summary: "Revoke all API keys of the organization",
  description: "Use it when a key has leaked and you do not know which one.",
  scope: "keys",
  body: RevokeAllApiKeysRequest,
  data: RevokedApiKeys,
  audited: ["count"],
} as const satisfies Route;

export const routes = {
  listApiKeys,
  createApiKey,
  updateApiKey,
  rotateApiKey,
  disableApiKey,
  deleteApiKey,
  revokeAllApiKeys,
};
