import type { PaymentFailure } from "../../shared/api/contract/payments.ts";
import {
  ProviderUnavailableError,
  type Checkout,
  type ListedPayment,
  type Order,
  type PaymentProvider,
  type ProviderDispute,
  type ProviderNotice,
  type ProviderPayment,
  type ProviderRefund,
} from "../../shared/money/payments/provider.ts";
import type { PaymentRecord } from "../../shared/money/payments/record.ts";
import { microsOfMinorUnits, minorUnitsOf } from "../../shared/money/wallet/money.ts";
import { dayMs, hourMs, minuteMs, secondMs } from "../../shared/platform/clock.ts";
import { between, oneOf } from "../chaos/random.ts";
import type { Lambda } from "./lambda.ts";

/** The result of a charge of a card. `slow` succeeds or fails only some minutes later. */
const cardKinds = ["accepted", "accepted", "accepted", "declined", "authentication", "slow"] as const;
type CardKind = (typeof cardKinds)[number];

interface Card {
  readonly id: string;
  readonly kind: CardKind;
  readonly createdMs: number;
}

interface Session {
  readonly id: string;
  readonly payment: PaymentRecord;
  readonly saveCard: boolean;
  readonly expiresMs: number;
  intentId?: string;
}

interface Refund {
  readonly id: string;
  readonly refundId?: string | undefined;
  readonly minorUnits: number;
  status: ProviderRefund["status"];
}

interface Dispute {
  readonly id: string;
  readonly minorUnits: number;
  status: ProviderDispute["status"];
}

export interface Intent {
  readonly id: string;
  readonly organizationId: string;
  readonly paymentId: string;
  readonly isOffSession: boolean;
  readonly minorUnits: number;
  readonly createdMs: number;
  status: "authentication" | "cancelled" | "failed" | "processing" | "succeeded";
  failure?: PaymentFailure;
  feeKnownMs: number;
  readonly refunds: Refund[];
  readonly disputes: Dispute[];
}

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

interface Observer {
  /** Something happened to a payment. */
  readonly tells: (notice: ProviderNotice) => void;
  readonly observe: (event: string) => void;
}

/**
 * A payment provider for the port: a state machine of payments, refunds and disputes. It fails before and after it
 * carries out a call.
 */
export class ModelProvider implements PaymentProvider {
  readonly intents = new Map<string, Intent>();
  /** The provider does not respond until this moment. */
  outageUntilMs = 0;
  readonly #lambda: Lambda;
  readonly #observer: Observer;
  readonly #customers = new Map<string, string>();
  readonly #cards = new Map<string, Card[]>();
  readonly #sessions = new Map<string, Session>();
  readonly #keys = new Map<string, { content: string; result: unknown; untilMs: number }>();
  #ids = 0;

  constructor(lambda: Lambda, observer: Observer) {
    this.#lambda = lambda;
    this.#observer = observer;
  }

  // The calls of the gateway.

