import { randomUUID } from "node:crypto";

import { inject } from "vitest";
import * as z from "zod";

import { CreatedApiKey, Session } from "../../shared/contract/accounts.ts";
import { PageMeta } from "../../shared/contract/primitives.ts";
import { AcceptedMessage, Message } from "../../shared/contract/sms.ts";
import { Transaction, Wallet } from "../../shared/contract/wallet.ts";
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
  /** Put behind `Authorization: Bearer`. */
  readonly credential?: string;
  /** Another gateway than the one that the tests share. */
  readonly baseUrl?: string;
}

/** Calls the gateway as a customer does. What it answers must be what the contract says. */
export async function call(path: string, options: ApiCall = {}): Promise<ApiResponse> {
  const { json, raw, credential } = options;
  const body = json === undefined ? raw : JSON.stringify(json);
  const url = (options.baseUrl ?? inject("baseUrl")) + path;
  const method = options.method ?? (body === undefined ? "GET" : "POST");
  const response = await fetch(url, {
    method,
    headers: {
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...(credential === undefined ? {} : { Authorization: `Bearer ${credential}` }),
      ...options.headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  const { status, headers } = response;
  const text = await response.text();
  const isJson = headers.get("content-type")?.startsWith("application/json") === true;
  const answer = { status, headers, text, body: isJson ? JSON.parse(text) : text };
  checkAgainstContract({ method, url }, answer);
  return answer;
}

const ErrorBody = z.strictObject({
  error: z.strictObject({
    code: z.string(),
    message: z.string().min(1),
    requestId: z.string().min(1),
    details: z.array(z.strictObject({ path: z.string(), message: z.string() })).optional(),
  }),
});

/** Status and code of an error response, whose body must have the documented shape. */
export function errorOf(response: ApiResponse): { status: number; code: string } {
  const { error } = ErrorBody.parse(response.body);
  if (error.requestId !== response.headers.get("x-request-id")) throw new Error("the request ids differ");
  return { status: response.status, code: error.code };
}

/** The fields that a VALIDATION_ERROR complains about. */
export function invalidFields(response: ApiResponse): string[] {
  return (ErrorBody.parse(response.body).error.details ?? []).map(({ path }) => path);
}

/** The `data` of a response, checked. */
export function dataOf<Data>(response: ApiResponse, schema: z.ZodType<Data>): Data {
  return z.object({ data: schema }).parse(response.body).data;
}

/** The rows and the place of one page of a list. */
export function pageOf<Row>(response: ApiResponse, row: z.ZodType<Row>): { rows: Row[]; meta: PageMeta } {
  const { data, meta } = z.object({ data: z.array(row), meta: PageMeta }).parse(response.body);
  return { rows: data, meta };
}

export const password = "correct horse battery";

/** One customer with an organisation of its own. */
export class Customer {
  readonly email: string;
  readonly token: string;
  readonly organizationId: string;
  readonly #session: Session;
  readonly #baseUrl: string;

  private constructor(email: string, session: Session, baseUrl: string) {
    this.email = email;
    this.token = session.token;
    this.organizationId = session.organization.id;
    this.#session = session;
    this.#baseUrl = baseUrl;
  }

  /** Registers a new customer, with money when an amount is given. */
  static async register(options: { balance?: number; baseUrl?: string } = {}): Promise<Customer> {
    const email = `${randomUUID()}@example.com`;
    const baseUrl = options.baseUrl ?? inject("baseUrl");
    const response = await call("/v1/auth/register", { json: { email, password }, baseUrl });
    const customer = new Customer(email, dataOf(response, Session), baseUrl);
    if (options.balance !== undefined) await customer.topUp(options.balance);
    return customer;
  }

  /** The same customer, calling another gateway. */
  at(baseUrl: string): Customer {
    return new Customer(this.email, this.#session, baseUrl);
  }

  async call(path: string, options: ApiCall = {}): Promise<ApiResponse> {
    return call(path, { credential: this.token, baseUrl: this.#baseUrl, ...options });
  }

  async topUp(amount: number): Promise<Wallet> {
    return dataOf(await this.call("/v1/wallet/top-up", { json: { amount } }), Wallet);
  }

  async createApiKey(): Promise<CreatedApiKey> {
    return dataOf(await this.call("/v1/auth/api-keys", { method: "POST" }), CreatedApiKey);
  }

  /** Sends a message that must be accepted. */
  async send(fields: Record<string, unknown> = {}): Promise<AcceptedMessage> {
    return dataOf(await this.trySend(fields), AcceptedMessage);
  }

  async trySend(fields: Record<string, unknown> = {}): Promise<ApiResponse> {
    return this.call("/v1/sms/send", {
      json: { to: "15005550000", message: "hello", senderId: "ACME", ...fields },
    });
  }

  async message(id: string): Promise<Message> {
    return dataOf(await this.call(`/v1/sms/${id}`), Message);
  }

  async balance(): Promise<number> {
    return dataOf(await this.call("/v1/wallet"), Wallet).balance;
  }

  /** The whole ledger, oldest first. */
  async ledger(): Promise<Transaction[]> {
    const entries: Transaction[] = [];
    let cursor = "";
    do {
      const response = await this.call(`/v1/wallet/transactions?limit=100${cursor}`);
      const { rows, meta } = pageOf(response, Transaction);
      entries.push(...rows);
      cursor = meta.nextCursor === undefined ? "" : `&cursor=${meta.nextCursor}`;
    } while (cursor !== "");
    return entries.toReversed();
  }
}
