import { ApiError } from "../../api/contract/errors.ts";
import { findMovement } from "../wallet/reference.ts";
import { readBilling } from "./billing-record.ts";
import { newPayment } from "./create.ts";
import { credit } from "./movements.ts";
import { readPayment, type PaymentKey } from "./record.ts";

/** Money that the operator has received by other means than cards. */
export interface Transfer {
  readonly organizationId: string;
  /** The amount for the wallet. The customer has paid the tax on it as well. */
  readonly amountMicros: number;
  /** The bank's reference, unique for ever over all organizations. */
  readonly reference: string;
  /** The ledger shows it to the customer. */
  readonly reason: string;
  /** The pending payment that the customer announced. */
  readonly paymentId?: string | undefined;
}

/**
 * Records a payment that was made by bank transfer, once for each reference. Its invoice and receipt follow.
 * @returns the payment's names; undefined when an earlier call recorded it
 * @throws ReferenceTakenError when the reference belongs to another movement
 * @throws ApiError NOT_FOUND, WALLET_MISSING; CONFLICT for a payment that is no pending transfer of this amount,
 *   and for an erased organization. UNAVAILABLE: repeat it with the same reference.
 */
export async function recordTransfer(transfer: Transfer): Promise<PaymentKey | undefined> {
  const { organizationId, amountMicros, reference, reason, paymentId } = transfer;
  const movement = { organizationId, type: "payment", amountMicros, reference } as const;
  if ((await findMovement(movement)) !== undefined) return undefined;
  const isNew = paymentId === undefined;
  const payment = isNew
    ? newPayment({
        organizationId,
        method: "bank_transfer",
        origin: "operator",
        amountMicros,
        billing: await readBilling(organizationId),
      })
    : await readPayment({ organizationId, paymentId });
  const isExpected = payment.provider === "manual" && payment.status !== "succeeded";
  if (!isExpected || payment.amountMicros !== amountMicros) {
    throw new ApiError("CONFLICT", { message: "This is not a pending bank transfer of this amount." });
  }
  if ((await credit(payment, reference, { isNew, reason })) === "applied")
    return { organizationId, paymentId: payment.id };
  // Another call used the reference in between.
  if ((await findMovement(movement)) === undefined) throw new ApiError("UNAVAILABLE");
  return undefined;
}