  async createCustomer(organizationId: string, lostId?: string): Promise<string> {
    return this.#call("createCustomer", () => {
      if (lostId === this.#customers.get(organizationId)) this.#customers.delete(organizationId);
      return this.customerOf(organizationId);
    });
  }

  async createCheckout({ payment, saveCard, customerId, returnUrl }: Order): Promise<Checkout> {
    const { id, version, totalMicros } = payment;
    const expiresMs = this.#nowMs + (payment.origin === "checkout" ? hourMs : 23 * hourMs);
    const input = { totalMicros, saveCard, customerId, returnUrl, expiresMs };
    return this.#call("createCheckout", () =>
      this.#once(`checkout-${id}-${version}-${customerId}-${expiresMs}`, input, () => {
        const session: Session = { id: this.#id("cs"), payment, saveCard, expiresMs };
        this.#sessions.set(session.id, session);
        return {
          sessionId: session.id,
          url: `https://checkout.example/${session.id}`,
          expiresAt: new Date(session.expiresMs).toISOString(),
        };
      }),
    );
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
    const make = (): Intent | undefined => this.#chargeCard(payment, customerId);
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
      if (providerPaymentId !== undefined) return this.#stateOf(this.#intent(providerPaymentId));
      const session = this.#sessions.get(providerSessionId ?? "");
      if (session === undefined) throw new Error("the session is unknown");
      const intent = session.intentId === undefined ? undefined : this.#intent(session.intentId);
      if (intent?.status === "succeeded") return this.#stateOf(intent);
      return { ...nothing, status: this.#isOpen(session) ? "pending" : "expired" };
    });
  }

  async refund(payment: PaymentRecord, refundId: string, minorUnits: number): Promise<ProviderRefund> {
    const intent = this.#intent(payment.providerPaymentId ?? "");
    const found = await this.#call("refund: look", () =>
      intent.refunds.find((each) => each.refundId === refundId),
    );
    if (found !== undefined) return { ...found };
    const make = (): Refund | undefined => this.#refund(intent, { refundId, minorUnits });
    const made = await this.#call("refund", () =>
      this.#once(refundId, { intent: intent.id, minorUnits }, make),
    );
    return made === undefined ? { id: refundId, refundId, minorUnits, status: "failed" } : { ...made };
  }

  async listMethods(customerId: string): ReturnType<PaymentProvider["listMethods"]> {
    return this.#call("listMethods", () =>
      (this.#cards.get(customerId) ?? []).toReversed().map(({ id, createdMs }) => ({
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
      const cards = this.#cards.get(customerId) ?? [];
      const rest = cards.filter(({ id }) => id !== methodId);
      this.#cards.set(customerId, rest);
      return rest.length < cards.length;
    });
  }

  async identify(providerPaymentId: string): Promise<ListedPayment> {
    return this.#call("identify", () => listedOf(this.#intent(providerPaymentId)));
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

  // The actions of customers, banks and the operator at the provider.

  customerOf(organizationId: string): string {
    const known = this.#customers.get(organizationId) ?? this.#id("cus");
    this.#customers.set(organizationId, known);
    return known;
  }

  saveCard(organizationId: string, kind: CardKind = oneOf(this.#lambda.random, cardKinds)): string {
    const customer = this.customerOf(organizationId);
    const card = { id: this.#id("pm"), kind, createdMs: this.#nowMs };
    this.#cards.set(customer, [...(this.#cards.get(customer) ?? []), card]);
    return card.id;
  }

  /** The ids of the saved cards. */
  cardsOf(organizationId: string): string[] {
    return (this.#cards.get(this.customerOf(organizationId)) ?? []).map(({ id }) => id);
  }

  /** A customer pays at a checkout, after a card that was declined in some cases. @returns whether the page was open */
  pay(url: string): boolean {
    const session = this.#sessions.get(url.slice(url.lastIndexOf("/") + 1));
    if (session === undefined || session.intentId !== undefined || !this.#isOpen(session)) return false;
    if (this.#lambda.random() < 0.2) {
      this.#observer.tells({ providerPaymentId: this.#newIntent(session.payment, false, "failed").id });
    }
    const intent = this.#newIntent(session.payment, false, "succeeded");
    session.intentId = intent.id;
    if (session.saveCard) this.saveCard(session.payment.organizationId);
    this.#notify(intent);
    return true;
  }

  /** The operator refunds a part of a payment at the provider. */
  refundThere(intent: Intent, share: number): void {
    const minorUnits = Math.max(1, Math.floor(this.leftOf(intent) * share));
    this.#refund(intent, { minorUnits });
  }

  /** A bank takes the rest of a payment back, and decides later. */
  dispute(intent: Intent): void {
    const minorUnits = this.leftOf(intent);
    if (minorUnits === 0 || intent.disputes.length > 0) return;
    const dispute: Dispute = { id: this.#id("dp"), minorUnits, status: "open" };
    intent.disputes.push(dispute);
    this.#notify(intent);
    const verdict = oneOf(this.#lambda.random, ["won", "lost", "open"] as const);
    if (verdict === "open") return;
    const end = (status: "lost" | "won"): void => {
      this.#lambda.time.after(this.#lambda.random() * 20 * hourMs, () => {
        dispute.status = status;
        this.#notify(intent);
        // An appeal.
        if (status === "lost" && this.#lambda.random() < 0.3) end("won");
      });
    };
    end(verdict);
  }

  /** The part that was neither refunded nor is disputed. */
  leftOf({ minorUnits, refunds, disputes }: Intent): number {
    const gone = [...refunds, ...disputes].filter(({ status }) => status !== "failed" && status !== "won");
    return gone.reduce((left, each) => left - each.minorUnits, minorUnits);
  }

  #chargeCard(payment: PaymentRecord, customerId: string): Intent | undefined {
    const card = this.#cards.get(customerId)?.find(({ id }) => id === payment.paymentMethodId);
    if (card === undefined) return undefined;
    if (card.kind === "accepted") return this.#told(this.#newIntent(payment, true, "succeeded"));
    if (card.kind === "slow") {
      const intent = this.#newIntent(payment, true, "processing");
      this.#lambda.time.after(this.#lambda.random() * hourMs, () => {
        intent.status = this.#lambda.random() < 0.6 ? "succeeded" : "failed";
        if (intent.status === "failed") intent.failure = "insufficient_funds";
        this.#notify(intent);
      });
      return intent;
    }
    const status = card.kind === "authentication" ? "authentication" : "failed";
    const intent = this.#newIntent(payment, true, status);
    intent.failure = card.kind === "authentication" ? "authentication_required" : "card_declined";
    return this.#told(intent);
  }

  #newIntent(payment: PaymentRecord, isOffSession: boolean, status: Intent["status"]): Intent {
    const { id: paymentId, organizationId, totalMicros } = payment;
    const feeDelayMs = this.#lambda.random() < 0.2 ? 10 * minuteMs : 0;
    const intent: Intent = {
      id: this.#id("pi"),
      organizationId,
      paymentId,
      isOffSession,
      minorUnits: minorUnitsOf(totalMicros),
      createdMs: this.#nowMs,
      status,
      feeKnownMs: this.#nowMs + feeDelayMs,
      refunds: [],
      disputes: [],
    };
    this.intents.set(intent.id, intent);
    return intent;
  }

  /** @returns undefined when it is rejected: for a disputed payment, and for more than is left */
  #refund(intent: Intent, refund: Pick<Refund, "minorUnits" | "refundId">): Refund | undefined {
    const isDisputed = intent.disputes.some(({ status }) => status !== "won");
    if (isDisputed || refund.minorUnits > this.leftOf(intent)) return undefined;
    const made: Refund = { id: this.#id("re"), ...refund, status: "succeeded" };
    intent.refunds.push(made);
    this.#notify(intent);
    const { random, time } = this.#lambda;
    const end = oneOf(random, [
      "immediately",
      "immediately",
      "later",
      "later",
      "fails",
      "fails late",
    ] as const);
    if (end === "later" || end === "fails") made.status = "pending";
    if (end === "immediately") return made;
    time.after(random() * 30 * hourMs, () => {
      made.status = end === "later" ? "succeeded" : "failed";
      this.#notify(intent);
    });
    return made;
  }

  #stateOf(intent: Intent): ProviderPayment {
    return {
      status: "succeeded",
      id: intent.id,
      minorUnits: intent.minorUnits,
      currency: "USD",
      feeMinorUnits: intent.feeKnownMs <= this.#nowMs ? feeOf(intent) : undefined,
      refunds: intent.refunds.map((refund) => ({ ...refund })),
      disputes: intent.disputes.map((dispute) => ({ ...dispute, feeMinorUnits: 1_500 })),
    };
  }

  #isOpen({ expiresMs, intentId }: Session): boolean {
    return intentId === undefined && this.#nowMs < expiresMs;
  }

  #intent(id: string): Intent {
    const intent = this.intents.get(id);
    if (intent === undefined) throw new Error(`the provider has no ${id}`);
    return intent;
  }

  #told(intent: Intent): Intent {
    this.#notify(intent);
    return intent;
  }

  /** Some events name the payment of the gateway, and others only that of the provider. */
  #notify(intent: Intent): void {
    const isNamed = this.#lambda.random() < 0.5;
    this.#observer.tells(isNamed ? noticeOf(intent) : { providerPaymentId: intent.id });
  }

  async #listed(name: string, since: Date): Promise<Intent[]> {
    const isListed = ({ createdMs }: Intent): boolean => createdMs >= since.getTime();
    return this.#call(name, () => [...this.intents.values()].filter(isListed));
  }

  /** Returns the result of the first call with a key. As at Stripe, a key belongs to one input. */
  #once<Result>(key: string, input: object, carryOut: () => Result): Result {
    const known = this.#keys.get(key);
    const content = JSON.stringify(input);
    if (known !== undefined && this.#nowMs < known.untilMs) {
      if (known.content !== content) throw new ProviderUnavailableError(`idempotency_error: ${key}`);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- A key belongs to one kind of call.
      return known.result as Result;
    }
    const result = carryOut();
    this.#keys.set(key, { content, result, untilMs: this.#nowMs + keyMs });
    return result;
  }

  async #call<Result>(name: string, carryOut: () => Result): Promise<Result> {
    const { random, time } = this.#lambda;
    await this.#lambda.wait(between(random, 50, 800));
    const fault = this.#lambda.happens(faultOdds) ? oneOf(random, faults) : undefined;
    this.#observer.observe(`${time.nowMs} provider ${name} ${fault ?? ""}`);
    if (fault === "unreachable" || time.nowMs < this.outageUntilMs) {
      await this.#lambda.wait(8 * secondMs);
      throw new ProviderUnavailableError("unreachable");
    }
    if (fault === "late") {
      time.after(random() * minuteMs, () => void carryOut());
      await this.#lambda.wait(8 * secondMs);
      throw new ProviderUnavailableError("no response");
    }
    if (fault === "dies before") await this.#die();
    const result = carryOut();
    if (fault === "dies after") await this.#die();
    await this.#lambda.wait(between(random, 50, 800));
    if (fault === "response lost") throw new ProviderUnavailableError("the response was lost");
    return result;
  }

  /** Ends the function that calls. */
  async #die(): Promise<void> {
    if (this.#lambda.current === undefined) return;
    this.#lambda.die();
    await this.#lambda.wait(0);
  }

  get #nowMs(): number {
    return this.#lambda.time.nowMs;
  }

  #id(prefix: string): string {
    this.#ids += 1;
    return `${prefix}_${this.#ids}`;
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

function noticeOf({ id, organizationId, paymentId }: Intent): ProviderNotice {
  return { providerPaymentId: id, organizationId, paymentId };
}

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
