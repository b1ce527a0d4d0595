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
import { Campaign, CreateCampaignRequest } from "./contract/campaigns.ts";
import {
  Contact,
  CreateContactRequest,
  DeletedContact,
  ImportContactsRequest,
  ImportedContacts,
  UpdateContactRequest,
} from "./contract/contacts.ts";
import { DashboardStats } from "./contract/dashboard.ts";
import { DocsFile } from "./contract/docs.ts";
import type { ErrorCode } from "./contract/errors.ts";
import { Health } from "./contract/health.ts";
import { KycSubmission, SubmitKycRequest } from "./contract/kyc.ts";
import { idSchema, PageQuery } from "./contract/primitives.ts";
import { CreateSenderIdRequest, SenderIdRequest } from "./contract/sender-ids.ts";
import { AcceptedMessage, Estimate, EstimateSmsRequest, Message, SendSmsRequest } from "./contract/sms.ts";
import {
  CreateTemplateRequest,
  DeletedTemplate,
  SendTemplateRequest,
  Template,
  UpdateTemplateRequest,
} from "./contract/templates.ts";
import { TopUpRequest, Transaction, Wallet } from "./contract/wallet.ts";
import { CreatedWebhook, CreateWebhookRequest, DeletedWebhook, Webhook } from "./contract/webhooks.ts";
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
  /** How large the body may be, 64 KB where nothing is said. */
  readonly maxBodyKilobytes?: number;
  readonly status: 200 | 201 | 202;
  /** What `data` in the response holds; of a paged route, what each of its rows holds. */
  readonly data: z.ZodType;
  readonly paged?: true;
  /** Content types of a response that goes out as the handler made it, without the envelope. */
  readonly raw?: readonly string[];
  /** Whether the operation takes an Idempotency-Key. */
  readonly idempotent?: true;
  /** Codes of the operation itself; those that follow from auth, body, query and path are not repeated. */
  readonly errors: readonly ErrorCode[];
  readonly access: Access;
}

