import { Stripe } from "stripe";

import { cancelPayment } from "../../shared/money/payments/cancel.ts";
import { createPayment } from "../../shared/money/payments/create.ts";
import { getPayment } from "../../shared/money/payments/get.ts";
import {
  addPaymentMethod,
  listPaymentMethods,
  removePaymentMethod,
} from "../../shared/money/payments/methods.ts";
import { receiveEvent } from "../../shared/money/payments/receive-event.ts";
import { setAutoRecharge } from "../../shared/money/payments/recharge.ts";
import { PaymentRecord } from "../../shared/money/payments/record.ts";
import { recordRefund } from "../../shared/money/payments/refund.ts";
import { recordTransfer } from "../../shared/money/payments/transfer.ts";
import { hourMs, minuteMs } from "../../shared/platform/clock.ts";
import { newId } from "../../shared/platform/ids.ts";
import { between, oneOf, type Random } from "../chaos/random.ts";
import type { QueueWorker } from "./lambda.ts";
import type { MemoryTable } from "./memory-table.ts";
import { recordsOf } from "./records.ts";
import type { MoneyPath } from "./simulation.ts";
import type { ModelAccount, Paid } from "./stripe-account.ts";
import type { StripeConnection } from "./stripe-connection.ts";
import type { Observe } from "./trace.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** The customers of the model of payments. */
export const organizationIds = ["org_01J00000000000000000000000", "org_01J00000000000000000000001"] as const;

/** The actions of a schedule. Each kind happens as often as it is named. */
const kinds = [
  "checkout",
  "checkout",
  "saved card",
  "saved card",
  "announced transfer",
  "transfer",
  "refund",
  "refund",
  "refund there",
  "dispute",
  "dispute",
  "send",
  "send",
  "send",
  "send",
  "auto-recharge",
  "auto-recharge",
  "remove card",
  "look",
  "cancel",
  "outage",
  "other keys",
] as const;
type Kind = (typeof kinds)[number];

/** An action of a customer or operator, or an event that Stripe delivers. */
export type Action =
  | { readonly kind: Kind; readonly organizationId: string }
  | { readonly kind: "event"; readonly body: string; readonly secret: string }
  | { readonly kind: "record transfer"; readonly transfer: Parameters<typeof recordTransfer>[0] }
  | { readonly kind: "record refund"; readonly refund: Parameters<typeof recordRefund> };

interface Parts {
  readonly random: Random;
  readonly time: VirtualTime;
  readonly table: MemoryTable;
  readonly stripe: StripeConnection;
  /** The queue of what people do. */
  readonly people: () => QueueWorker;
  /** Chooses the release of a function call. */
  readonly release: () => MoneyPath;
  readonly observe: Observe | undefined;
}

