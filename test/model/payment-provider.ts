import {
  ProviderUnavailableError,
  type Checkout,
  type ListedPayment,
  type Order,
  type PaymentProvider,
  type ProviderNotice,
  type ProviderPayment,
  type ProviderRefund,
} from "../../shared/money/payments/provider.ts";
import type { PaymentRecord } from "../../shared/money/payments/record.ts";
import { microsOfMinorUnits } from "../../shared/money/wallet/money.ts";
import { dayMs, hourMs, minuteMs, secondMs } from "../../shared/platform/clock.ts";
import { between, oneOf } from "../chaos/random.ts";
import { noticeOf, ProviderAccount, type Intent, type Refund, type Session } from "./provider-account.ts";

/** How the provider misbehaves in a call. `late`: the call is carried out after its caller has given up. */
const faults = [
  "unreachable",
  "response lost",
  "response lost",
  "late",
  "dies before",
  "dies after",
] as const;
const faultOdds = 0.12;

/** How long the provider remembers an idempotency key. */
const keyMs = dayMs;

/**
 * A payment provider for the port: the calls of the gateway on an account. It fails before and after it carries out a
 * call.
 */
export class ModelProvider extends ProviderAccount implements PaymentProvider {
  /** The provider does not respond until this moment. */
  outageUntilMs = 0;
  readonly #keys = new Map<string, { content: string; result: unknown; untilMs: number }>();

  async account(): Promise<string> {
    return "acct_model";
  }

