import { api } from "../api.ts";
import { invoiceColumns } from "../parts/invoices.tsx";
import { List } from "../parts/list-view.tsx";
import { usePages } from "../parts/load.tsx";
import { PaymentsPage } from "../parts/payments-page.tsx";

/** All invoices and credit notes. */
export function Invoices() {
  const invoices = usePages(async (query) => api().listInvoices({ query }), []);
  return (
    <PaymentsPage lead="An invoice for each payment, and a credit note for each refund.">
      <List
        heading="Invoices"
        pages={invoices}
        columns={{
          Payment: ({ paymentId }) => <a href={`#/payments/${paymentId}`}>Payment</a>,
          ...invoiceColumns,
        }}
        empty={{ title: "No invoices yet", hint: "The first one follows your first payment." }}
      />
    </PaymentsPage>
  );
}
