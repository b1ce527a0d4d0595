import type { Payment, PaymentFailure, PaymentMethod } from "../../../../shared/api/contract/payments.ts";
import { readInvoiceFile } from "../api.ts";
import { saveFile } from "../save-file.ts";
import { ActionButton } from "./dialog.tsx";
import { amountText } from "./money.tsx";
import { Status } from "./status.tsx";

/** Why a card was not charged. */
export const failureTexts: Readonly<Record<PaymentFailure, string>> = {
  authentication_required: "Your bank requires a confirmation.",
  card_declined: "Your bank declined the card.",
  card_expired: "The card has expired.",
  insufficient_funds: "The card has insufficient funds.",
  no_payment_method: "There is no saved card.",
  provider_error: "The payment provider could not charge the card.",
};

const methodTexts: Readonly<Record<Payment["origin"], string>> = {
  checkout: "Card",
  saved_card: "Saved card",
  auto_recharge: "Auto-recharge",
  operator: "Recorded by the operator",
};

/** How a payment was made. */
export function methodText({ method, origin }: Payment): string {
  return method === "bank_transfer" ? "Bank transfer" : methodTexts[origin];
}

/** The status of a payment, with what happened to it later. */
export function PaymentState({ payment }: { payment: Payment }) {
  const { status, refunded, dispute } = payment;
  return (
    <>
      <Status of={status} />
      {refunded === undefined ? null : <p class="muted">{amountText(refunded)} refunded</p>}
      {dispute === undefined ? null : <p class="muted">Dispute {dispute}</p>}
    </>
  );
}

/** A saved card, such as `Visa •••• 4242`. */
export function cardText({ brand, last4 }: PaymentMethod): string {
  return `${brand.charAt(0).toUpperCase()}${brand.slice(1)} •••• ${last4}`;
}

/** Saves an invoice or credit note as a PDF, or as a file of EN 16931 for programs. */
export function InvoiceButton({
  number,
  type = "pdf",
  label = `Download ${type.toUpperCase()}`,
}: {
  number: string;
  type?: "pdf" | "xml";
  label?: string;
}) {
  const save = async (): Promise<void> => saveFile(`${number}.${type}`, await readInvoiceFile(number, type));
  return <ActionButton label={label} act={save} />;
}