  async createCustomer(organizationId: string, lostId?: string): Promise<string> {
    return this.#call("createCustomer", () => {
      if (lostId === this.customers.get(organizationId)) this.customers.delete(organizationId);
      return this.customerOf(organizationId);
    });
  }

  async createCheckout({ payment, saveCard, customerId, returnUrl }: Order): Promise<Checkout> {
    const { id, version, totalMicros } = payment;
    const expiresMs = this.nowMs + (payment.origin === "checkout" ? hourMs : 23 * hourMs);
    const input = { totalMicros, saveCard, customerId, returnUrl, expiresMs };
    return this.#call("createCheckout", () =>
      this.#once(`checkout-${id}-${version}-${customerId}-${expiresMs}`, input, () => {
        const session: Session = { id: this.newId("cs"), payment, saveCard, expiresMs };
        this.sessions.set(session.id, session);
        return {
          sessionId: session.id,
          url: `https://checkout.example/${session.id}`,
          expiresAt: new Date(session.expiresMs).toISOString(),
          account: "acct_model",
        };
      }),
    );
  }

  async closeCheckout({ providerSessionId = "" }: PaymentRecord): Promise<void> {
    return this.#call("closeCheckout", () => {
      const session = this.sessions.get(providerSessionId);
      if (session === undefined || !this.isOpen(session)) return;
      this.sessions.set(session.id, { ...session, expiresMs: this.nowMs });
    });
  }

  async createSetup(): Promise<string> {
    return this.#call("createSetup", () => "https://checkout.example/setup");
  }

  /** Looks for the charge of an earlier call, makes one, and cancels one that needs the cardholder: three calls. */
  async charge({ payment, customerId }: Pick<Order, "customerId" | "payment">): Promise<ProviderPayment> {
    const found = await this.#call("charge: look", () =>
      [...this.intents.values()].find((each) => each.paymentId === payment.id && each.isOffSession),
    );
    if (found === undefined && payment.status !== "pending")
      return { ...nothing, status: "failed", failure: "no_payment_method" };
    const { totalMicros, paymentMethodId } = payment;
    const input = { totalMicros, paymentMethodId, customerId };
    const make = (): Intent | undefined => this.chargeCard(payment, customerId);
    const intent =
      found ?? (await this.#call("charge", () => this.#once(`charge-${payment.id}`, input, make)));
    if (intent === undefined) return { ...nothing, status: "failed", failure: "no_payment_method" };
    if (intent.status === "authentication") {
      await this.#call("charge: cancel", () => {
        intent.status = "cancelled";
      });
    }
    if (intent.status === "succeeded") return this.#stateOf(intent);
    if (intent.status === "processing") return { ...nothing, status: "pending" };
    const isOpen = intent.failure === "authentication_required";
    return { ...nothing, status: isOpen ? "unauthenticated" : "failed", failure: intent.failure };
  }

  async read({ providerPaymentId, providerSessionId }: PaymentRecord): Promise<ProviderPayment> {
    return this.#call("read", () => {
      if (providerPaymentId !== undefined) return this.#stateOf(this.intentOf(providerPaymentId));
      const session = this.sessions.get(providerSessionId ?? "");
      if (session === undefined) throw new Error("the session is unknown");
      const intent = session.intentId === undefined ? undefined : this.intentOf(session.intentId);
      if (intent?.status === "succeeded") return this.#stateOf(intent);
      return { ...nothing, status: this.isOpen(session) ? "pending" : "expired" };
    });
  }

  async refund(payment: PaymentRecord, refundId: string, minorUnits: number): Promise<ProviderRefund> {
    const intent = this.intentOf(payment.providerPaymentId ?? "");
    const found = await this.#call("refund: look", () =>
      intent.refunds.find((each) => each.refundId === refundId),
    );
    if (found !== undefined) return { ...found };
    const make = (): Refund | undefined => this.makeRefund(intent, { refundId, minorUnits });
    const made = await this.#call("refund", () =>
      this.#once(refundId, { intent: intent.id, minorUnits }, make),
    );
    return made === undefined ? { id: refundId, refundId, minorUnits, status: "failed" } : { ...made };
  }

  async listMethods(customerId: string): ReturnType<PaymentProvider["listMethods"]> {
    return this.#call("listMethods", () =>
      (this.cards.get(customerId) ?? []).toReversed().map(({ id, createdMs }) => ({
        id,
        brand: "visa",
        last4: "4242",
        expiryMonth: 12,
        expiryYear: 2030,
        createdAt: new Date(createdMs).toISOString(),
      })),
    );
  }

  async removeMethod(customerId: string, methodId: string): Promise<boolean> {
    return this.#call("removeMethod", () => {
      const cards = this.cards.get(customerId) ?? [];
      const rest = cards.filter(({ id }) => id !== methodId);
      this.cards.set(customerId, rest);
      return rest.length < cards.length;
    });
  }

  async identify(providerPaymentId: string): Promise<ListedPayment> {
    return this.#call("identify", () => listedOf(this.intentOf(providerPaymentId)));
  }

  async *paymentsSince(since: Date): AsyncGenerator<ListedPayment> {
    for (const intent of await this.#listed("paymentsSince", since)) yield listedOf(intent);
  }

  async *changesSince(): AsyncGenerator<ProviderNotice> {
    const changed = await this.#listed("changesSince", new Date(0));
    for (const { id, refunds, disputes } of changed) {
      if (refunds.length + disputes.length > 0) yield { providerPaymentId: id };
    }
  }

  async readEvent(rawBody: string): Promise<ProviderNotice | undefined> {
    return Object(JSON.parse(rawBody));
  }

  #stateOf(intent: Intent): ProviderPayment {
    return {
      status: "succeeded",
      id: intent.id,
      minorUnits: intent.minorUnits,
      currency: "USD",
      feeMinorUnits: intent.feeKnownMs <= this.nowMs ? feeOf(intent) : undefined,
      refunds: intent.refunds.map((refund) => ({ ...refund })),
      disputes: intent.disputes.map((dispute) => ({ ...dispute, feeMinorUnits: 1_500 })),
    };
  }

  async #listed(name: string, since: Date): Promise<Intent[]> {
    const isListed = ({ createdMs }: Intent): boolean => createdMs >= since.getTime();
    return this.#call(name, () => [...this.intents.values()].filter(isListed));
  }

  /** Returns the result of the first call with a key. As at Stripe, a key belongs to one input. */
  #once<Result>(key: string, input: object, carryOut: () => Result): Result {
    const known = this.#keys.get(key);
    const content = JSON.stringify(input);
    if (known !== undefined && this.nowMs < known.untilMs) {
      if (known.content !== content) throw new ProviderUnavailableError(`idempotency_error: ${key}`);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- A key belongs to one kind of call.
      return known.result as Result;
    }
    const result = carryOut();
    this.#keys.set(key, { content, result, untilMs: this.nowMs + keyMs });
    return result;
  }

  async #call<Result>(name: string, carryOut: () => Result): Promise<Result> {
    const { random, time } = this.lambda;
    await this.lambda.wait(between(random, 50, 800));
    const fault = this.lambda.happens(faultOdds) ? oneOf(random, faults) : undefined;
    this.observer.observe(`${time.nowMs} provider ${name} ${fault ?? ""}`);
    if (fault === "unreachable" || time.nowMs < this.outageUntilMs) {
      await this.lambda.wait(8 * secondMs);
      throw new ProviderUnavailableError("unreachable");
    }
    if (fault === "late") {
      time.after(random() * minuteMs, () => void carryOut());
      await this.lambda.wait(8 * secondMs);
      throw new ProviderUnavailableError("no response");
    }
    if (fault === "dies before") await this.#die();
    const result = carryOut();
    if (fault === "dies after") await this.#die();
    await this.lambda.wait(between(random, 50, 800));
    if (fault === "response lost") throw new ProviderUnavailableError("the response was lost");
    return result;
  }

  /** Ends the function that calls. */
  async #die(): Promise<void> {
    if (this.lambda.current === undefined) return;
    this.lambda.die();
    await this.lambda.wait(0);
  }
}

/** The provider's fee, in minor units. */
export function feeOf({ minorUnits }: Intent): number {
  return Math.round(minorUnits * 0.029) + 30;
}

/** The amounts of a payment of the provider, in the gateway's micro-units. */
export function microsOf({ minorUnits }: Pick<Intent, "minorUnits">): number {
  return microsOfMinorUnits(minorUnits);
}

const nothing = { minorUnits: 0, currency: "USD", refunds: [], disputes: [] } as const;

function listedOf(intent: Intent): ListedPayment {
  return {
    ...noticeOf(intent),
    providerPaymentId: intent.id,
    isSuccessful: intent.status === "succeeded",
    minorUnits: intent.minorUnits,
    currency: "USD",
    createdAt: new Date(intent.createdMs).toISOString(),
    origin: "checkout",
  };
}
