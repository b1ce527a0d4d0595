import { useSignal } from "@preact/signals";
import { useCallback } from "preact/hooks";

import { everyRow } from "../../../../shared/api/client/client.ts";
import type { Invoice } from "../../../../shared/api/contract/billing.ts";
import type { Payment as PaymentOf } from "../../../../shared/api/contract/payments.ts";
import { api } from "../api.ts";
import { openCheckout } from "../checkout.ts";
import { Code } from "../parts/copy.tsx";
import { ActionButton, ConfirmButton } from "../parts/dialog.tsx";
import { InvoiceTable } from "../parts/invoices.tsx";
import { Loaded, useLoad, usePolling, Waiting } from "../parts/load.tsx";
import { amountText, Money } from "../parts/money.tsx";
import { Notice } from "../parts/notice.tsx";
import { Facts, Page, Section } from "../parts/page.tsx";
import { PayButton } from "../parts/pay.tsx";
import { failureTexts, methodText, PaymentState } from "../parts/payment.tsx";
import { optionalTime, Time } from "../parts/time.tsx";
import type { ViewProps } from "../router.ts";

/** The polls of a pending payment: about six minutes, with growing pauses. */
const maxPolls = 20;

/** The polls until a new payment has its invoice. */
const maxInvoicePolls = 8;

async function readPayment(id: string) {
  const payment = await api().getPayment({ params: { id } });
  // Read after the payment, so that the balance includes it.
  const { balance } = await api().getWallet();
  return { payment, balance };
}

/** One payment: its outcome and its documents. */
export function Payment({ id, query }: ViewProps) {
  const load = useLoad(async () => readPayment(id), [id]);
  const polls = useSignal(0);
  const poll = useCallback(async () => {
    await load.reload();
    polls.value += 1;
  }, [load.reload]);
  const { payment } = load.data ?? {};
  const isPending = payment?.status === "pending" && payment.method === "card";
  // The invoice follows the payment. Gateways without a seller issue none.
  const isInvoiceDue =
    query.has("new") && payment?.status === "succeeded" && payment.invoiceNumber === undefined;
  const isUnderWay = isPending ? polls.value < maxPolls : isInvoiceDue && polls.value < maxInvoicePolls;
  usePolling(isUnderWay, poll, 1_000 * 1.25 ** polls.value);
  return (
    <Page
      title={payment === undefined ? "Payment" : `Payment of ${amountText(payment.total)}`}
      back={["#/payments", "Payments"]}
    >
      <Loaded load={load}>
        {({ payment: shown, balance }) => (
          <>
            <Outcome
              payment={shown}
              balance={query.has("new") || polls.value > 0 ? balance : undefined}
              onCancelled={load.reload}
            />
            <Section title="Details">
              <PaymentState payment={shown} />
              <Facts
                of={{
                  Method: methodText(shown),
                  Amount: amountText(shown.amount),
                  Tax: shown.tax === 0 ? undefined : amountText(shown.tax),
                  Total: amountText(shown.total),
                  Created: <Time at={shown.createdAt} />,
                  Paid: optionalTime(shown.succeededAt),
                }}
              />
            </Section>
            {shown.invoiceNumber === undefined ? null : <Documents payment={shown} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** The outcome of a payment, and what to do next. @param balance given if the outcome is new */
function Outcome({
  payment,
  balance,
  onCancelled,
}: {
  payment: PaymentOf;
  balance: number | undefined;
  onCancelled: () => Promise<void>;
}) {
  const { status, amount, total, checkoutUrl, instructions = "", reference = "", failure } = payment;
  if (status === "succeeded") {
    return balance === undefined ? null : (
      <Notice tone="good">
        Paid. Your balance is now <Money amount={balance} isShort />.
      </Notice>
    );
  }
  if (status === "failed" || status === "expired") {
    return (
      <Notice tone="bad">
        <p>
          {status === "expired"
            ? "This payment was cancelled, or not completed in time."
            : failureTexts[failure ?? "provider_error"]}{" "}
          Nothing was charged.
        </p>
        <PayButton label="Try again" amount={String(amount)} />
      </Notice>
    );
  }
  const cancel = (
    <ConfirmButton
      label="Cancel payment"
      question="Cancel this payment?"
      consequence={
        payment.method === "card" ? "Its checkout closes." : "Its transfer is not expected any more."
      }
      act={async () => api().cancelPayment({ params: { id: payment.id } })}
      onDone={onCancelled}
    />
  );
  if (payment.method === "bank_transfer") {
    return (
      <Section title="How to pay">
        <p class="break">{instructions}</p>
        <Facts
          of={{
            Total: <Code code={amountText(total)} label="Total" />,
            Reference: <Code code={reference} label="Reference" />,
          }}
        />
        <p class="muted">Your wallet receives {amountText(amount)} when your transfer has arrived.</p>
        {cancel}
      </Section>
    );
  }
  if (checkoutUrl === undefined) return <Waiting what="Charging your card…" />;
  return (
    <Notice tone="info">
      <p>
        {failure === undefined
          ? "This payment is not complete yet. After you pay, the result appears here. Otherwise it expires by itself."
          : failureTexts[failure]}
      </p>
      <div class="row">
        <ActionButton
          label="Continue to checkout"
          act={async () => openCheckout(checkoutUrl, payment.id)}
          isPrimary
        />
        {cancel}
      </div>
    </Notice>
  );
}

/** The invoice of a payment, and its credit notes. */
function Documents({ payment }: { payment: PaymentOf }) {
  const load = useLoad(async () => readDocuments(payment), [payment.id, payment.refunded]);
  return (
    <Section title="Invoices">
      <Loaded load={load}>{(rows) => <InvoiceTable rows={rows} />}</Loaded>
    </Section>
  );
}

/** The list of invoices has no filter, so the newer ones are read as well. */
async function readDocuments({ id, createdAt }: PaymentOf): Promise<Invoice[]> {
  const found: Invoice[] = [];
  for await (const each of everyRow(async (next) => api().listInvoices({ query: { limit: 100, ...next } }))) {
    if (each.issuedAt < createdAt) break;
    if (each.paymentId === id) found.push(each);
  }
  return found;
}
