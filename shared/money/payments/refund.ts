import { invalidField, ApiError } from "../../api/contract/errors.ts";
import { now } from "../../platform/clock.ts";
import { amountOf, minorUnitsOf } from "../wallet/money.ts";
import { applyRefund, move } from "./movements.ts";
import { cardProvider } from "./providers.ts";
import {
  isUnsubmitted,
  readPayment,
  restOf,
  visitFields,
  type PaymentKey,
  type RefundRecord,
} from "./record.ts";
import { applyStep } from "./steps.ts";
import { grossOf } from "./tax.ts";

/** A part of a payment that the operator pays back. */
export interface NewRefund {
  /** Distinguishes refunds of a payment. A repeated refund changes nothing. */
  readonly id: string;
  /** The amount that leaves the wallet; by default the rest of the payment. */
  readonly amountMicros?: number | undefined;
  /** The ledger shows it to the customer. */
  readonly reason: string;
}

/**
 * Records a refund, which removes the money from the wallet. `processPayment` then pays it back.
 * @throws ApiError NOT_FOUND; CONFLICT for a payment that did not succeed or is disputed; VALIDATION_ERROR for more than
 *   its rest; INSUFFICIENT_BALANCE when the money was spent
 */
export async function recordRefund(key: PaymentKey, { id, amountMicros, reason }: NewRefund): Promise<void> {
  await applyStep(key, async (payment) => {
    if (payment.refunds.some((each) => each.id === id)) return "applied";
    if (payment.status !== "succeeded")
      throw new ApiError("CONFLICT", { message: "The payment did not succeed." });
    if (payment.disputes.some(({ status }) => status !== "won")) {
      throw new ApiError("CONFLICT", { message: "The payment is disputed." });
    }
    const rest = restOf(payment);
    const amount = amountMicros ?? rest.amountMicros;
    if (amount <= 0 || amount > rest.amountMicros) {
      throw invalidField("amount", `must be at most ${amountOf(rest.amountMicros)}, the rest of the payment`);
    }
    const totalMicros = grossOf(amount, payment, rest);
    // Releases up to 0.4.0 could refund too much tax with the earlier parts.
    if (totalMicros <= 0) throw new ApiError("CONFLICT", { message: "The whole total was refunded before." });
    const refund: RefundRecord = {
      id,
      amountMicros: amount,
      totalMicros,
      status: "pending",
      reason,
      createdAt: now().toISOString(),
    };
    const changes = { refunds: [...payment.refunds, refund], ...visitFields(payment, refund.createdAt) };
    const movement = { type: "payment_refund", amountMicros: -amount, reference: id } as const;
    return move(payment, movement, { reason, changes });
  });
}

/** Pays back the pending refunds of a payment at the provider. The operator makes a transfer before recording it. */
export async function submitRefunds(key: PaymentKey): Promise<void> {
  const payment = await readPayment(key);
  for (const { id, totalMicros } of payment.refunds.filter(isUnsubmitted)) {
    const minorUnits = minorUnitsOf(totalMicros);
    const refund =
      payment.provider === "manual" || minorUnits === 0
        ? ({ id, refundId: id, minorUnits, status: "succeeded" } as const)
        : await (await cardProvider()).refund(payment, id, minorUnits);
    await applyStep(key, async (present) => applyRefund(present, refund));
  }
}
