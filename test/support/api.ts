import { randomUUID } from "node:crypto";

import { inject } from "vitest";
import * as z from "zod/mini";

import { createClient, everyRow, type Client } from "../../shared/api/client/client.ts";
import type { Session } from "../../shared/api/contract/accounts.ts";
import type { CreateApiKeyRequest, CreatedApiKey } from "../../shared/api/contract/api-keys.ts";
import { PageMeta } from "../../shared/api/contract/primitives.ts";
import type { AcceptedMessage, Message, SendSmsRequest } from "../../shared/api/contract/sms.ts";
import type { Transaction, Wallet } from "../../shared/api/contract/wallet.ts";
import { checkAgainstContract } from "./contract.ts";

export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body, of whatever shape. */
  readonly body: unknown;
}

export interface ApiCall {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly raw?: string | Uint8Array<ArrayBuffer>;
  /** The credential after `Authorization: Bearer`. */
  readonly credential?: string;
  /** Another gateway than the one that the tests share. */
  readonly baseUrl?: string;
}

/** Calls the gateway as a customer does. The response must match the contract. */
export async function call(path: string, options: ApiCall = {}): Promise<ApiResponse> {
  const { json, raw, credential } = options;
  const body = json === undefined ? raw : JSON.stringify(json);
  const response = await checkedFetch((options.baseUrl ?? inject("baseUrl")) + path, {
    method: options.method ?? (body === undefined ? "GET" : "POST"),
    headers: {
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...(credential === undefined ? {} : { Authorization: `Bearer ${credential}` }),
      ...options.headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  return readAnswer(response);
}

/** A `fetch` that fails when the contract does not describe what comes back. */
async function checkedFetch(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  checkAgainstContract({ method: init.method ?? "GET", url }, await readAnswer(response.clone()));
  return response;
}

async function readAnswer(response: Response): Promise<ApiResponse> {
  const { status, headers } = response;
  const text = await response.text();
  const isJson = headers.get("content-type")?.startsWith("application/json") === true;
  return { status, headers, text, body: isJson ? JSON.parse(text) : text };
}

const ErrorBody = z.strictObject({
  error: z.strictObject({
    code: z.string(),
    message: z.string().check(z.minLength(1)),
    requestId: z.string().check(z.minLength(1)),
    docUrl: z.optional(z.url()),
    details: z.optional(z.array(z.strictObject({ path: z.string(), message: z.string() }))),
  }),
});

/** Status and code of an error response, whose body must have the documented shape. */
export function errorOf(response: ApiResponse): { status: number; code: string } {
  const { error } = ErrorBody.parse(response.body);
  if (error.requestId !== response.headers.get("x-request-id")) throw new Error("the request ids differ");
  return { status: response.status, code: error.code };
}

/** The statuses of requests that raced each other, in ascending order. */
export function statusesOf(responses: readonly ApiResponse[]): number[] {
  return responses.map(({ status }) => status).toSorted((a, b) => a - b);
}

/** The fields that a VALIDATION_ERROR complains about. */
export function invalidFields(response: ApiResponse): string[] {
  return (ErrorBody.parse(response.body).error.details ?? []).map(({ path }) => path);
}

/** The `data` of a response, checked. */
export function dataOf<Data>(response: ApiResponse, schema: z.ZodMiniType<Data>): Data {
  return z.object({ data: schema }).parse(response.body).data;
}

/** The rows and the place of one page of a list. */
export function pageOf<Row>(response: ApiResponse, row: z.ZodMiniType<Row>): { rows: Row[]; meta: PageMeta } {
  const { data, meta } = z.object({ data: z.array(row), meta: PageMeta }).parse(response.body);
  return { rows: data, meta };
}

/** Reads a list to its end. */
export async function allRows<Row>(...list: Parameters<typeof everyRow<Row>>): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const row of everyRow(...list)) rows.push(row);
  return rows;
}

export const password = "correct horse battery";

const message = { to: "15005550000", message: "hello", senderId: "ACME" };

/** One customer with an organization of its own. */
export class Customer {
  readonly email: string;
  readonly token: string;
  readonly organizationId: string;
  /** For calls that must succeed; `call` is for those that may not. */
  readonly client: Client;
  readonly session: Session;
  readonly #baseUrl: string;

  private constructor(email: string, session: Session, baseUrl: string) {
    this.email = email;
    this.token = session.token;
    this.organizationId = session.organization.id;
    this.client = createClient({ baseUrl, credential: session.token, fetch: checkedFetch });
    this.session = session;
    this.#baseUrl = baseUrl;
  }

  /** Registers a new customer, with money when an amount is given. */
  static async register(options: { balance?: number; baseUrl?: string } = {}): Promise<Customer> {
    const email = `${randomUUID()}@example.com`;
    const baseUrl = options.baseUrl ?? inject("baseUrl");
    const session = await createClient({ baseUrl, fetch: checkedFetch }).register({
      body: { email, password },
    });
    const customer = new Customer(email, session, baseUrl);
    if (options.balance !== undefined) await customer.topUp(options.balance);
    return customer;
  }

  /** The same customer, calling another gateway. */
  at(baseUrl: string): Customer {
    return new Customer(this.email, this.session, baseUrl);
  }

  /** The same customer, calling with an API key, which outlives a session. */
  async withApiKey(body: CreateApiKeyRequest = {}): Promise<Customer> {
    const { secret } = await this.client.createApiKey({ body });
    return new Customer(this.email, { ...this.session, token: secret }, this.#baseUrl);
  }

  async call(path: string, options: ApiCall = {}): Promise<ApiResponse> {
    return call(path, { credential: this.token, baseUrl: this.#baseUrl, ...options });
  }

  async topUp(amount: number): Promise<Wallet> {
    return this.client.topUpWallet({ body: { amount } });
  }

  async createApiKey(): Promise<CreatedApiKey> {
    return this.client.createApiKey();
  }

  /** Sends a message that must be accepted. */
  async send(fields: Partial<z.input<typeof SendSmsRequest>> = {}): Promise<AcceptedMessage> {
    return this.client.sendSms({ body: { ...message, ...fields } });
  }

  /** Sends a message that may be rejected, with an `Idempotency-Key` if one is given. */
  async trySend(fields: Record<string, unknown> = {}, key?: string): Promise<ApiResponse> {
    const headers = key === undefined ? {} : { "Idempotency-Key": key };
    return this.call("/v1/sms/send", { json: { ...message, ...fields }, headers });
  }

  async message(id: string): Promise<Message> {
    return this.client.getSms({ params: { id } });
  }

  async balance(): Promise<number> {
    return (await this.client.getWallet()).balance;
  }

  /** The whole ledger, oldest first. */
  async ledger(): Promise<Transaction[]> {
    const newestFirst = await allRows(async (next) =>
      this.client.listTransactions({ query: { limit: 100, ...next } }),
    );
    return newestFirst.toReversed();
  }
}
