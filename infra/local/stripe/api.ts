import type * as z from "zod/mini";

import { validate } from "../../../shared/api/contract/validation.ts";
import type { StripeAccount } from "./account.ts";
import { readForm } from "./form.ts";
import { published, StripeApiError } from "./object-store.ts";
import type { StripeObject } from "./objects.ts";
import * as params from "./params.ts";

export interface ApiRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly body: string;
  readonly authorization: string | undefined;
  readonly idempotencyKey: string | undefined;
}

interface ApiResponse {
  readonly status: number;
  readonly body: object;
}

/** The response to the first request with an Idempotency-Key. */
export interface KeptResponse extends ApiResponse {
  readonly request: string;
  readonly at: number;
}

/** How long Stripe keeps them at least. */
const keptSeconds = 86_400;

type Kind = StripeObject["object"];

interface Operation {
  /** Has the id, if the path has one. */
  readonly path: RegExp;
  readonly run: (account: StripeAccount, form: unknown, id: string) => StripeObject;
}

function operation<Schema extends z.ZodMiniType>(
  path: string,
  schema: Schema,
  run: (account: StripeAccount, params: z.output<Schema>, id: string) => StripeObject,
): Operation {
  const pattern = new RegExp(`^${path.replace("{id}", "([^/]+)")}$`);
  return { path: pattern, run: (account, form, id) => run(account, parse(schema, form), id) };
}

/** The requests with POST. */
const operations: readonly Operation[] = [
  operation("customers", params.CustomerParams, (account, form) => account.createCustomer(form)),
  operation("checkout/sessions", params.SessionParams, (account, form) => account.createSession(form)),
  operation("checkout/sessions/{id}/expire", params.NoParams, (account, _, id) => account.expireSession(id)),
  operation("payment_intents", params.PaymentParams, (account, form) => account.createPayment(form)),
  operation("payment_intents/{id}/cancel", params.NoParams, (account, _, id) => account.cancelPayment(id)),
  operation("refunds", params.RefundParams, (account, form) => account.createRefund(form)),
  operation("payment_methods/{id}/detach", params.NoParams, (account, _, id) => account.detachMethod(id)),
  // Stripe itself has no such request, because the bank decides.
  operation("test/disputes/{id}", params.DisputeParams, (account, { status }, id) =>
    account.closeDispute(id, status),
  ),
];

/** The collections that can be read, with the parameters that filter them. */
const collections: Readonly<Record<string, readonly [Kind, ...filters: string[]]>> = {
  customers: ["customer", "email"],
  "checkout/sessions": ["checkout.session", "customer", "payment_intent"],
  payment_intents: ["payment_intent", "customer"],
  payment_methods: ["payment_method", "customer", "type"],
  setup_intents: ["setup_intent", "customer"],
  charges: ["charge", "customer", "payment_intent"],
  refunds: ["refund", "charge", "payment_intent"],
  disputes: ["dispute", "charge", "payment_intent"],
};

/** Stripe's API over an account, without a network. */
export class StripeApi {
  readonly #account: StripeAccount;
  readonly #kept: Map<string, KeptResponse>;

  /** @param kept the responses of the last day by their Idempotency-Keys, which it changes */
  constructor(account: StripeAccount, kept: Map<string, KeptResponse>) {
    this.#account = account;
    this.#kept = kept;
  }

