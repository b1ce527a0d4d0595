import { behaviorOf, problems } from "./cards.ts";
import { ObjectStore, published, StripeApiError, unexpectedState, type StripeWorld } from "./object-store.ts";
import * as make from "./objects.ts";
import type {
  CardProblem,
  Charge,
  ObjectOf,
  PaymentIntent,
  Session,
  SetupIntent,
  StripeObject,
} from "./objects.ts";
import type { PaymentParams, RefundParams, SessionParams } from "./params.ts";

const disputeFee = 1_500;

/** The fee of a payment: 2.9 % and 30 minor units. */
function feeOf(amount: number): number {
  return Math.round(amount * 0.029) + 30;
}

/**
 * An account at Stripe in test mode, and the banks of its customers. It does not know HTTP. The objects that it returns
 * change later; `published` copies one.
 */
export class StripeAccount {
  readonly objects: ObjectStore;
  readonly #checkoutUrl: string;

  /**
   * @param checkoutUrl the address of the checkout pages, to which a session adds its id
   * @param objects those of an earlier account that continues
   */
  constructor(world: StripeWorld, checkoutUrl: string, objects: readonly StripeObject[] = []) {
    this.objects = new ObjectStore(world, objects);
    if (this.objects.all("account").length === 0)
      this.objects.add(make.newAccount(this.objects.base("acct")));
    this.#checkoutUrl = checkoutUrl;
  }

  createCustomer(fields: Parameters<typeof make.newCustomer>[1]): StripeObject {
    return this.objects.add(make.newCustomer(this.objects.base("cus"), fields));
  }

