import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { DocumentRecord } from "../../shared/money/invoices/record.ts";
import { BillingRecord } from "../../shared/money/payments/billing-record.ts";
import { PaymentRecord, type RefundRecord } from "../../shared/money/payments/record.ts";
import { LedgerEntryRecord } from "../../shared/money/wallet/ledger.ts";
import { microsOfMinorUnits } from "../../shared/money/wallet/money.ts";
import { WalletRecord } from "../../shared/money/wallet/record.ts";
import { dayMs } from "../../shared/platform/clock.ts";
import type { MemoryBucket } from "./documents.ts";
import type { MemoryTable } from "./memory-table.ts";
import { recordsOf } from "./records.ts";
import type { Paid } from "./stripe-account.ts";
import type { StripeConnection } from "./stripe-connection.ts";
import { rechargesOf, type WriteChecks } from "./write-checks.ts";

/** The facts that the check compares. */
interface World {
  readonly table: MemoryTable;
  readonly bucket: MemoryBucket;
  readonly stripe: StripeConnection;
  readonly checks: WriteChecks;
  readonly nowMs: number;
}

/** The check of the books when all is at rest. */
export class PaymentVerdict {
  readonly #table: MemoryTable;
  readonly #bucket: MemoryBucket;
  readonly #paid: readonly Paid[];
  readonly #checks: WriteChecks;
  readonly #nowMs: number;
  readonly #problems: string[] = [];
  readonly #payments: readonly PaymentRecord[];
  readonly #entries: readonly LedgerEntryRecord[];
  readonly #documents: readonly DocumentRecord[];
  /** The references of the ledger that were explained. */
  readonly #explained = new Set<string>();

  constructor({ table, bucket, stripe, checks, nowMs }: World) {
    this.#table = table;
    this.#bucket = bucket;
    this.#paid = stripe.paid();
    this.#checks = checks;
    this.#nowMs = nowMs;
    this.#payments = recordsOf(table, PaymentRecord, "payment");
    this.#entries = recordsOf(table, LedgerEntryRecord, "ledgerEntry");
    this.#documents = recordsOf(table, DocumentRecord, "invoice");
  }

  async problems(organizationIds: readonly string[]): Promise<string[]> {
    for (const paid of this.#paid) this.#checkPaid(paid);
    for (const payment of this.#payments) this.#checkPayment(payment);
    for (const { type, reference = "" } of this.#entries) {
      const isMovement = ["payment", "payment_refund", "chargeback"].includes(type);
      if (isMovement && !this.#explained.has(reference))
        this.#problems.push(`the ledger has ${type} ${reference}, which no one made`);
    }
    this.#checkNumbers();
    this.#checkSums();
    for (const organizationId of organizationIds) {
      const { findings, pending } = await verifyWallet(organizationId);
      this.#problems.push(...findings, ...pending);
      this.#checkRecharges(organizationId);
    }
    return this.#problems;
  }

  /** A payment at the provider has exactly its effects in the gateway. */
  #checkPaid(paid: Paid): void {
    const { id, paymentId, isPaid, fee, refunds, disputes } = paid;
    const payment = this.#payments.find((each) => each.id === paymentId);
    if (!isPaid) {
      if (payment?.providerPaymentId === id) this.#problems.push(`${id} did not succeed, and is credited`);
      return;
    }
    if (payment?.providerPaymentId !== id || payment.totalMicros !== microsOf(paid)) {
      this.#problems.push(
        `${id} of ${paymentId} succeeded, and is not its payment: charged without a credit`,
      );
      return;
    }
    if (payment.feeMicros !== fee * 10_000) this.#problems.push(`the fee of ${id} is wrong`);
    for (const refund of refunds) {
      const known = payment.refunds.filter((each) => each.providerRefundId === refund.id);
      const isUnseen = known.length === 0 && refund.status === "failed" && refund.refundId === undefined;
      if (isUnseen) continue;
      const [only] = known;
      const isRight =
        known.length === 1 && only?.status === refund.status && only.totalMicros === microsOf(refund);
      if (!isRight)
        this.#problems.push(
          `the refund ${JSON.stringify(refund)} of ${paymentId} is ${JSON.stringify(known)}`,
        );
    }
    if (payment.disputes.length !== disputes.length)
      this.#problems.push(`${paymentId} has ${payment.disputes.length} disputes of ${disputes.length}`);
    for (const dispute of disputes) {
      const known = payment.disputes.find((each) => each.id === dispute.id);
      if (known?.status !== dispute.status || known.totalMicros !== microsOf(dispute))
        this.#problems.push(`the dispute ${dispute.id} is ${dispute.status}, and known as ${known?.status}`);
    }
  }

