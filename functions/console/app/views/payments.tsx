import { useEffect } from "preact/hooks";

import { api } from "../api.ts";
import { lastCheckout } from "../checkout.ts";
import { List } from "../parts/list-view.tsx";
import { Loaded, useLoad, usePages } from "../parts/load.tsx";
import { Money } from "../parts/money.tsx";
import { LinkButton, Section } from "../parts/page.tsx";
import { PayButton } from "../parts/pay.tsx";
import { methodText, PaymentState, InvoiceButton } from "../parts/payment.tsx";
import { PaymentsPage } from "../parts/payments-page.tsx";
import { Time } from "../parts/time.tsx";
import type { ViewProps } from "../router.ts";

/** The balance, and all payments. */
export function Payments({ query }: ViewProps) {
  const returnedFrom = query.has("returned") ? lastCheckout() : undefined;
  useEffect(() => {
    if (returnedFrom !== undefined) location.replace(`#/payments/${returnedFrom}?new`);
  }, [returnedFrom]);
  const wallet = useLoad(async () => api().getWallet(), []);
  const payments = usePages(async (page) => api().listPayments({ query: page }), []);
  return (
    <PaymentsPage
      lead="Add funds to your wallet, and get an invoice for each payment."
      actions={payments.data === undefined ? null : <PayButton isOpen={query.has("add")} />}
    >
      <Section title="Balance" actions={<LinkButton href="#/wallet" label="Wallet" look="small" />}>
        <Loaded load={wallet}>
          {({ balance }) => (
            <p class="figure">
              <Money amount={balance} isShort />
            </p>
          )}
        </Loaded>
      </Section>
      <List
        heading="Payments"
        pages={payments}
        columns={{
          Time: ({ id, createdAt }) => (
            <a href={`#/payments/${id}`}>
              <Time at={createdAt} />
            </a>
          ),
          Method: methodText,
          Status: (payment) => <PaymentState payment={payment} />,
          Invoice: ({ invoiceNumber: number }) => number && <InvoiceButton number={number} label={number} />,
          Amount: { number: ({ amount }) => <Money amount={amount} /> },
          Tax: { number: ({ tax }) => <Money amount={tax} /> },
          Total: { number: ({ total }) => <Money amount={total} /> },
        }}
        empty={{ title: "No payments yet", hint: "Pay to send messages. Your wallet is prepaid." }}
      />
    </PaymentsPage>
  );
}