  createSession(params: SessionParams): Session {
    const { objects } = this;
    if (params.customer !== null) objects.get("customer", params.customer, "customer");
    const currencies = new Set(params.line_items.map(({ price_data }) => price_data.currency));
    if (currencies.size !== (params.mode === "payment" ? 1 : 0)) {
      throw new StripeApiError("A payment requires `line_items` in one currency.", { param: "line_items" });
    }
    const session = make.newSession(objects.base("cs_test"), params, this.#checkoutUrl);
    const lifeSeconds = session.expires_at - session.created;
    if (lifeSeconds < 1_800 || lifeSeconds > 86_400) {
      const message =
        "The `expires_at` timestamp must be 30 minutes to 24 hours from Checkout Session creation.";
      throw new StripeApiError(message, { param: "expires_at" });
    }
    if (params.mode === "setup") {
      const fields = { customer: params.customer, metadata: params.setup_intent_data.metadata };
      session.setup_intent = objects.add(make.newSetupIntent(objects.base("seti"), fields)).id;
    }
    return objects.add(session);
  }

  expireSession(id: string): Session {
    const session = this.#openSession(id);
    const intent = this.intentOf(session);
    if (intent !== undefined) this.#cancel(intent);
    session.status = "expired";
    session.url = null;
    this.objects.emit("checkout.session.expired", session);
    return session;
  }

  /** Pays on the checkout page, or saves the card. Afterwards the session is complete, or its intent has the problem. */
  enterCard(sessionId: string, number: string, expiry: make.Expiry, billing: make.BillingDetails): Session {
    const session = this.#openSession(sessionId);
    const intent = this.intentOf(session) ?? this.#addIntent(session);
    session.customer_details = billing;
    const card = { ...expiry, last4: number.slice(-4) };
    intent.payment_method = this.objects.add(
      make.newPaymentMethod(this.objects.base("pm"), card, billing),
    ).id;
    const behavior = behaviorOf(number);
    if (behavior === undefined) this.#fail(intent, problems.noTestCard);
    else if (behavior === "decline") this.#fail(intent, problems.declined);
    else if (behavior === "require the cardholder") intent.status = "requires_action";
    else this.#complete(session, intent);
    return session;
  }

  /** Ends the authentication that the bank requires. */
  authenticate(sessionId: string, isCardholder: boolean): Session {
    const session = this.#openSession(sessionId);
    const intent = this.intentOf(session);
    if (intent?.status !== "requires_action") throw unexpectedState("It requires no authentication.");
    if (isCardholder) this.#complete(session, intent);
    else this.#fail(intent, problems.notAuthenticated);
    return session;
  }

  intentOf({ payment_intent, setup_intent }: Session): PaymentIntent | SetupIntent | undefined {
    if (setup_intent !== null) return this.objects.get("setup_intent", setup_intent);
    return payment_intent === null ? undefined : this.objects.get("payment_intent", payment_intent);
  }

  /** Charges a saved card without the cardholder. */
  createPayment(params: PaymentParams): PaymentIntent {
    const { objects } = this;
    const method = objects.get("payment_method", params.payment_method, "payment_method");
    if (method.customer === null || method.customer !== params.customer) {
      const fields = { code: "resource_missing", param: "payment_method" };
      throw new StripeApiError(`The customer has no payment method ${method.id}.`, fields);
    }
    const intent = objects.add(make.newPaymentIntent(objects.base("pi"), params));
    intent.payment_method = method.id;
    const behavior = behaviorOf(method.card.last4);
    if (behavior !== "decline later" && behavior !== "require the cardholder") return this.#charge(intent);
    const problem = behavior === "decline later" ? problems.declined : problems.cardholderAbsent;
    this.#fail(intent, problem);
    const charge = intent.latest_charge;
    throw new StripeApiError(problem.message, { ...problem, charge, payment_intent: published(intent) }, 402);
  }

  cancelPayment(id: string): PaymentIntent {
    const intent = this.objects.get("payment_intent", id);
    if (this.objects.all("checkout.session").some((session) => session.payment_intent === id)) {
      throw unexpectedState("Checkout created this PaymentIntent. Expire the Checkout Session instead.");
    }
    if (intent.status === "canceled" || intent.status === "succeeded") {
      throw unexpectedState(`You cannot cancel a PaymentIntent with a status of ${intent.status}.`);
    }
    return this.#cancel(intent);
  }

  /** Pays back a part of a payment, by default all that is left of it. */
  createRefund({ payment_intent, amount, metadata }: RefundParams): ObjectOf<"refund"> {
    const { objects } = this;
    const { status, latest_charge } = objects.get("payment_intent", payment_intent, "payment_intent");
    if (status !== "succeeded" || latest_charge === null) {
      throw new StripeApiError(`This PaymentIntent (${payment_intent}) has no successful charge to refund.`);
    }
    const charge = objects.get("charge", latest_charge);
    if (objects.all("dispute").some((each) => each.charge === charge.id && each.status !== "won")) {
      throw new StripeApiError(`Charge ${charge.id} has been charged back.`, { code: "charge_disputed" });
    }
    const left = charge.amount - charge.amount_refunded;
    const refunded = amount ?? left;
    if (left === 0 || refunded > left) {
      const fields = left === 0 ? { code: "charge_already_refunded" } : { param: "amount" };
      throw new StripeApiError(`Only ${left} of the charge ${charge.id} can be refunded.`, fields);
    }
    const refund = objects.add(make.newRefund(objects.base("re"), charge, refunded, metadata));
    if (this.#behavior(charge) === "delay refunds") refund.status = "pending";
    refund.balance_transaction = objects.move(refund, "refund", -refund.amount).id;
    make.setRefunded(charge, charge.amount_refunded + refund.amount);
    objects.emit("refund.created", refund);
    objects.emit("charge.refunded", charge);
    return refund;
  }

  /** Lets the cardholder dispute what is left of a payment. */
  openDispute(chargeId: string): ObjectOf<"dispute"> {
    const { objects } = this;
    const charge = objects.get("charge", chargeId);
    const dispute = objects.add(make.newDispute(objects.base("dp"), charge));
    dispute.balance_transactions.push(objects.move(dispute, "adjustment", -dispute.amount, disputeFee));
    charge.disputed = true;
    objects.emit("charge.dispute.created", dispute);
    return dispute;
  }

  /** Lets the bank decide a dispute, or an appeal after it was lost. A won one returns the money without the fee. */
  closeDispute(id: string, status: "lost" | "won"): ObjectOf<"dispute"> {
    const dispute = this.objects.get("dispute", id);
    const isAppeal = dispute.status === "lost" && status === "won";
    if (dispute.status !== "needs_response" && !isAppeal) {
      throw new StripeApiError(`This dispute is already ${dispute.status}.`);
    }
    dispute.status = status;
    if (status === "won") {
      dispute.balance_transactions.push(this.objects.move(dispute, "adjustment", dispute.amount));
    }
    this.objects.emit("charge.dispute.closed", dispute);
    return dispute;
  }

  detachMethod(id: string): StripeObject {
    const method = this.objects.get("payment_method", id);
    if (method.customer === null) throw new StripeApiError("The payment method has no customer.");
    method.customer = null;
    return method;
  }

  /** Lets everything happen that is due: the ends of checkouts and of refunds, and disputes. */
  advance(): void {
    const { objects } = this;
    const at = objects.seconds();
    const isDue = ({ created }: StripeObject): boolean => created + objects.laterSeconds <= at;
    for (const session of objects.all("checkout.session")) {
      if (session.status === "open" && session.expires_at <= at) this.expireSession(session.id);
    }
    for (const charge of objects.all("charge").filter(isDue)) {
      const isDisputable = charge.paid && !charge.disputed && !charge.refunded;
      if (isDisputable && this.#behavior(charge) === "dispute") this.openDispute(charge.id);
    }
    for (const refund of objects.all("refund").filter(isDue)) {
      const charge = objects.get("charge", refund.charge);
      if (refund.status === "pending") {
        refund.status = "succeeded";
        objects.emit("refund.updated", refund);
      } else if (refund.status === "succeeded" && this.#behavior(charge) === "fail refunds") {
        refund.status = "failed";
        objects.move(refund, "refund_failure", refund.amount);
        make.setRefunded(charge, charge.amount_refunded - refund.amount);
        objects.emit("refund.failed", refund);
      }
    }
  }

  #openSession(id: string): Session {
    const session = this.objects.get("checkout.session", id);
    if (session.status === "open") return session;
    throw new StripeApiError(`This Checkout Session is not open: its status is ${session.status}.`);
  }

  #addIntent(session: Session): PaymentIntent {
    const { customer, amount_total, currency, params } = session;
    const fields = {
      amount: amount_total ?? 0,
      currency: currency ?? "",
      customer,
      ...params.payment_intent_data,
    };
    const intent = this.objects.add(make.newPaymentIntent(this.objects.base("pi"), fields));
    session.payment_intent = intent.id;
    return intent;
  }

  #complete(session: Session, intent: PaymentIntent | SetupIntent): void {
    if (session.mode === "setup" || session.params.payment_intent_data.setup_future_usage !== null) {
      this.objects.get("payment_method", intent.payment_method ?? "").customer = session.customer;
    }
    if (intent.object === "payment_intent") {
      this.#charge(intent);
      session.payment_status = "paid";
    } else {
      intent.status = "succeeded";
      this.objects.emit("setup_intent.succeeded", intent);
    }
    session.status = "complete";
    session.url = null;
    this.objects.emit("checkout.session.completed", session);
  }

