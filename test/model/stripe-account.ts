import { StripeAccount } from "../../infra/local/stripe/account.ts";
import { StripeApi } from "../../infra/local/stripe/api.ts";
import { problems, testCards } from "../../infra/local/stripe/cards.ts";
import { StripeApiError, type StripeEvent } from "../../infra/local/stripe/object-store.ts";
import type { Charge, PaymentIntent } from "../../infra/local/stripe/objects.ts";
import { refundOf, stripeEvents } from "../../shared/money/payments/stripe-state.ts";
import { hourMs, minuteMs } from "../../shared/platform/clock.ts";
import { oneOf } from "../chaos/random.ts";
import type { Lambda } from "./lambda.ts";

const accepted = "4242424242424242";
const declined = "4000000000000002";

/** The cards that pay at a checkout. The effects of some of them follow later. */
const numbers = [
  ...Array.from({ length: 4 }, () => accepted),
  ...testCards.map(({ number }) => number).filter((number) => number !== declined),
];

const expiry = { exp_month: 12, exp_year: 2040 };
const holder = { name: "Ada", email: null, address: { country: "DE" } };

/** A payment at Stripe, with what followed. Amounts are in minor units. */
export interface Paid {
  readonly id: string;
  readonly organizationId: string;
  readonly paymentId: string;
  readonly isPaid: boolean;
  readonly minorUnits: number;
  readonly fee: number;
  readonly charge: string | null;
  readonly refunds: readonly ReturnType<typeof refundOf>[];
  readonly disputes: readonly { readonly id: string; readonly minorUnits: number; readonly status: string }[];
}

interface Options {
  readonly name: string;
  readonly secretKey: string;
  /** Receives the events that the gateway subscribes to. */
  readonly deliver: (body: string, account: ModelAccount) => void;
}

/** An account at the local Stripe: customers pay there, banks decide, and the operator refunds. */
export class ModelAccount {
  readonly api: StripeApi;
  readonly secretKey: string;
  readonly webhookSecret: string;
  readonly #account: StripeAccount;
  readonly #lambda: Lambda;
  readonly #deliver: Options["deliver"];
  /** When the payments of the gateway were paid. */
  readonly #paidMs = new Map<string, number>();
  #ids = 0;

