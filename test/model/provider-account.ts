import type { PaymentFailure } from "../../shared/api/contract/payments.ts";
import type {
  ProviderDispute,
  ProviderNotice,
  ProviderRefund,
} from "../../shared/money/payments/provider.ts";
import type { PaymentRecord } from "../../shared/money/payments/record.ts";
import { minorUnitsOf } from "../../shared/money/wallet/money.ts";
import { hourMs, minuteMs } from "../../shared/platform/clock.ts";
import { oneOf } from "../chaos/random.ts";
import type { Lambda } from "./lambda.ts";

/** The result of a charge of a card. `slow` succeeds or fails only some minutes later. */
const cardKinds = ["accepted", "accepted", "accepted", "declined", "authentication", "slow"] as const;
type CardKind = (typeof cardKinds)[number];

interface Card {
  readonly id: string;
  readonly kind: CardKind;
  readonly createdMs: number;
}

export interface Session {
  readonly id: string;
  readonly payment: PaymentRecord;
  readonly saveCard: boolean;
  readonly expiresMs: number;
  intentId?: string;
}

export interface Refund {
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

export interface Observer {
  /** Something happened to a payment. */
  readonly tells: (notice: ProviderNotice) => void;
  readonly observe: (event: string) => void;
}

/** The account at the provider: customers pay there, banks decide, and the operator refunds. */
export class ProviderAccount {
  readonly intents = new Map<string, Intent>();
  protected readonly lambda: Lambda;
  protected readonly observer: Observer;
  protected readonly customers = new Map<string, string>();
  protected readonly cards = new Map<string, Card[]>();
  protected readonly sessions = new Map<string, Session>();
  #ids = 0;

  constructor(lambda: Lambda, observer: Observer) {
    this.lambda = lambda;
    this.observer = observer;
  }

  customerOf(organizationId: string): string {
    const known = this.customers.get(organizationId) ?? this.newId("cus");
    this.customers.set(organizationId, known);
    return known;
  }

  saveCard(organizationId: string, kind: CardKind = oneOf(this.lambda.random, cardKinds)): string {
    const customer = this.customerOf(organizationId);
    const card = { id: this.newId("pm"), kind, createdMs: this.nowMs };
    this.cards.set(customer, [...(this.cards.get(customer) ?? []), card]);
    return card.id;
  }

  /** The ids of the saved cards. */
  cardsOf(organizationId: string): string[] {
    return (this.cards.get(this.customerOf(organizationId)) ?? []).map(({ id }) => id);
  }

  /** A customer pays at a checkout, after a card that was declined in some cases. @returns whether the page was open */
  pay(url: string): boolean {
    const session = this.sessions.get(url.slice(url.lastIndexOf("/") + 1));
    if (session === undefined || session.intentId !== undefined || !this.isOpen(session)) return false;
    if (this.lambda.random() < 0.2) {
      this.observer.tells({ providerPaymentId: this.#newIntent(session.payment, false, "failed").id });
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
    this.makeRefund(intent, { minorUnits });
  }

  /** A bank takes the rest of a payment back, and decides later. */
  dispute(intent: Intent): void {
    const minorUnits = this.leftOf(intent);
    if (minorUnits === 0 || intent.disputes.length > 0) return;
    const dispute: Dispute = { id: this.newId("dp"), minorUnits, status: "open" };
    intent.disputes.push(dispute);
    this.#notify(intent);
    const verdict = oneOf(this.lambda.random, ["won", "lost", "open"] as const);
    if (verdict === "open") return;
    const end = (status: "lost" | "won"): void => {
      this.lambda.time.after(this.lambda.random() * 20 * hourMs, () => {
        dispute.status = status;
        this.#notify(intent);
        // An appeal.
        if (status === "lost" && this.lambda.random() < 0.3) end("won");
      });
    };
    end(verdict);
  }

  /** The part that was neither refunded nor is disputed. */
  leftOf({ minorUnits, refunds, disputes }: Intent): number {
    const gone = [...refunds, ...disputes].filter(({ status }) => status !== "failed" && status !== "won");
    return gone.reduce((left, each) => left - each.minorUnits, minorUnits);
  }

  protected chargeCard(payment: PaymentRecord, customerId: string): Intent | undefined {
    const card = this.cards.get(customerId)?.find(({ id }) => id === payment.paymentMethodId);
    if (card === undefined) return undefined;
    if (card.kind === "accepted") return this.#told(this.#newIntent(payment, true, "succeeded"));
    if (card.kind === "slow") {
      const intent = this.#newIntent(payment, true, "processing");
      this.lambda.time.after(this.lambda.random() * hourMs, () => {
        intent.status = this.lambda.random() < 0.6 ? "succeeded" : "failed";
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
    const feeDelayMs = this.lambda.random() < 0.2 ? 10 * minuteMs : 0;
    const intent: Intent = {
      id: this.newId("pi"),
      organizationId,
      paymentId,
      isOffSession,
      minorUnits: minorUnitsOf(totalMicros),
      createdMs: this.nowMs,
      status,
      feeKnownMs: this.nowMs + feeDelayMs,
      refunds: [],
      disputes: [],
    };
    this.intents.set(intent.id, intent);
    return intent;
  }

  /** @returns undefined when it is rejected: for a disputed payment, and for more than is left */
  protected makeRefund(intent: Intent, refund: Pick<Refund, "minorUnits" | "refundId">): Refund | undefined {
    const isDisputed = intent.disputes.some(({ status }) => status !== "won");
    if (isDisputed || refund.minorUnits > this.leftOf(intent)) return undefined;
    const made: Refund = { id: this.newId("re"), ...refund, status: "succeeded" };
    intent.refunds.push(made);
    this.#notify(intent);
    const { random, time } = this.lambda;
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

  protected isOpen({ expiresMs, intentId }: Session): boolean {
    return intentId === undefined && this.nowMs < expiresMs;
  }

  protected intentOf(id: string): Intent {
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
    const isNamed = this.lambda.random() < 0.5;
    this.observer.tells(isNamed ? noticeOf(intent) : { providerPaymentId: intent.id });
  }

  protected get nowMs(): number {
    return this.lambda.time.nowMs;
  }

  protected newId(prefix: string): string {
    this.#ids += 1;
    return `${prefix}_${this.#ids}`;
  }
}

/** Returns a notice that names the payment of the gateway too. */
export function noticeOf({ id, organizationId, paymentId }: Intent): ProviderNotice {
  return { providerPaymentId: id, organizationId, paymentId };
}