  #charge(intent: PaymentIntent): PaymentIntent {
    const { objects } = this;
    const charge = objects.add(make.newCharge(objects.base("ch"), intent));
    charge.balance_transaction = objects.move(charge, "charge", intent.amount, feeOf(intent.amount)).id;
    intent.status = "succeeded";
    intent.amount_received = intent.amount;
    intent.latest_charge = charge.id;
    intent.last_payment_error = null;
    objects.emit("payment_intent.succeeded", intent);
    return intent;
  }

  #fail(intent: PaymentIntent | SetupIntent, problem: CardProblem): void {
    intent.status = "requires_payment_method";
    if (intent.object === "payment_intent") {
      intent.latest_charge = this.objects.add(make.newCharge(this.objects.base("ch"), intent, problem)).id;
      intent.last_payment_error = problem;
    } else {
      intent.last_setup_error = problem;
    }
    intent.payment_method = null;
    const name = intent.object === "payment_intent" ? "payment_failed" : "setup_failed";
    this.objects.emit(`${intent.object}.${name}`, intent);
  }

  #cancel<Intent extends PaymentIntent | SetupIntent>(intent: Intent): Intent {
    intent.status = "canceled";
    this.objects.emit(`${intent.object}.canceled`, intent);
    return intent;
  }

  #behavior({ payment_method }: Charge): ReturnType<typeof behaviorOf> {
    return behaviorOf(this.objects.get("payment_method", payment_method ?? "").card.last4);
  }
}
