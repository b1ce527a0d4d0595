import { Stripe } from "stripe";

import { stageAccount } from "../../shared/money/payments/stripe-client.ts";
import { minuteMs, secondMs } from "../../shared/platform/clock.ts";
import { between, oneOf } from "../chaos/random.ts";
import type { Lambda } from "./lambda.ts";
import { replace } from "./replace.ts";
import { ModelAccount, type Paid } from "./stripe-account.ts";
import type { Observe } from "./trace.ts";

// The code imports this file when it needs it, and a file that is read takes real time.
await import("../../shared/money/payments/stripe.ts");

/** How Stripe misbehaves in a call. `late`: the call is carried out after its caller has given up. */
const faults = [
  "unreachable",
  "response lost",
  "response lost",
  "late",
  "rejected",
  "dies before",
  "dies after",
] as const;
const faultOdds = 0.12;

/** A response of the local Stripe. */
type Response = ReturnType<ModelAccount["api"]["handle"]>;

const rejection: Response = {
  status: 400,
  body: { error: { type: "invalid_request_error", code: "parameter_unknown", message: "No." } },
};

/** Keys of two worlds differ, because the code remembers the account of a key. */
let worlds = 0;

/** Stripe as the gateway reaches it: with Stripe's own client, over a network that fails, and at times with other keys. */
export class StripeConnection {
  /** Stripe does not respond until this moment. */
  outageUntilMs = 0;
  readonly accounts: readonly [main: ModelAccount, other: ModelAccount];
  readonly #lambda: Lambda;
  readonly #observe: Observe;
  #connected: ModelAccount;

  /** @param deliver receives the events of an account */
  constructor(lambda: Lambda, deliver: (body: string, account: ModelAccount) => void, observe: Observe) {
    this.#lambda = lambda;
    this.#observe = observe;
    worlds += 1;
    const newAccount = (name: string): ModelAccount =>
      new ModelAccount(lambda, { name, secretKey: `sk_test_${name}${worlds}`, deliver });
    this.accounts = [newAccount("main"), newAccount("other")];
    [this.#connected] = this.accounts;
  }

  /** Connects the keys of another account. */
  use(account: ModelAccount): void {
    this.#connected = account;
  }

  /** A customer enters a card. @returns whether the page was open */
  enterCard(url: string): boolean {
    return this.accounts.some((account) => account.enterCard(url));
  }

  /** All payments of the gateway. */
  paid(): Paid[] {
    return this.accounts.flatMap((account) => account.paid());
  }

  /** Replaces the connection of the gateway. @returns what restores it */
  takeOver(): () => void {
    const connections = new Map(
      this.accounts.map((account) => {
        const { secretKey, webhookSecret } = account;
        return [account, { stripe: this.#clientOf(account), secretKey, webhookSecret }];
      }),
    );
    return replace(stageAccount, "connect", async () => connections.get(this.#connected));
  }

  #clientOf({ api, secretKey }: ModelAccount): Stripe {
    const makeRequest = async (
      ...[, , path, method, headers, body]: Parameters<Stripe.HttpClient["makeRequest"]>
    ): Promise<Stripe.HttpClientResponse> => {
      const authorization = headers["Authorization"]?.toString();
      const idempotencyKey = headers["Idempotency-Key"]?.toString();
      const request = { method, path, body: body ?? "", authorization, idempotencyKey };
      const response = await this.#call(request, () => api.handle(request));
      return new ModelResponse(response);
    };
    const httpClient = Object.assign(new Stripe.HttpClient(), { getClientName: () => "model", makeRequest });
    return new Stripe(secretKey, { httpClient, maxNetworkRetries: 0, telemetry: false });
  }

  async #call(
    { method, path }: { readonly method: string; readonly path: string },
    carryOut: () => Response,
  ): Promise<Response> {
    const { random, time } = this.#lambda;
    await this.#lambda.wait(between(random, 50, 800));
    const fault = this.#lambda.happens(faultOdds) ? oneOf(random, faults) : undefined;
    this.#observe(`${time.nowMs} Stripe ${method} ${path} ${fault ?? ""}`);
    // A rejected read proves nothing.
    if (fault === "rejected" && method === "GET") return rejection;
    if (fault === "unreachable" || fault === "rejected" || time.nowMs < this.outageUntilMs) {
      await this.#lambda.wait(8 * secondMs);
      throw new Error("unreachable");
    }
    if (fault === "late") {
      time.after(random() * minuteMs, () => void carryOut());
      await this.#lambda.wait(8 * secondMs);
      throw new Error("no response");
    }
    if (fault === "dies before") await this.#die();
    const response = carryOut();
    if (fault === "dies after") await this.#die();
    await this.#lambda.wait(between(random, 50, 800));
    if (fault === "response lost") throw new Error("the response was lost");
    return response;
  }

  /** Ends the function that calls. */
  async #die(): Promise<void> {
    if (this.#lambda.current === undefined) return;
    this.#lambda.die();
    await this.#lambda.wait(0);
  }
}

class ModelResponse extends Stripe.HttpClientResponse {
  readonly #body: object;

  constructor({ status, body }: Response) {
    super(status, {});
    this.#body = body;
  }

  override getRawResponse(): this {
    return this;
  }

  /** Stripe's client changes it. */
  override async toJSON(): Promise<object> {
    return structuredClone(this.#body);
  }
}