  #checkPayment(payment: PaymentRecord): void {
    const { id, provider, status, providerPaymentId = "", amountMicros, refunds, disputes } = payment;
    this.#checkRest(payment);
    if (status !== "succeeded") {
      if (refunds.length + disputes.length > 0) this.#problems.push(`${id} is ${status}, and was refunded`);
      return;
    }
    if (provider === "stripe" && !this.#paid.some((paid) => paid.id === providerPaymentId))
      this.#problems.push(`${id} was credited for ${providerPaymentId}, which the provider does not have`);
    this.#expect("payment", providerPaymentId, amountMicros);
    if (this.#checks.owed.get(`${id}-received`) !== 1)
      this.#problems.push(`the receipt of ${id} is not owed`);
    for (const refund of refunds) this.#checkRefund(payment, refund);
    for (const { id: disputeId, status: result, amountMicros: held } of disputes) {
      const isUnseen = result === "won" && !this.#entries.some(({ reference }) => reference === disputeId);
      if (isUnseen) continue;
      this.#expect("chargeback", disputeId, -held);
      if (result === "won") this.#expect("chargeback", `${disputeId}-won`, held);
    }
    const gone = [
      ...refunds.filter((each) => each.status !== "failed"),
      ...disputes.filter((each) => each.status !== "won"),
    ];
    const goneMicros = gone.reduce((sum, each) => sum + each.totalMicros, 0);
    const netMicros = gone.reduce((sum, each) => sum + each.amountMicros, 0);
    if (goneMicros > payment.totalMicros || netMicros > amountMicros)
      this.#problems.push(`more went back than ${id} has: ${goneMicros} with tax, ${netMicros} without`);
    if (goneMicros === payment.totalMicros && netMicros !== amountMicros)
      this.#problems.push(`all of ${id} went back, and ${netMicros} of ${amountMicros} left the wallet`);
    this.#checkDocuments(payment);
  }

  /** Nothing waits for work, except for what the customer, the bank or the operator still decides. */
  #checkRest(payment: PaymentRecord): void {
    const { id, status, provider, disputes, pendingWork, visitAt, refunds, unstored } = payment;
    const isAwaited = status === "pending" && (provider === "manual" || this.#isYoung(payment));
    const mayWait = isAwaited || disputes.some((each) => each.status === "open");
    if ((pendingWork !== undefined) !== mayWait || (visitAt !== undefined) !== mayWait)
      this.#problems.push(`${id} is ${status} with pending work ${pendingWork} for ${visitAt}`);
    if (status === "pending" && !isAwaited) this.#problems.push(`${id} is still pending`);
    if (refunds.some((each) => each.status === "pending"))
      this.#problems.push(`a refund of ${id} never ended`);
    if (unstored.length > 0) this.#problems.push(`documents of ${id} are not stored`);
  }

  /** Whether a recharge began so lately that a customer may still have to confirm it. */
  #isYoung({ origin, createdAt }: PaymentRecord): boolean {
    return origin === "auto_recharge" && Date.parse(createdAt) > this.#nowMs - 1.1 * dayMs;
  }