/** Customers and the operator, who pay, refund and send at any time, and the bank. */
export class PaymentActions {
  /** The actions that happened, and how often. */
  readonly seen = new Map<string, number>();
  readonly #parts: Parts;
  /** The last payment that a customer began. */
  readonly #started = new Map<string, string>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Plans an action. Customers and operators act at the same time, and some actions happen again. */
  plan(afterMs: number): void {
    const kind = oneOf(this.#parts.random, kinds);
    const organizationId = this.#parts.random() < 0.7 ? organizationIds[0] : organizationIds[1];
    const times = this.#parts.random() < 0.3 ? between(this.#parts.random, 2, 4) : 1;
    for (let index = 0; index < times; index += 1) this.put({ kind, organizationId }, afterMs + this.soon());
  }

  /** A delay after which two actions meet, or in some cases not quite. */
  soon(): number {
    return this.#parts.random() * (this.#parts.random() < 0.7 ? 100 : minuteMs);
  }

  /** Lets people do something after a delay. */
  put(action: Action, afterMs = 0): void {
    this.#parts.people().put(JSON.stringify(action), afterMs);
  }

  async do(action: Action): Promise<void> {
    this.#parts.observe?.(`${this.#parts.time.nowMs} ${JSON.stringify(action)}`);
    this.#see(action.kind);
    switch (action.kind) {
      case "event":
        await receiveEvent(action.body, signatureOf(action));
        return;
      case "record transfer":
        await recordTransfer(action.transfer);
        return;
      case "record refund":
        await recordRefund(...action.refund);
        return;
      case "checkout":
        return this.#checkOut(action.organizationId);
      case "saved card": {
        const [{ id: paymentMethodId } = {}] = await listPaymentMethods(action.organizationId);
        if (paymentMethodId === undefined) return;
        const request = { amount: this.#amount(), method: "card", saveCard: false, paymentMethodId } as const;
        const { id } = await createPayment(action.organizationId, request);
        this.#started.set(action.organizationId, id);
        return;
      }
      case "announced transfer": {
        const request = { amount: this.#amount(), method: "bank_transfer", saveCard: false } as const;
        const { id: paymentId, amount } = await createPayment(action.organizationId, request);
        this.#recordTransfer({ organizationId: action.organizationId, amount, paymentId });
        return;
      }
      case "transfer":
        this.#recordTransfer({ organizationId: action.organizationId, amount: this.#amount() });
        return;
      case "refund":
        return this.#refund(action.organizationId);
      case "refund there": {
        const share = this.#parts.random() < 0.3 ? 1 : this.#parts.random();
        this.#withSomePaid(action.organizationId, (account, paid) => account.refund(paid, share));
        return;
      }
      case "dispute":
        this.#withSomePaid(action.organizationId, (account, paid) => account.dispute(paid));
        return;
      case "send":
        await this.#parts.release().sendBlock(action.organizationId, between(this.#parts.random, 1, 8));
        return;
      case "auto-recharge":
        await setAutoRecharge(action.organizationId, {
          isEnabled: this.#parts.random() < 0.85,
          threshold: between(this.#parts.random, 1, 15),
          amount: between(this.#parts.random, 100, 1_500) / 100,
          monthlyCap: between(this.#parts.random, 15, 45),
        });
        return;
      case "remove card": {
        const card = (await listPaymentMethods(action.organizationId)).at(-1);
        if (card !== undefined) await removePaymentMethod(action.organizationId, card.id);
        if (this.#parts.random() < 0.8) await this.saveCard(action.organizationId);
        return;
      }
      case "look": {
        const { organizationId } = action;
        const paymentId = this.#started.get(organizationId);
        if (paymentId !== undefined) await getPayment({ organizationId, paymentId });
        return;
      }
      case "cancel": {
        const { organizationId } = action;
        const paymentId = this.#started.get(organizationId);
        if (paymentId !== undefined) await cancelPayment({ organizationId, paymentId });
        return;
      }
      case "outage":
        this.#parts.stripe.outageUntilMs = this.#parts.time.nowMs + this.#parts.random() * 3 * hourMs;
        return;
      case "other keys": {
        const [main, other] = this.#parts.stripe.accounts;
        this.#parts.stripe.use(other);
        this.#parts.time.after(this.#parts.random() * 3 * hourMs, () => this.#parts.stripe.use(main));
      }
    }
  }

  async saveCard(organizationId: string): Promise<void> {
    const { checkoutUrl } = await addPaymentMethod(organizationId, {});
    this.#parts.stripe.enterCard(checkoutUrl);
  }

  /** A customer opens a checkout, and pays there, sometimes late, or never. */
  async #checkOut(organizationId: string): Promise<void> {
    const saveCard = this.#parts.random() < 0.5;
    const request = { amount: this.#amount(), method: "card", saveCard } as const;
    const { id, checkoutUrl = "" } = await createPayment(organizationId, request);
    this.#started.set(organizationId, id);
    if (this.#parts.random() < 0.25) return;
    this.#parts.time.after(this.#parts.random() ** 3 * 1.1 * hourMs, () =>
      this.#pay(checkoutUrl, organizationId),
    );
  }

  /** The customer returns to the gateway after the payment, or closes the page. */
  #pay(url: string, organizationId: string): void {
    if (!this.#parts.stripe.enterCard(url)) return;
    this.#see("paid");
    if (this.#parts.random() < 0.5) this.put({ kind: "look", organizationId }, this.soon());
  }

  /** The operator records a transfer, at the same time as a colleague in some cases. */
  #recordTransfer({
    amount,
    ...others
  }: {
    organizationId: string;
    amount: number;
    paymentId?: string;
  }): void {
    if (this.#parts.random() < 0.2) return;
    const isNamed = this.#parts.random() < 0.7;
    const { paymentId, organizationId } = others;
    const reference = this.#parts.random() < 0.05 ? "bank-first" : newId("txn");
    const transfer = {
      organizationId,
      amountMicros: Math.round(amount * 1e6),
      reference,
      reason: "Bank transfer",
      ...(isNamed && paymentId !== undefined ? { paymentId } : {}),
    };
    const afterMs = this.#parts.random() * 2 * hourMs;
    const times = this.#parts.random() < 0.5 ? 2 : 1;
    for (let index = 0; index < times; index += 1)
      this.put({ kind: "record transfer", transfer }, afterMs + this.soon());
  }

  #refund(organizationId: string): void {
    const paid = recordsOf(this.#parts.table, PaymentRecord, "payment").filter(
      (payment) => payment.organizationId === organizationId && payment.status === "succeeded",
    );
    if (paid.length === 0) return;
    const { id: paymentId, amountMicros } = oneOf(this.#parts.random, paid);
    const share = Math.max(10_000, Math.round((amountMicros * this.#parts.random()) / 10_000) * 10_000);
    const amount = this.#parts.random() < 0.3 ? {} : { amountMicros: share };
    const refund = { id: newId("txn").replace("txn", "rfd"), reason: "Refund", ...amount };
    const action: Action = { kind: "record refund", refund: [{ organizationId, paymentId }, refund] };
    this.put(action);
    if (this.#parts.random() < 0.3) this.put(action, this.soon());
  }

  /** Whether an error needs no other attempt by its caller. */
  isExpected({ kind }: Action, error: unknown): boolean {
    if (!(error instanceof Error)) throw error;
    this.#parts.observe?.(`${this.#parts.time.nowMs} ${kind} failed: ${error.message}`);
    const isUnknown = error.name === "Fallible" || /UNAVAILABLE/.test(String(Object(error).code));
    if (kind === "event" || kind === "record transfer" || kind === "record refund") return !isUnknown;
    return true;
  }

  #withSomePaid(organizationId: string, act: (account: ModelAccount, paid: Paid) => void): void {
    const paid = this.#parts.stripe.accounts.flatMap((account) =>
      account.paid().flatMap((each) => {
        const isWanted = each.isPaid && each.organizationId === organizationId;
        return isWanted ? [() => act(account, each)] : [];
      }),
    );
    if (paid.length > 0) oneOf(this.#parts.random, paid)();
  }

  #amount(): number {
    return between(this.#parts.random, 100, 3_000) / 100;
  }

  /** Customers confirm some of the payments that they got an email about. */
  followEmails(): void {
    for (const payment of recordsOf(this.#parts.table, PaymentRecord, "payment")) {
      const { status, failure, checkoutUrl, organizationId } = payment;
      const isAsked = status === "pending" && failure === "authentication_required";
      if (isAsked && checkoutUrl !== undefined && this.#parts.random() < 0.05)
        this.#pay(checkoutUrl, organizationId);
    }
  }

  #see(what: string): void {
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1);
  }
}

function signatureOf({ body: payload, secret }: { readonly body: string; readonly secret: string }): string {
  return Stripe.webhooks.generateTestHeaderString({ payload, secret });
}
