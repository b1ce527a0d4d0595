import * as z from "zod";

import {
  Account,
  ApiKey,
  CreateApiKeyRequest,
  CreatedApiKey,
  LoginRequest,
  RegisterRequest,
  Session,
} from "./contract/accounts.ts";
import type { ErrorCode } from "./contract/errors.ts";
import { Health } from "./contract/health.ts";
import { idSchema, PageQuery } from "./contract/primitives.ts";
import { AcceptedMessage, Message, SendSmsRequest } from "./contract/sms.ts";
import { TopUpRequest, Transaction, Wallet } from "./contract/wallet.ts";
import {
  CreatedWebhook,
  CreateWebhookRequest,
  DeletedWebhook,
  DeliveriesQuery,
  UpdateWebhookRequest,
  Webhook,
  WebhookDelivery,
} from "./contract/webhooks.ts";
import type { Access } from "./platform/access.ts";

export interface Route {
  readonly method: "DELETE" | "GET" | "PATCH" | "POST";
  readonly path: `/${string}`;
  /** The folder of the handler, `functions/<tag>/`. */
  readonly tag: string;
  readonly summary: string;
  readonly auth: "bearer" | "none";
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  /** A body is optional when its schema takes an absent one. */
  readonly body?: z.ZodType;
  readonly status: 200 | 201 | 202;
  /** What `data` in the response holds; of a paged route, what each of its rows holds. */
  readonly data: z.ZodType;
  readonly paged?: true;
  /** Whether the operation takes an Idempotency-Key. */
  readonly idempotent?: true;
  /** Codes of the operation itself; those that follow from auth, body, query and path are not repeated. */
  readonly errors: readonly ErrorCode[];
  readonly access: Access;
}

/**
 * All operations of the API. A row's name is the operation's, and its handler is
 * `functions/<tag>/<operation-in-kebab-case>.ts`; the stack, the parsing of input, the permissions and the
 * shared test cases all come from here.
 */
