import type { PaymentFailure } from "../../api/contract/payments.ts";
import type { BillingNotice } from "../../notices/emails/email-kinds.ts";
import { onOneLine, type EmailText } from "../../notices/emails/layout.ts";
import { amountText } from "../../notices/emails/texts.ts";
import { amountOf } from "../wallet/money.ts";
import { consoleUrl } from "./links.ts";
import { findPayment, type PaymentRecord } from "./record.ts";

const failures: Readonly<Record<PaymentFailure, string>> = {
  authentication_required: "the bank asks the cardholder to confirm the payment",
  card_declined: "the bank declined the card",
  card_expired: "the card has expired",
  insufficient_funds: "the card has insufficient funds",
  no_payment_method: "there is no saved card",
  provider_error: "the payment provider could not charge the card",
};

/**
 * Returns the text of an email about payments; undefined when its payment does not exist.
 * @param name the organization's
 */
export async function billingText(
  organizationId: string,
  name: string,
  notice: BillingNotice,
): Promise<EmailText | undefined> {
  const whose = onOneLine(name);
  const closing =
    "Owners get these emails. They decide in the console under Payments which other members get them.";
  if (notice.what === "rechargeCapReached") {
    return {
      subject: `Auto-recharge of ${whose} has reached its monthly cap`,
      paragraphs: [
        `Recharges of ${whose} have reached the monthly cap of ${amountText(notice.monthlyCap)}. No more recharges are made ` +
          "this month. Raise the cap, or pay in the console.",
      ],
      link: { label: "Open the console", url: consoleUrl() },
      closing,
    };
  }
  if (notice.what === "dailyMaximumReached") {
    const { dailyMaximum, maximum } = notice;
    return {
      subject: `Auto-recharge of ${whose} pauses until tomorrow`,
      paragraphs: [
        maximum === undefined
          ? `The saved cards of ${whose} were charged with the most for a day, ${amountText(dailyMaximum)}. The next ` +
            "recharge is made after midnight (UTC). You can pay at a checkout in the console. If you did not expect this, " +
            "switch off auto-recharge and revoke the API keys."
          : `The amount of auto-recharge is above the most of one payment, which is now ${amountText(maximum)}. No card was ` +
            "charged. Choose a smaller amount in the console, or pay at a checkout there.",
      ],
      link: { label: "Open the console", url: consoleUrl() },
      closing,
    };
  }
  const payment = await findPayment({ organizationId, paymentId: notice.paymentId });
  if (payment === undefined) return undefined;
  return { ...paymentText(whose, payment, notice), closing };
}

function paymentText(
  whose: string,
  payment: PaymentRecord,
  notice: Extract<BillingNotice, { paymentId: string }>,
): Omit<EmailText, "closing"> {
  const [amount, total] = [
    amountText(amountOf(payment.amountMicros)),
    amountText(amountOf(payment.totalMicros)),
  ];
  const isRecharge = payment.origin === "auto_recharge";
  switch (notice.what) {
    case "paymentReceived": {
      const { invoiceNumber, taxMicros } = payment;
      const tax = taxMicros === 0 ? "" : `, with ${amountText(amountOf(taxMicros))} of tax`;
      return {
        subject: isRecharge ? `The wallet of ${whose} was recharged` : `Receipt for your payment of ${total}`,
        paragraphs: [
          `${isRecharge ? "Auto-recharge has charged" : "We have received"} ${total}${tax}. The wallet of ${whose} has ` +
            `received ${amount}.`,
          ...(invoiceNumber === undefined ? [] : [`Your invoice ${invoiceNumber} is in the console.`]),
        ],
        link: { label: "Open the payment and its invoice", url: `${consoleUrl()}/${payment.id}` },
      };
    }
    case "authenticationRequired":
      return {
        subject: `Confirm a payment of ${total}`,
        paragraphs: [
          `${isRecharge ? "Auto-recharge" : "A payment"} of ${whose} could not charge ${total}, because ` +
            `${failures.authentication_required}. Confirm it within 23 hours. Until then nothing is charged.`,
        ],
        link: { label: "Confirm the payment", url: payment.checkoutUrl ?? consoleUrl() },
      };
    case "rechargeFailed":
      return {
        subject: `Auto-recharge of ${whose} failed`,
        paragraphs: [
          `Auto-recharge could not charge ${total}, because ${failures[payment.failure ?? "provider_error"]}.`,
          notice.isOff
            ? "Auto-recharge is switched off after several failures. Save another card, and switch it on again."
            : "The gateway tries again later. Pay in the console, or save another card.",
        ],
        link: { label: "Open the console", url: consoleUrl() },
      };
  }
}
