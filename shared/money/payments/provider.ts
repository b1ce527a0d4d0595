import type { PaymentFailure, PaymentMethod } from "../../api/contract/payments.ts";
import type { PaymentRecord } from "./record.ts";

/*
 * The port to a payment provider. Amounts are whole numbers of the currency's minor unit, such as cents. All calls throw
 * ProviderUnavailableError when their outcome is unknown or the provider cannot be reached. The caller then repeats them:
 * each call that moves money recognizes an earlier one by our ids.
 */

/** The provider gave no usable response. Nothing in it may reach a customer. */
export class ProviderUnavailableError extends Error {
  override readonly name = "ProviderUnavailableError";
  /**
   * The part of the call that the provider rejects for good. Absent for errors that pass. `account`: the payment belongs to
   * another account than the present keys. `missing`: the account of the keys does not have the object.
   */
  readonly rejected: "account" | "customer" | "missing" | "request" | undefined;

  constructor(message: string, options?: ErrorOptions, rejected?: ProviderUnavailableError["rejected"]) {
    super(message, options);
    this.rejected = rejected;
  }

  /** Recognizes the error by its name, because the adapter is bundled separately and has a class of its own. */
  static isThis(error: unknown): error is ProviderUnavailableError {
    return error instanceof Error && error.name === "ProviderUnavailableError";
  }

  /** Returns what the provider rejects for good; undefined for other errors. */
  static rejectedBy(error: unknown): ProviderUnavailableError["rejected"] {
    return this.isThis(error) ? error.rejected : undefined;
  }
}

/** A payment to charge, and its customer. */
export interface Order {
  readonly payment: PaymentRecord;
  readonly customerId: string;
  readonly returnUrl: string;
  readonly saveCard: boolean;
}

interface Checkout {
  readonly sessionId: string;
  readonly url: string;
  /** ISO 8601. */
  readonly expiresAt: string;
  /** The account that has the page: see `PaymentProvider.account`. */
  readonly account: string | undefined;
}

/** A refund at the provider. */
export interface ProviderRefund {
  readonly id: string;
  /** Our id, if the gateway requested it. */
  readonly refundId?: string | undefined;
  readonly minorUnits: number;
  readonly status: "failed" | "pending" | "succeeded";
}

export interface ProviderDispute {
  readonly id: string;
  readonly minorUnits: number;
  readonly feeMinorUnits: number;
  readonly status: "lost" | "open" | "won";
  /** The provider's word for why the cardholder disputes, and until when an open dispute takes evidence, in ISO 8601. */
  readonly reason?: string | undefined;
  readonly dueAt?: string | undefined;
}

/** The present state of a payment at the provider. */
export interface ProviderPayment {
  /** `unauthenticated`: the bank requires the cardholder, so only a checkout can complete the payment. */
  readonly status: "expired" | "failed" | "pending" | "succeeded" | "unauthenticated";
  /** The provider's id; present when it succeeded. */
  readonly id?: string | undefined;
  readonly failure?: PaymentFailure | undefined;
  /** The paid total, and the currency in upper case. The fee and the disputes are converted to it. */
  readonly minorUnits: number;
  readonly currency: string;
  /** Absent until the provider knows it. */
  readonly feeMinorUnits?: number | undefined;
  readonly refunds: readonly ProviderRefund[];
  readonly disputes: readonly ProviderDispute[];
  /** The account that was read: see `PaymentProvider.account`. */
  readonly account?: string | undefined;
  /** The parts of it that this release does not understand: the operator has to look. */
  readonly unknown?: readonly string[];
}

/** The state of a payment of which nothing has been paid. */
export const unpaid = { minorUnits: 0, refunds: [], disputes: [] } as const;

/** The state of a payment whose saved card does not exist any more. */
export const withoutCard: ProviderPayment = {
  ...unpaid,
  status: "failed",
  failure: "no_payment_method",
  currency: "",
};

/** A payment that something happened to, by our ids if the provider has them. */
export interface ProviderNotice {
  readonly providerPaymentId?: string | undefined;
  readonly organizationId?: string | undefined;
  readonly paymentId?: string | undefined;
}

/** A payment in the provider's list. */
export interface ListedPayment extends ProviderNotice {
  readonly providerPaymentId: string;
  readonly isSuccessful: boolean;
  readonly minorUnits: number;
  readonly currency: string;
  readonly createdAt: string;
  /** The origin, the stage and the terms that the gateway noted. Earlier releases noted only the origin. */
  readonly origin: PaymentRecord["origin"];
  readonly stage?: string | undefined;
  readonly terms?: Pick<PaymentRecord, "amountMicros" | "buyer" | "taxNote" | "taxRate"> | undefined;
}

/**
 * The operator's account at the provider. Each call about a payment is rejected if the present keys are those of another
 * account than the payment has.
 */
export interface PaymentProvider {
  /** Returns the account of the present keys with its mode; undefined if the keys may not read it. */
  account(): Promise<string | undefined>;
  /** Makes the customer of an organization, once, and another one after the provider lost `lostId`. @returns their id */
  createCustomer(organizationId: string, lostId?: string): Promise<string>;
  /** Opens a page on which a customer pays. */
  createCheckout(order: Order): Promise<Checkout>;
  /** Closes that page. One that was paid or closed stays as it is. */
  closeCheckout(payment: PaymentRecord): Promise<void>;
  /** Opens a page on which a customer saves a card. @returns its URL */
  createSetup(organizationId: string, customerId: string, returnUrl: string): Promise<string>;
  /** Charges a saved card without the cardholder, unless the payment has ended. A repetition returns the first charge. */
  charge(order: Omit<Order, "returnUrl" | "saveCard">): Promise<ProviderPayment>;
  /** Reads the state of a payment by its session or its id. */
  read(payment: PaymentRecord): Promise<ProviderPayment>;
  /** Pays back a part of a payment. A repeated call with the same `refundId` returns the first refund. */
  refund(payment: PaymentRecord, refundId: string, minorUnits: number): Promise<ProviderRefund>;
  listMethods(customerId: string): Promise<Omit<PaymentMethod, "isUsedForAutoRecharge">[]>;
  /** @returns false when the customer has no such card */
  removeMethod(customerId: string, methodId: string): Promise<boolean>;
  /** Reads a payment of the provider with what the gateway noted with it. */
  identify(providerPaymentId: string): Promise<ListedPayment>;
  /** Lists the payments of an account that were made since a moment. Rejected if the keys are of another one meanwhile. */
  paymentsSince(since: Date, account: string | undefined): AsyncGenerator<ListedPayment>;
  /** Lists the payments with a refund or dispute that was made since a moment. */
  changesSince(since: Date): AsyncGenerator<ProviderNotice>;
  /**
   * Verifies the signature of an event, and finds the payment that it is about.
   * @returns `unsigned` for a wrong signature; undefined for an event that concerns no payment
   */
  readEvent(rawBody: string, signature: string): Promise<ProviderNotice | "unsigned" | undefined>;
}