export const routes = {
  getHealth: {
    method: "GET",
    path: "/health",
    tag: "health",
    summary: "Whether the gateway answers",
    auth: "none",
    status: 200,
    data: Health,
    errors: [],
    access: {},
  },
  register: {
    method: "POST",
    path: "/v1/auth/register",
    tag: "auth",
    summary: "Create a user, an organisation and its wallet",
    auth: "none",
    body: RegisterRequest,
    status: 201,
    data: Session,
    errors: ["EMAIL_TAKEN"],
    access: {
      table: {
        USER: ["PutItem"],
        EMAIL: ["PutItem"],
        ORG: ["PutItem"],
        WALLET: ["PutItem"],
        WALLETS: ["PutItem"],
      },
      sessionKey: true,
    },
  },
  login: {
    method: "POST",
    path: "/v1/auth/login",
    tag: "auth",
    summary: "Exchange email and password for a session token",
    auth: "none",
    body: LoginRequest,
    status: 200,
    data: Session,
    errors: ["INVALID_CREDENTIALS", "RATE_LIMITED"],
    access: {
      table: { USER: ["GetItem"], EMAIL: ["GetItem"], ORG: ["GetItem"], LIMIT: ["UpdateItem"] },
      sessionKey: true,
    },
  },
  getMe: {
    method: "GET",
    path: "/v1/auth/me",
    tag: "auth",
    summary: "The user and organisation of the credential",
    auth: "bearer",
    status: 200,
    data: Account,
    errors: [],
    access: { table: { USER: ["GetItem"], ORG: ["GetItem"] } },
  },
  listApiKeys: {
    method: "GET",
    path: "/v1/auth/api-keys",
    tag: "auth",
    summary: "List API keys, without their secrets",
    auth: "bearer",
    query: PageQuery,
    status: 200,
    data: ApiKey,
    paged: true,
    errors: [],
    access: { table: { ORG: ["Query"] } },
  },
  createApiKey: {
    method: "POST",
    path: "/v1/auth/api-keys",
    tag: "auth",
    summary: "Create an API key; its secret is in this response and never again",
    auth: "bearer",
    body: CreateApiKeyRequest.prefault({}),
    status: 201,
    data: CreatedApiKey,
    errors: ["CONFLICT"],
    access: { table: { ORG: ["PutItem", "UpdateItem"], KEY: ["PutItem"] } },
  },
  disableApiKey: {
    method: "POST",
    path: "/v1/auth/api-keys/{id}/disable",
    tag: "auth",
    summary: "Revoke an API key, from the next request on",
    auth: "bearer",
    params: z.object({ id: idSchema("key") }),
    status: 200,
    data: ApiKey,
    errors: [],
    access: { table: { ORG: ["GetItem", "UpdateItem"], KEY: ["UpdateItem"] } },
  },
  sendSms: {
    method: "POST",
    path: "/v1/sms/send",
    tag: "sms",
    summary: "Accept a message, debit the wallet and queue it",
    auth: "bearer",
    body: SendSmsRequest,
    status: 202,
    data: AcceptedMessage,
    idempotent: true,
    errors: ["MISSING_SENDER_ID", "WALLET_MISSING", "INSUFFICIENT_BALANCE"],
    access: {
      table: {
        ORG: ["GetItem"],
        WALLET: ["GetItem", "UpdateItem"],
        LEDGER: ["PutItem"],
        MESSAGES: ["PutItem"],
        DUE: ["PutItem"],
      },
      queues: ["transactionalSends", "marketingSends"],
    },
  },
  listSms: {
    method: "GET",
    path: "/v1/sms",
    tag: "sms",
    summary: "List messages, newest first",
    auth: "bearer",
    query: PageQuery,
    status: 200,
    data: Message,
    paged: true,
    errors: [],
    access: { table: { MESSAGES: ["Query"], WALLET: ["GetItem"] } },
  },
  getSms: {
    method: "GET",
    path: "/v1/sms/{id}",
    tag: "sms",
    summary: "One message and its state",
    auth: "bearer",
    params: z.object({ id: idSchema("msg") }),
    status: 200,
    data: Message,
    errors: [],
    access: { table: { MESSAGES: ["GetItem"] } },
  },
  getWallet: {
    method: "GET",
    path: "/v1/wallet",
    tag: "wallet",
    summary: "The balance",
    auth: "bearer",
    status: 200,
    data: Wallet,
    errors: ["WALLET_MISSING"],
    access: { table: { WALLET: ["GetItem"] } },
  },
  listTransactions: {
    method: "GET",
    path: "/v1/wallet/transactions",
    tag: "wallet",
    summary: "The wallet's ledger, newest first",
    auth: "bearer",
    query: PageQuery,
    status: 200,
    data: Transaction,
    paged: true,
    errors: ["WALLET_MISSING"],
    access: { table: { WALLET: ["GetItem"], LEDGER: ["Query"] } },
  },
  topUpWallet: {
    method: "POST",
    path: "/v1/wallet/top-up",
    tag: "wallet",
    summary: "Add money to the wallet; for development, disabled in production",
    auth: "bearer",
    body: TopUpRequest.prefault({}),
    status: 200,
    data: Wallet,
    idempotent: true,
    errors: ["WALLET_MISSING", "TOP_UP_DISABLED", "CONFLICT"],
    access: { table: { WALLET: ["GetItem", "UpdateItem"], LEDGER: ["GetItem", "PutItem"] } },
  },
  listWebhooks: {
    method: "GET",
    path: "/v1/webhooks",
    tag: "webhooks",
    summary: "List webhook endpoints, without their secrets",
    auth: "bearer",
    query: PageQuery,
    status: 200,
    data: Webhook,
    paged: true,
    errors: [],
    access: { table: { ORG: ["Query"] } },
  },
  createWebhook: {
    method: "POST",
    path: "/v1/webhooks",
    tag: "webhooks",
    summary: "Register a webhook endpoint; its signing secret is in this response and never again",
    auth: "bearer",
    body: CreateWebhookRequest,
    status: 201,
    data: CreatedWebhook,
    errors: ["CONFLICT"],
    access: { table: { ORG: ["PutItem", "UpdateItem"] } },
  },
  deleteWebhook: {
    method: "DELETE",
    path: "/v1/webhooks/{id}",
    tag: "webhooks",
    summary: "Remove a webhook endpoint",
    auth: "bearer",
    params: z.object({ id: idSchema("whk") }),
    status: 200,
    data: DeletedWebhook,
    errors: [],
    access: { table: { ORG: ["DeleteItem", "UpdateItem"] } },
  },
  getWebhook: {
    method: "GET",
    path: "/v1/webhooks/{id}",
    tag: "webhooks",
    summary: "One webhook endpoint, without its secret",
    auth: "bearer",
    params: z.object({ id: idSchema("whk") }),
    status: 200,
    data: Webhook,
    errors: [],
    access: { table: { ORG: ["GetItem"] } },
  },
  updateWebhook: {
    method: "PATCH",
    path: "/v1/webhooks/{id}",
    tag: "webhooks",
    summary: "Change a webhook endpoint's URL or events, disable it, or enable it again",
    auth: "bearer",
    params: z.object({ id: idSchema("whk") }),
    body: UpdateWebhookRequest,
    status: 200,
    data: Webhook,
    errors: [],
    access: { table: { ORG: ["GetItem", "UpdateItem"], OPENCALLS: ["UpdateItem"] } },
  },
  rotateWebhookSecret: {
    method: "POST",
    path: "/v1/webhooks/{id}/rotate-secret",
    tag: "webhooks",
    summary: "Give a webhook endpoint a new signing secret; it is in this response and never again",
    auth: "bearer",
    params: z.object({ id: idSchema("whk") }),
    status: 200,
    data: CreatedWebhook,
    errors: [],
    access: { table: { ORG: ["UpdateItem"] } },
  },
  testWebhook: {
    method: "POST",
    path: "/v1/webhooks/{id}/test",
    tag: "webhooks",
    summary: "Send a ping to a webhook endpoint",
    auth: "bearer",
    params: z.object({ id: idSchema("whk") }),
    status: 202,
    data: WebhookDelivery,
    errors: ["CONFLICT", "RATE_LIMITED"],
    access: {
      table: { ORG: ["GetItem"], LIMIT: ["UpdateItem"], DELIVERIES: ["PutItem"] },
      queues: ["webhookDeliveries"],
    },
  },
  listWebhookDeliveries: {
    method: "GET",
    path: "/v1/webhooks/{id}/deliveries",
    tag: "webhooks",
    summary: "List what was, or is to be, delivered to a webhook endpoint",
    auth: "bearer",
    params: z.object({ id: idSchema("whk") }),
    query: DeliveriesQuery,
    status: 200,
    data: WebhookDelivery,
    paged: true,
    errors: [],
    access: { table: { ORG: ["GetItem"], DELIVERIES: ["Query"] } },
  },
  retryWebhookDelivery: {
    method: "POST",
    path: "/v1/webhooks/{id}/deliveries/{deliveryId}/retry",
    tag: "webhooks",
    summary: "Attempt a webhook delivery again now, also one that succeeded",
    auth: "bearer",
    params: z.object({ id: idSchema("whk"), deliveryId: idSchema("dlv") }),
    status: 202,
    data: WebhookDelivery,
    errors: ["CONFLICT", "RATE_LIMITED"],
    access: {
      table: { ORG: ["GetItem"], LIMIT: ["UpdateItem"], DELIVERIES: ["UpdateItem"] },
      queues: ["webhookRetries"],
    },
  },
} as const satisfies Record<string, Route>;

export type Operation = keyof typeof routes;

/** Answers whatever no other route does, with the same 404 for every method and path. */
export const fallbackRoute = {
  method: "GET",
  path: "/{path+}",
  tag: "fallback",
  summary: "Not found",
  auth: "none",
  status: 200,
  data: z.never(),
  errors: ["NOT_FOUND"],
  access: {},
} as const satisfies Route;
