import type { Invoice } from "../../../../shared/api/contract/billing.ts";
import { Money } from "./money.tsx";
import { InvoiceButton } from "./payment.tsx";
import { Table, type Columns } from "./table.tsx";
import { Time } from "./time.tsx";

export const invoiceColumns: Columns<Invoice> = {
  Number: ({ id }) => <span class="whole">{id}</span>,
  Kind: ({ kind }) => (kind === "invoice" ? "Invoice" : "Credit note"),
  Date: ({ issuedAt }) => <Time at={issuedAt} />,
  File: ({ id }) => (
    <>
      <InvoiceButton number={id} /> <InvoiceButton number={id} type="xml" />
    </>
  ),
  Total: { number: ({ total }) => <Money amount={total} /> },
};

export function InvoiceTable({ rows }: { rows: readonly Invoice[] }) {
  return <Table caption="Invoices, newest first" rows={rows} columns={invoiceColumns} />;
}