/** Every error code that an operation can answer with: its own, and those that its other columns bring. */
export function errorsOf(route: Route): readonly ErrorCode[] {
  const codes: ErrorCode[] = [...route.errors, "INTERNAL"];
  if (route.auth === "bearer") codes.push("UNAUTHORIZED");
  if (route.params !== undefined) codes.push("NOT_FOUND");
  if (route.query !== undefined) codes.push("VALIDATION_ERROR");
  if (route.body !== undefined) codes.push("VALIDATION_ERROR", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE");
  if (route.idempotent === true) {
    codes.push("VALIDATION_ERROR", "IDEMPOTENCY_IN_PROGRESS", "IDEMPOTENCY_KEY_REUSED");
  }
  return [...new Set(codes)];
}

/** What a message takes to be accepted. */
const acceptsMessages = {
  table: {
    ORG: ["GetItem"],
    WALLET: ["GetItem", "UpdateItem"],
    LEDGER: ["PutItem"],
    MESSAGES: ["PutItem"],
    DUE: ["PutItem"],
    STATS: ["UpdateItem"],
  },
  queues: ["transactionalSends", "marketingSends"],
} as const satisfies Access;

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
    errors: ["MISSING_SENDER_ID", "WALLET_MISSING", "INSUFFICIENT_BALANCE", "UNAVAILABLE"],
    access: acceptsMessages,
  },
  estimateSms: {
    method: "POST",
    path: "/v1/sms/estimate",
    tag: "sms",
    summary: "What a message would cost, and whether the balance covers it; nothing is debited",
    auth: "bearer",
    body: EstimateSmsRequest,
    status: 200,
    data: Estimate,
    errors: ["WALLET_MISSING"],
    access: { table: { WALLET: ["GetItem"] } },
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
  cancelSms: {
    method: "DELETE",
    path: "/v1/sms/{id}",
    tag: "sms",
    summary: "Cancel a scheduled message that still waits for its time, and return its price",
    auth: "bearer",
    params: z.object({ id: idSchema("msg") }),
    status: 200,
    data: Message,
    errors: ["CONFLICT", "WALLET_MISSING", "UNAVAILABLE"],
    access: {
      table: {
        MESSAGES: ["GetItem", "UpdateItem"],
        WALLET: ["GetItem", "UpdateItem"],
        LEDGER: ["GetItem", "PutItem"],
        STATS: ["UpdateItem"],
      },
    },
  },
  listCampaigns: {
    method: "GET",
    path: "/v1/campaigns",
    tag: "campaigns",
    summary: "List campaigns with their progress, newest first",
    auth: "bearer",
    query: PageQuery,
    status: 200,
    data: Campaign,
    paged: true,
    errors: [],
    access: { table: { CAMPAIGNS: ["Query"], ORG: ["GetItem"], STATS: ["Query"] } },
  },
  createCampaign: {
    method: "POST",
    path: "/v1/campaigns",
    tag: "campaigns",
    summary: "Create a campaign: a draft, or with a time a scheduled one",
    auth: "bearer",
    body: CreateCampaignRequest,
    status: 201,
    data: Campaign,
    idempotent: true,
    errors: ["MISSING_SENDER_ID", "CONFLICT", "UNAVAILABLE"],
    access: {
      table: {
        ORG: ["GetItem", "UpdateItem"],
        TEMPLATES: ["GetItem"],
        CAMPAIGNS: ["PutItem"],
        DUE_CAMPAIGNS: ["PutItem"],
      },
      queues: ["campaigns"],
    },
  },
  getCampaign: {
    method: "GET",
    path: "/v1/campaigns/{id}",
    tag: "campaigns",
    summary: "One campaign and its progress",
    auth: "bearer",
    params: z.object({ id: idSchema("cmp") }),
    status: 200,
    data: Campaign,
    errors: [],
    access: { table: { CAMPAIGNS: ["GetItem"], STATS: ["Query"] } },
  },
  launchCampaign: {
    method: "POST",
    path: "/v1/campaigns/{id}/launch",
    tag: "campaigns",
    summary: "Begin to send a draft, or go on with a campaign that ran out of money",
    auth: "bearer",
    params: z.object({ id: idSchema("cmp") }),
    status: 200,
    data: Campaign,
    errors: ["CONFLICT", "UNAVAILABLE"],
    access: {
      table: {
        CAMPAIGNS: ["GetItem", "UpdateItem"],
        DUE_CAMPAIGNS: ["PutItem"],
        STATS: ["Query"],
      },
      queues: ["campaigns"],
    },
  },
  cancelCampaign: {
    method: "POST",
    path: "/v1/campaigns/{id}/cancel",
    tag: "campaigns",
    summary: "Cancel a campaign that is not finished; no more messages are accepted",
    auth: "bearer",
    params: z.object({ id: idSchema("cmp") }),
    status: 200,
    data: Campaign,
    errors: ["CONFLICT", "UNAVAILABLE"],
    access: {
      table: {
        CAMPAIGNS: ["GetItem", "UpdateItem"],
        DUE_CAMPAIGNS: ["DeleteItem"],
        STATS: ["Query"],
      },
    },
  },
  getDashboardStats: {
    method: "GET",
    path: "/v1/dashboard/stats",
    tag: "dashboard",
    summary: "The balance, and the messages of today and the last 30 days by their state",
    auth: "bearer",
    status: 200,
    data: DashboardStats,
    errors: ["WALLET_MISSING"],
    access: { table: { WALLET: ["GetItem"], STATS: ["Query"] } },
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
    errors: ["WALLET_MISSING", "TOP_UP_DISABLED", "CONFLICT", "UNAVAILABLE"],
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
  getKyc: {
    method: "GET",
    path: "/v1/kyc",
    tag: "kyc",
    summary: "The organisation's KYC submission, or null",
    auth: "bearer",
    status: 200,
    data: KycSubmission.nullable(),
    errors: [],
    access: { table: { ORG: ["GetItem"] } },
  },
  submitKyc: {
    method: "POST",
    path: "/v1/kyc",
    tag: "kyc",
    summary: "Submit the organisation's particulars, in place of what is pending or was rejected",
    auth: "bearer",
    body: SubmitKycRequest,
    status: 201,
    data: KycSubmission,
    errors: ["CONFLICT", "UNAVAILABLE"],
    access: { table: { ORG: ["GetItem", "PutItem"], REVIEWS: ["PutItem", "DeleteItem"] } },
  },
  listSenderIds: {
    method: "GET",
    path: "/v1/sender-ids",
    tag: "sender-ids",
    summary: "List sender ID requests, newest first",
    auth: "bearer",
    query: PageQuery,
    status: 200,
    data: SenderIdRequest,
    paged: true,
    errors: [],
    access: { table: { ORG: ["GetItem", "Query"] } },
  },
  createSenderId: {
    method: "POST",
    path: "/v1/sender-ids",
    tag: "sender-ids",
    summary: "Request a sender ID; an operator approves or rejects it",
    auth: "bearer",
    body: CreateSenderIdRequest,
    status: 201,
    data: SenderIdRequest,
    errors: ["CONFLICT", "UNAVAILABLE"],
    access: { table: { ORG: ["GetItem", "PutItem", "UpdateItem"], REVIEWS: ["PutItem"] } },
  },
  setDefaultSenderId: {
    method: "POST",
    path: "/v1/sender-ids/{id}/default",
    tag: "sender-ids",
    summary: "Make an approved sender ID the one of messages that name none",
    auth: "bearer",
    params: z.object({ id: idSchema("sid") }),
    status: 200,
    data: SenderIdRequest,
    errors: ["CONFLICT", "UNAVAILABLE"],
    access: { table: { ORG: ["GetItem", "Query", "UpdateItem"] } },
  },
  listContacts: {
    method: "GET",
    path: "/v1/contacts",
    tag: "contacts",
    summary: "List contacts, newest first",
    auth: "bearer",
    query: PageQuery,
    status: 200,
    data: Contact,
    paged: true,
    errors: [],
    access: { table: { CONTACTS: ["Query"], ORG: ["GetItem"] } },
  },
  createContact: {
    method: "POST",
    path: "/v1/contacts",
    tag: "contacts",
    summary: "Add a contact; a phone number belongs to one contact of an organisation",
    auth: "bearer",
    body: CreateContactRequest,
    status: 201,
    data: Contact,
    errors: ["CONFLICT", "UNAVAILABLE"],
    access: { table: { CONTACTS: ["PutItem"], ORG: ["UpdateItem"] } },
  },
  importContacts: {
    method: "POST",
    path: "/v1/contacts/import",
    tag: "contacts",
    summary: "Add up to 1,000 contacts; each row succeeds or fails by itself",
    auth: "bearer",
    body: ImportContactsRequest,
    maxBodyKilobytes: 1_024,
    status: 200,
    data: ImportedContacts,
    errors: ["UNAVAILABLE"],
    access: { table: { CONTACTS: ["PutItem"], ORG: ["UpdateItem"] } },
  },
  getContact: {
    method: "GET",
    path: "/v1/contacts/{id}",
    tag: "contacts",
    summary: "One contact",
    auth: "bearer",
    params: z.object({ id: idSchema("con") }),
    status: 200,
    data: Contact,
    errors: [],
    access: { table: { CONTACTS: ["GetItem"] } },
  },
  updateContact: {
    method: "PATCH",
    path: "/v1/contacts/{id}",
    tag: "contacts",
    summary: "Change the given fields of a contact; null clears an optional one",
    auth: "bearer",
    params: z.object({ id: idSchema("con") }),
    body: UpdateContactRequest,
    status: 200,
    data: Contact,
    errors: ["CONFLICT", "UNAVAILABLE"],
    access: { table: { CONTACTS: ["GetItem", "PutItem", "UpdateItem", "DeleteItem"] } },
  },
  deleteContact: {
    method: "DELETE",
    path: "/v1/contacts/{id}",
    tag: "contacts",
    summary: "Remove a contact",
    auth: "bearer",
    params: z.object({ id: idSchema("con") }),
    status: 200,
    data: DeletedContact,
    errors: ["UNAVAILABLE"],
    access: { table: { CONTACTS: ["GetItem", "DeleteItem"], ORG: ["UpdateItem"] } },
  },
  listTemplates: {
    method: "GET",
    path: "/v1/templates",
    tag: "templates",
    summary: "List templates, newest first",
    auth: "bearer",
    query: PageQuery,
    status: 200,
    data: Template,
    paged: true,
    errors: [],
    access: { table: { TEMPLATES: ["Query"], ORG: ["GetItem"] } },
  },
  createTemplate: {
    method: "POST",
    path: "/v1/templates",
    tag: "templates",
    summary: "Add a template, with {{name}} where a value goes",
    auth: "bearer",
    body: CreateTemplateRequest,
    status: 201,
    data: Template,
    errors: ["CONFLICT", "UNAVAILABLE"],
    access: { table: { TEMPLATES: ["PutItem"], ORG: ["UpdateItem"] } },
  },
  getTemplate: {
    method: "GET",
    path: "/v1/templates/{id}",
    tag: "templates",
    summary: "One template",
    auth: "bearer",
    params: z.object({ id: idSchema("tpl") }),
    status: 200,
    data: Template,
    errors: [],
    access: { table: { TEMPLATES: ["GetItem"] } },
  },
  updateTemplate: {
    method: "PATCH",
    path: "/v1/templates/{id}",
    tag: "templates",
    summary: "Change the given fields of a template",
    auth: "bearer",
    params: z.object({ id: idSchema("tpl") }),
    body: UpdateTemplateRequest,
    status: 200,
    data: Template,
    errors: ["UNAVAILABLE"],
    access: { table: { TEMPLATES: ["GetItem", "UpdateItem"] } },
  },
  deleteTemplate: {
    method: "DELETE",
    path: "/v1/templates/{id}",
    tag: "templates",
    summary: "Remove a template",
    auth: "bearer",
    params: z.object({ id: idSchema("tpl") }),
    status: 200,
    data: DeletedTemplate,
    errors: ["UNAVAILABLE"],
    access: { table: { TEMPLATES: ["DeleteItem"], ORG: ["UpdateItem"] } },
  },
  sendTemplate: {
    method: "POST",
    path: "/v1/templates/{id}/send",
    tag: "templates",
    summary: "Accept a message whose text is the template's with values in it",
    auth: "bearer",
    params: z.object({ id: idSchema("tpl") }),
    body: SendTemplateRequest,
    status: 202,
    data: AcceptedMessage,
    idempotent: true,
    errors: ["MISSING_SENDER_ID", "WALLET_MISSING", "INSUFFICIENT_BALANCE", "UNAVAILABLE"],
    access: { ...acceptsMessages, table: { ...acceptsMessages.table, TEMPLATES: ["GetItem"] } },
  },
  getOpenApi: {
    method: "GET",
    path: "/openapi.json",
    tag: "docs",
    summary: "This description, as an OpenAPI document",
    auth: "none",
    status: 200,
    data: z.looseObject({ openapi: z.string() }),
    raw: ["application/json"],
    errors: [],
    access: {},
  },
  getDocs: {
    method: "GET",
    path: "/docs",
    tag: "docs",
    summary: "This description, as a page to read and to try the API from",
    auth: "none",
    status: 200,
    data: z.string(),
    raw: ["text/html"],
    errors: [],
    access: {},
  },
  getDocsFile: {
    method: "GET",
    path: "/docs/{file}",
    tag: "docs",
    summary: "A script or style sheet of the page",
    auth: "none",
    params: z.object({ file: DocsFile }),
    status: 200,
    data: z.string(),
    raw: ["text/css", "text/javascript"],
    errors: [],
    access: {},
  },
} as const satisfies Record<string, Route>;

export type Operation = keyof typeof routes;

/** The methods that a path takes; none when there is no such path. A path without parameters comes first. */
export function methodsOf(path: string): string[] {
  const rows = Object.values<Route>(routes);
  const exact = rows.filter((route) => route.path === path);
  const matching = exact.length > 0 ? exact : rows.filter((route) => pathPattern(route).test(path));
  return matching.map(({ method }) => method);
}

/** What the path of a route looks like when its parameters are filled in. */
export function pathPattern({ path }: Route): RegExp {
  return new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`);
}

/** Answers whatever no other route does: 405 where the path takes other methods, and 404 everywhere else. */
export const fallbackRoute = {
  method: "GET",
  path: "/{path+}",
  tag: "fallback",
  summary: "Not found",
  auth: "none",
  status: 200,
  data: z.never(),
  errors: ["NOT_FOUND", "METHOD_NOT_ALLOWED"],
  access: {},
} as const satisfies Route;