  #checkRefund({ id: paymentId, provider }: PaymentRecord, refund: RefundRecord): void {
    const { id, amountMicros, status, providerRefundId = "" } = refund;
    const type = this.#entries.some((each) => each.reference === id && each.type === "chargeback")
      ? "chargeback"
      : "payment_refund";
    // Only a refund that was made at the provider may exceed the balance of the wallet.
    if (type === "chargeback" && id !== providerRefundId)
      this.#problems.push(`${id} is booked as a chargeback`);
    this.#expect(type, id, -amountMicros);
    if (status === "failed") this.#expect("payment_refund", `${id}-failed`, amountMicros);
    const isMade =
      provider === "manual" ||
      this.#paid.some(
        (paid) =>
          paid.paymentId === paymentId &&
          paid.refunds.filter((each) => each.id === providerRefundId && (each.refundId ?? each.id) === id)
            .length === 1,
      );
    if (status !== "failed" && !isMade)
      this.#problems.push(`the refund ${id} of ${paymentId} was never made`);
  }

  /** The ledger has one entry with this reference. */
  #expect(type: string, reference: string, amountMicros: number): void {
    this.#explained.add(reference);
    const found = this.#entries.filter((each) => each.reference === reference);
    const isRight = found.length === 1 && found[0]?.type === type && found[0].amountMicros === amountMicros;
    if (isRight) return;
    const there = found.map((each) => `${each.type} ${each.amountMicros}`).join(" and ");
    this.#problems.push(`${type} ${reference} of ${amountMicros} is in the ledger as ${there || "nothing"}`);
  }

  /** One invoice for a payment, one credit note for a refund, and another invoice if that failed in the end. */
  #checkDocuments({ id, refunds, amountMicros, totalMicros, invoiceNumber }: PaymentRecord): void {
    const documents = this.#documents.filter(({ paymentId }) => paymentId === id);
    const expected = [
      { kind: "invoice", amountMicros, totalMicros, number: invoiceNumber, refundId: undefined },
      ...refunds.flatMap((refund) => {
        const amounts = {
          amountMicros: refund.amountMicros,
          totalMicros: refund.totalMicros,
          refundId: refund.id,
        };
        const isNoted = refund.creditNote !== undefined;
        return [
          ...(refund.status === "succeeded" || isNoted
            ? [{ ...amounts, kind: "credit_note", number: refund.creditNote }]
            : []),
          ...(refund.status === "failed" && isNoted
            ? [{ ...amounts, kind: "invoice", number: refund.reversal }]
            : []),
        ];
      }),
    ];
    const isComplete = expected.every(({ number, kind, refundId, ...amounts }) => {
      const document = documents.find((each) => each.number === number);
      return (
        document?.kind === kind &&
        document.refundId === refundId &&
        document.amountMicros === amounts.amountMicros &&
        document.totalMicros === amounts.totalMicros &&
        this.#bucket.keys.has(`${document.organizationId}/${number}.pdf`)
      );
    });
    if (documents.length !== expected.length || !isComplete) {
      const numbers = documents.map(({ number }) => number).join(", ");
      this.#problems.push(`the documents of ${id} are ${numbers} of ${JSON.stringify(expected)}`);
    }
  }

  /** The numbers of a kind and year have no gap and no repeat, over all customers. */
  #checkNumbers(): void {
    const series = Map.groupBy(this.#documents, ({ number }) => number.slice(0, "INV-2026".length));
    for (const [name, documents] of series) {
      const numbers = documents
        .map(({ number }) => Number(number.slice(name.length + 1)))
        .toSorted((one, other) => one - other);
      if (numbers.some((number, index) => number !== index + 1))
        this.#problems.push(`the documents ${name} have the numbers ${numbers.join(" ")}`);
      if (documents.some(({ issuedAt }) => issuedAt.slice(0, 4) !== name.slice(-4)))
        this.#problems.push(`a document ${name} is of another year`);
    }
  }

  /** The documents add up to the money that was paid and paid back. */
  #checkSums(): void {
    const paid = this.#paid.filter(({ isPaid }) => isPaid);
    const atProvider = paid.reduce(
      (sum, each) =>
        each.refunds
          .filter(({ status }) => status === "succeeded")
          .reduce((left, refund) => left - microsOf(refund), sum + microsOf(each)),
      0,
    );
    const manual = this.#payments
      .filter(({ provider, status }) => provider === "manual" && status === "succeeded")
      .reduce(
        (sum, { totalMicros, refunds }) =>
          refunds.reduce((left, each) => left - each.totalMicros, sum + totalMicros),
        0,
      );
    const documented = this.#documents.reduce(
      (sum, { kind, totalMicros }) => sum + (kind === "invoice" ? totalMicros : -totalMicros),
      0,
    );
    if (documented !== atProvider + manual)
      this.#problems.push(
        `the documents add up to ${documented}, and the payments to ${atProvider + manual}`,
      );
  }

  /** No recharge is left open, the counters are right, and the wallet has the threshold of the settings. */
  #checkRecharges(organizationId: string): void {
    const wallet = recordsOf(this.#table, WalletRecord, "wallet").find(
      (each) => each.organizationId === organizationId,
    );
    const billing = recordsOf(this.#table, BillingRecord, "billing").find(
      (each) => each.organizationId === organizationId,
    );
    const { autoRecharge, rechargeMonth, rechargedMicros = 0 } = billing ?? {};
    const recharges = rechargesOf(this.#table, organizationId);
    const present = recharges.find(({ status }) => status === "pending");
    if (wallet?.rechargeId !== present?.id && wallet !== undefined)
      this.#problems.push(`the recharge ${wallet.rechargeId} of ${organizationId} never ended`);
    const threshold = autoRecharge?.isEnabled === true ? autoRecharge.thresholdMicros : undefined;
    if (wallet?.rechargeBelowMicros !== threshold)
      this.#problems.push(`the wallet recharges below ${wallet?.rechargeBelowMicros}, and not ${threshold}`);
    const counted = recharges
      .filter(
        ({ status, createdAt }) =>
          status !== "failed" && status !== "expired" && createdAt.startsWith(rechargeMonth ?? "none"),
      )
      .reduce((sum, { amountMicros }) => sum + amountMicros, 0);
    if (rechargedMicros !== counted)
      this.#problems.push(`recharges of ${rechargeMonth} are ${counted}, and counted as ${rechargedMicros}`);
    const { balanceMicros = 0, rechargeNotBefore = "2000-01-01" } = wallet ?? {};
    // A send that finds less than the threshold begins a recharge, unless one has failed since then.
    const isLow = balanceMicros >= 0 && balanceMicros < (threshold ?? -Infinity);
    if (isLow && present === undefined && Date.parse(rechargeNotBefore) < this.#nowMs - 2 * dayMs)
      this.#problems.push(`the wallet of ${organizationId} is below its threshold, and nothing happens`);
  }
}

function microsOf({ minorUnits }: Pick<Paid, "minorUnits">): number {
  return microsOfMinorUnits(minorUnits);
}
