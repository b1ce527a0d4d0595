import { TransactionType, type Transaction } from "../../../../shared/api/contract/wallet.ts";
import { countryName } from "../countries.ts";
import { ExportButton } from "./export.tsx";
import { filtersIn, isFiltered, optionsOf } from "./filter-form.tsx";
import { List } from "./list-view.tsx";
import type { Pages } from "./load.tsx";
import { countText, Money } from "./money.tsx";
import { numberText } from "./phone.tsx";
import { dayText, Time } from "./time.tsx";

const typeLabels: Readonly<Record<Transaction["type"], string>> = {
  top_up: "Top-up",
  message: "Message",
  refund: "Refund",
  payment: "Payment",
  payment_refund: "Payment refund",
  chargeback: "Chargeback",
  credit: "Credit",
  correction: "Correction",
  void: "Refund: message not accepted",
  verification_fee: "Verification fee",
};

/** Reads the type and the days (UTC) of the entries to show. */
export function ledgerFilters(query: URLSearchParams) {
  return filtersIn(query, {
    type: {
      label: "Type",
      options: optionsOf("Any type", TransactionType.options, (type) => typeLabels[type]),
    },
    from: { label: "From (UTC)", type: "date" },
    to: { label: "To (UTC)", type: "date" },
  });
}

interface LedgerProps {
  readonly pages: Pages<Transaction>;
  readonly filters: ReturnType<typeof ledgerFilters>;
}

/** The entries of the wallet by day, with the sum of each day. */
export function Ledger({ pages, filters }: LedgerProps) {
  return (
    <List
      heading="Ledger"
      listActions={<ExportButton body={{ transactions: filters.values }} />}
      filters={filters}
      pages={pages}
      groups={{
        nameOf: ({ createdAt }) => createdAt.slice(0, "yyyy-mm-dd".length),
        title: (day, entries, isWhole) => (
          <>
            <span>{dayText(day)} (UTC)</span>
            {isWhole ? (
              <span>
                Total <Money amount={sumOf(entries)} signed />
              </span>
            ) : null}
          </>
        ),
      }}
      columns={{
        Time: ({ createdAt }) => <Time at={createdAt} />,
        Type: ({ type: of, messageId }) =>
          messageId === undefined ? typeLabels[of] : <a href={`#/messages/${messageId}`}>{typeLabels[of]}</a>,
        Details: (entry) => <Details of={entry} />,
        Amount: { number: ({ amount }) => <Money amount={amount} signed /> },
        "Balance after": { number: ({ balanceAfter }) => <Money amount={balanceAfter} /> },
      }}
      empty={
        isFiltered(filters)
          ? { title: "No entries match", action: <a href="#/wallet">Show all entries</a> }
          : { title: "No entries yet", hint: "Top-ups, messages and refunds appear here." }
      }
    />
  );
}

/** Adds up amounts in whole micro-units, because sums of decimals are not exact. */
function sumOf(entries: readonly Transaction[]): number {
  return entries.reduce((sum, { amount }) => sum + Math.round(amount * 1_000_000), 0) / 1_000_000;
}

/** The number of a message with its country, segments and campaign, and the notes of the operator. */
function Details({ of: { to, country, segments, campaignId, reason, reference } }: { of: Transaction }) {
  const facts = [
    country === undefined ? undefined : countryName(country),
    segments === undefined ? undefined : countText(segments, "segment"),
    reason,
    reference,
  ].filter((each) => each !== undefined);
  if (to === undefined && campaignId === undefined && facts.length === 0) return null;
  return (
    <span>
      {to === undefined ? null : numberText(to)}{" "}
      <span class="muted" dir="auto">
        {facts.join(", ")}
      </span>{" "}
      {campaignId === undefined ? null : <a href={`#/campaigns/${campaignId}`}>Campaign</a>}
    </span>
  );
}