  constructor(lambda: Lambda, { name, secretKey, deliver }: Options) {
    this.#lambda = lambda;
    this.#deliver = deliver;
    this.secretKey = secretKey;
    this.webhookSecret = `whsec_${name}`;
    const newId = (prefix: string): string => `${prefix}_${name}${(this.#ids += 1)}`;
    // In some schedules, refunds and disputes follow long after what causes them.
    const laterSeconds = oneOf(lambda.random, [2, 2, 60, 3_600, 86_400]);
    const world = { now: () => lambda.time.nowMs, newId, emit: this.#emit.bind(this), laterSeconds };
    this.#account = new StripeAccount(world, "https://checkout.example");
    this.api = new StripeApi(this.#account, new Map());
  }

  advance(): void {
    this.#account.advance();
  }

  /** Enters a card on a page, after one that was declined in some cases. @returns whether the page was open */
  enterCard(url: string): boolean {
    const { random } = this.#lambda;
    const session = this.#account.objects.find(url.slice(url.lastIndexOf("/") + 1));
    this.advance();
    if (session?.object !== "checkout.session" || session.status !== "open") return false;
    if (session.mode === "payment" && random() < 0.2)
      this.#account.enterCard(session.id, declined, expiry, holder);
    this.#account.enterCard(session.id, oneOf(random, numbers), expiry, holder);
    if (this.#account.intentOf(session)?.status === "requires_action")
      this.#account.authenticate(session.id, true);
    return true;
  }

  /** The operator refunds a part of a payment at Stripe, which rejects it in some states. */
  refund({ id, ...paid }: Paid, share: number): void {
    const amount = Math.max(1, Math.floor(leftOf(paid) * share));
    try {
      this.#account.createRefund({ payment_intent: id, amount, metadata: {} });
    } catch (error) {
      if (!(error instanceof StripeApiError)) throw error;
    }
  }

  /** A bank takes the rest of a payment back, and decides later. */
  dispute(paid: Paid): void {
    if (leftOf(paid) === 0 || paid.disputes.length > 0 || paid.charge === null) return;
    const { id } = this.#account.openDispute(paid.charge);
    const verdict = oneOf(this.#lambda.random, ["won", "lost", "open"] as const);
    const close = (status: "lost" | "won"): void => {
      this.#lambda.time.after(this.#lambda.random() * 20 * hourMs, () => {
        this.#account.closeDispute(id, status);
        // An appeal.
        if (status === "lost" && this.#lambda.random() < 0.3) close("won");
      });
    };
    if (verdict !== "open") close(verdict);
  }

  /** The payments that the gateway made. */
  paid(): Paid[] {
    const { objects } = this.#account;
    const refunds = Map.groupBy(objects.all("refund"), (each) => each.payment_intent);
    const disputes = Map.groupBy(objects.all("dispute"), (each) => each.payment_intent);
    return objects.all("payment_intent").map((intent) => ({
      id: intent.id,
      organizationId: intent.metadata["organizationId"] ?? "",
      paymentId: intent.metadata["paymentId"] ?? "",
      isPaid: intent.status === "succeeded",
      minorUnits: intent.amount,
      fee: feeOf(intent, this.#account),
      charge: intent.latest_charge,
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The local objects have what is read.
      refunds: (refunds.get(intent.id) ?? []).map((each) => refundOf(each as never)),
      disputes: (disputes.get(intent.id) ?? []).map(({ id, amount, status }) => ({
        id,
        minorUnits: amount,
        status: status === "needs_response" ? "open" : status,
      })),
    }));
  }

  /** Whether a payment of the gateway was paid a while ago. */
  wasPaid(paymentId: string): boolean {
    return (this.#paidMs.get(paymentId) ?? Infinity) < this.#lambda.time.nowMs - 10 * minuteMs;
  }

  /** Banks approve some charges of saved cards only after a while, and Stripe knows some fees later. */
  #emit(event: StripeEvent): void {
    const { random, time } = this.#lambda;
    const { objects } = this.#account;
    const { id = "", metadata } = Object(event.data.object);
    if (event.type === "payment_intent.succeeded") {
      const intent = objects.get("payment_intent", id);
      const charge = objects.get("charge", intent.latest_charge ?? "");
      const { balance_transaction: fee } = charge;
      if (random() < 0.2) {
        charge.balance_transaction = null;
        time.after(10 * minuteMs, () => {
          charge.balance_transaction = fee;
        });
      }
      if (metadata.isOffSession === "true" && random() < 0.15) return this.#process(intent, charge);
      this.#paidMs.set(String(metadata.paymentId), time.nowMs);
    }
    if (stripeEvents.some((type) => type === event.type)) this.#deliver(JSON.stringify(event), this);
  }

  /** Lets the bank decide later about a charge. */
  #process(intent: PaymentIntent, charge: Charge): void {
    const { random, time } = this.#lambda;
    Object.assign(intent, { status: "processing", amount_received: 0, latest_charge: null });
    time.after(random() * hourMs, () => {
      const isPaid = random() < 0.6;
      if (isPaid) {
        Object.assign(intent, {
          status: "succeeded",
          amount_received: intent.amount,
          latest_charge: charge.id,
        });
        this.#paidMs.set(intent.metadata["paymentId"] ?? "", time.nowMs);
      } else {
        Object.assign(charge, { paid: false, status: "failed" });
        Object.assign(intent, { status: "requires_payment_method", last_payment_error: problems.declined });
      }
      this.#account.objects.emit("charge.updated", charge);
    });
  }
}

/** The part that was neither refunded nor is disputed. */
function leftOf({ minorUnits, refunds, disputes }: Omit<Paid, "id">): number {
  const gone = [...refunds, ...disputes].filter(({ status }) => status !== "failed" && status !== "won");
  return gone.reduce((left, each) => left - each.minorUnits, minorUnits);
}

function feeOf({ latest_charge }: PaymentIntent, { objects }: StripeAccount): number {
  const charge = objects.find(latest_charge ?? "");
  const fee = charge?.object === "charge" ? objects.find(charge.balance_transaction ?? "") : undefined;
  return fee?.object === "balance_transaction" ? fee.fee : 0;
}
