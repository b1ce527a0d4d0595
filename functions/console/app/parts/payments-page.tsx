import { here } from "../router.ts";
import { Page, type PageProps } from "./page.tsx";

const tabs = [
  ["payments", "Payments"],
  ["payments/cards", "Cards and auto-recharge"],
  ["payments/invoices", "Invoices"],
  ["payments/billing", "Billing details"],
] as const;

/** One of the pages about payments, with links to the others. */
export function PaymentsPage({ lead, actions, children }: Omit<PageProps, "back" | "title">) {
  const path = here.value.parts.join("/");
  const title = tabs.find(([address]) => address === path)?.[1] ?? "Payments";
  return (
    <Page title={title} lead={lead} actions={actions}>
      <nav class="row" aria-label="Payments">
        {tabs.map(([address, name]) => (
          <a
            key={address}
            class="button small"
            href={`#/${address}`}
            aria-current={address === path ? "page" : undefined}
          >
            {name}
          </a>
        ))}
      </nav>
      {children}
    </Page>
  );
}
