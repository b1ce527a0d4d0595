import { PageQuery } from "../contract/primitives.ts";
import {
  CallbackSecret,
  CreateWebhookRequest,
  CreatedWebhook,
  DeletedWebhook,
  DeliveriesQuery,
  DeliveryParams,
  EndpointParams,
  UpdateWebhookRequest,
  Webhook,
  WebhookDelivery,
  WebhookParams,
} from "../contract/webhooks.ts";
import type { Route } from "./route.ts";

/** The fields of a webhook that the audit log keeps. */
const auditedOfWebhook = ["id", "url", "events", "status"] as const;

export const listWebhooks = {
  method: "GET",
  path: "/v1/webhooks",
  summary: "List webhook endpoints, without their secrets",
  description: "Each endpoint has its events, its status and its last failure.",
  scope: "read",
  testKeys: true,
  query: PageQuery,
  data: Webhook,
  paged: true,
} as const satisfies Route;

export const createWebhook = {
  method: "POST",
  path: "/v1/webhooks",
  summary: "Register a webhook endpoint; its signing secret is only in this response",
  description: "Verify each call with the secret in the response. Unknown fields are rejected.",
  scope: "webhooks",
  limitedKeys: true,
  testKeys: true,
  body: CreateWebhookRequest,
  recentProof: true,
  status: 201,
  data: CreatedWebhook,
  rejectsIdempotencyKey: true,
  audited: auditedOfWebhook,
  errors: ["CONFLICT", "PAYMENT_REQUIRED"],
} as const satisfies Route;

export const deleteWebhook = {
  method: "DELETE",
  path: "/v1/webhooks/{id}",
  summary: "Delete a webhook endpoint",
  description: "Calls that wait for another attempt are not made.",
  scope: "webhooks",
  limitedKeys: true,
  testKeys: true,
  params: WebhookParams,
  data: DeletedWebhook,
  audited: auditedOfWebhook,
} as const satisfies Route;

export const getWebhook = {
  method: "GET",
  path: "/v1/webhooks/{id}",
  summary: "Get a webhook endpoint, without its secret",
  description: "It has the reason if the gateway has disabled the endpoint.",
  scope: "read",
  testKeys: true,
  params: WebhookParams,
  data: Webhook,
} as const satisfies Route;

export const updateWebhook = {
  method: "PATCH",
  path: "/v1/webhooks/{id}",
  summary: "Change a webhook endpoint's URL or events, disable it, or enable it again",
  description: "Fields that are not in the body stay as they are. Unknown fields are rejected.",
  scope: "webhooks",
  limitedKeys: true,
  testKeys: true,
  params: WebhookParams,
  body: UpdateWebhookRequest,
  recentProof: true,
  data: Webhook,
  audited: auditedOfWebhook,
} as const satisfies Route;

export const rotateWebhookSecret = {
  method: "POST",
  path: "/v1/webhooks/{id}/rotate-secret",
  summary: "Rotate the signing secret of a webhook endpoint; the new secret is only in this response",
  description: "For a day, calls have the signatures of both secrets in `webhook-signature`.",
  scope: "webhooks",
  limitedKeys: true,
  testKeys: true,
  params: WebhookParams,
  recentProof: true,
  data: CreatedWebhook,
  rejectsIdempotencyKey: true,
  audited: auditedOfWebhook,
} as const satisfies Route;

export const rotateCallbackSecret = {
  method: "POST",
  path: "/v1/webhooks/callbacks/rotate-secret",
  summary: "Create or rotate the secret that signs calls to the `callbackUrl` of messages",
  description:
    "Call it once before you check the signatures of callbacks. Called again, it rotates the secret like that of a webhook.",
  scope: "webhooks",
  testKeys: true,
  recentProof: true,
  data: CallbackSecret,
  rejectsIdempotencyKey: true,
  audited: ["id"],
} as const satisfies Route;

export const testWebhook = {
  method: "POST",
  path: "/v1/webhooks/{id}/test",
  summary: "Send a ping to a webhook endpoint and wait up to 12 seconds for its response",
  description: "The response has the status of your endpoint, or why the gateway could not reach it.",
  scope: "webhooks",
  limitedKeys: true,
  testKeys: true,
  params: WebhookParams,
  status: 202,
  data: WebhookDelivery,
  idempotent: true,
  errors: ["CONFLICT", "RATE_LIMITED"],
} as const satisfies Route;

export const listWebhookDeliveries = {
  method: "GET",
  path: "/v1/webhooks/{id}/deliveries",
  summary: "List the deliveries to a webhook endpoint, finished and pending",
  description: "Each delivery has its payload and the result of its last attempt.",
  scope: "read",
  testKeys: true,
  params: EndpointParams,
  query: DeliveriesQuery,
  data: WebhookDelivery,
  paged: true,
} as const satisfies Route;

export const retryWebhookDelivery = {
  method: "POST",
  path: "/v1/webhooks/{id}/deliveries/{deliveryId}/retry",
  summary: "Repeat a webhook delivery now, even if it succeeded",
  description: "The call has the same `webhook-id` as the first one.",
  scope: "webhooks",
  limitedKeys: true,
  testKeys: true,
  params: DeliveryParams,
  status: 202,
  data: WebhookDelivery,
  idempotent: true,
  errors: ["CONFLICT", "RATE_LIMITED"],
} as const satisfies Route;

export const routes = {
  listWebhooks,
  createWebhook,
  deleteWebhook,
  getWebhook,
  updateWebhook,
  rotateWebhookSecret,
  rotateCallbackSecret,
  testWebhook,
  listWebhookDeliveries,
  retryWebhookDelivery,
};
