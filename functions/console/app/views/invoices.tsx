import { api } from "../api.ts";
import { invoiceColumns } from "../parts/invoices.tsx";
import { usePages } from "../parts/load.tsx";
import { Section } from "../parts/page.tsx";
import { PaymentsPage } from "../parts/payments-page.tsx";
import { PagedTable } from "../parts/table.tsx";

/** All invoices and credit notes. */
export function Invoices() {
  const invoices = usePages(async (query) => api().listInvoices({ query }), []);
  return (
    <PaymentsPage lead="An invoice for each payment, and a credit note for each refund.">
      <Section title="Invoices">
        <PagedTable
          caption="Invoices, newest first"
          pages={invoices}
          keyOf={({ id }) => id}
          columns={{
            Payment: ({ paymentId }) => <a href={`#/payments/${paymentId}`}>Payment</a>,
            ...invoiceColumns,
          }}
          empty={{ title: "No invoices yet", hint: "The first one follows your first payment." }}
        />
      </Section>
    </PaymentsPage>
  );
}