  handle(request: ApiRequest): ApiResponse {
    const key = request.method === "POST" ? request.idempotencyKey : undefined;
    const at = this.#account.objects.seconds();
    for (const [old, kept] of this.#kept) if (kept.at + keptSeconds <= at) this.#kept.delete(old);
    const response = this.#respond(request, key === undefined ? undefined : this.#kept.get(key));
    // A request that was rejected before its execution may be corrected under the same key.
    if (key !== undefined && (response.status === 200 || response.status === 402)) {
      this.#kept.set(key, { at, request: contentOf(request), ...response });
    }
    return response;
  }

  #respond(request: ApiRequest, kept: KeptResponse | undefined): ApiResponse {
    try {
      if (!/^Bearer [rs]k_/.test(request.authorization ?? "")) {
        throw new StripeApiError("You did not provide a secret API key.", {}, 401);
      }
      if (kept === undefined) return { status: 200, body: this.#execute(request) };
      if (kept.request === contentOf(request)) return kept;
      const message = "Keys for idempotent requests can only be used with the same parameters.";
      throw new StripeApiError(message, { type: "idempotency_error" });
    } catch (error) {
      if (!(error instanceof StripeApiError)) throw error;
      return { status: error.status, body: { error: error.fields } };
    }
  }

  #execute({ method, path, body }: ApiRequest): object {
    this.#account.advance();
    const [route = "", query = ""] = path.replace(/^\/v1\//, "").split("?");
    const { expand, ...form } = readForm(method === "GET" ? query : body);
    const result = method === "GET" ? this.#read(route, form) : this.#change(method, route, form);
    for (const each of parse(params.Expand, expand)) this.#expand(result, each.split("."), each);
    return result;
  }

  #change(method: string, route: string, form: unknown): object {
    for (const { path, run } of method === "POST" ? operations : []) {
      const match = path.exec(route);
      if (match !== null) return published(run(this.#account, form, match[1] ?? ""));
    }
    throw unrecognized(method, route);
  }

  #read(route: string, form: Record<string, unknown>): object {
    const [, customer] = /^customers\/([^/]+)\/payment_methods$/.exec(route) ?? [];
    if (customer !== undefined) {
      this.#account.objects.get("customer", customer);
      return this.#list(route, ["payment_method", "customer", "type"], { ...form, customer });
    }
    const collection = collections[route];
    if (collection !== undefined) return this.#list(route, collection, form);
    const [self] = this.#account.objects.all("account");
    if (route === "account" && self !== undefined) return published(self);
    const [, name = "", id = ""] = /^(.+)\/([^/]+)$/.exec(route) ?? [];
    const [kind] = collections[name] ?? [];
    if (kind === undefined) throw unrecognized("GET", route);
    parse(params.NoParams, form);
    return published(this.#account.objects.get(kind, id));
  }

  #list(
    route: string,
    [kind, ...names]: readonly [Kind, ...string[]],
    form: Record<string, unknown>,
  ): object {
    const { objects } = this.#account;
    const { limit, starting_after, created, ...filters } = parse(params.ListParams, form);
    const unknown = Object.keys(filters).find((name) => !names.includes(name));
    if (unknown !== undefined) throw new StripeApiError(`Received unknown parameter: ${unknown}`);
    const { gt = -1, gte = 0, lt = Infinity, lte = Infinity } = created;
    const matching = objects
      .all(kind)
      .toReversed()
      .filter((each) => each.created > gt && each.created >= gte && each.created < lt && each.created <= lte)
      .filter((each) => Object.entries(filters).every(([name, value]) => Reflect.get(each, name) === value));
    const last = starting_after && objects.get(kind, starting_after, "starting_after");
    const start = matching.findIndex((each) => each === last) + 1;
    const data = matching.slice(start, start + limit).map(published);
    return { object: "list", url: `/v1/${route}`, has_more: start + limit < matching.length, data };
  }

  /** Replaces the ids at a path by their objects. */
  #expand(node: unknown, [name, ...rest]: readonly string[], path: string): void {
    if (name === undefined || typeof node !== "object" || node === null) return;
    if (Array.isArray(node)) {
      for (const each of node) this.#expand(each, [name, ...rest], path);
      return;
    }
    const value: unknown = Reflect.get(node, name);
    const found = typeof value === "string" ? this.#account.objects.find(value) : undefined;
    if (value === undefined || (typeof value === "string" && found === undefined)) {
      throw new StripeApiError(`This property cannot be expanded (${path}).`);
    }
    if (found !== undefined) Reflect.set(node, name, published(found));
    this.#expand(Reflect.get(node, name), rest, path);
  }
}

function contentOf({ path, body }: ApiRequest): string {
  return `${path}\n${body}`;
}

function unrecognized(method: string, route: string): StripeApiError {
  return new StripeApiError(`Unrecognized request URL (${method}: /v1/${route}).`, {}, 404);
}

/** @throws StripeApiError that names the first wrong parameter */
function parse<Schema extends z.ZodMiniType>(schema: Schema, form: unknown): z.output<Schema> {
  const result = validate(schema, form, "parameter");
  if (result.success) return result.data;
  const [{ path, message } = { path: "", message: "" }] = result.details;
  const param = path.replaceAll(/\.(\w+)/g, "[$1]");
  const isMissing = message === "is required";
  const code = message.startsWith("unknown") ? "unknown" : isMissing ? "missing" : "invalid";
  throw new StripeApiError(`Parameter ${param}: ${message}`, { code: `parameter_${code}`, param });
}
