import {
  TransactionType,
  type Transaction,
  type TransactionsQuery,
} from "../../../../shared/api/contract/wallet.ts";
import { countryName } from "../countries.ts";
import { given } from "../typed.ts";
import { ExportButton } from "./export.tsx";
import { FilterForm } from "./filter-form.tsx";
import { SelectField, TextField } from "./form.tsx";
import type { Pages } from "./load.tsx";
import { countText, Money } from "./money.tsx";
import { Section } from "./page.tsx";
import { numberText } from "./phone.tsx";
import { PagedTable } from "./table.tsx";
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
const types = [
  ["", "Any type"],
  ...TransactionType.options.map((each) => [each, typeLabels[each]] as const),
] as const;

/** The type and the days (UTC) of the entries to show. */
export type LedgerFilter = Partial<Pick<TransactionsQuery, "from" | "to" | "type">>;

export function ledgerFilterOf(query: URLSearchParams): LedgerFilter {
  const type = TransactionType.options.find((each) => each === query.get("type"));
  return { type, from: given(query.get("from") ?? ""), to: given(query.get("to") ?? "") };
}

/** The entries of the wallet by day, with the sum of each day. */
export function Ledger({ pages, filter }: { pages: Pages<Transaction>; filter: LedgerFilter }) {
  const { type = "", from = "", to = "" } = filter;
  const isFiltered = `${type}${from}${to}` !== "";
  return (
    <Section title="Ledger" actions={<ExportButton body={{ transactions: filter }} />}>
      <FilterForm<Record<keyof LedgerFilter, string>> view="wallet" query={{ type, from, to }}>
        {(form) => (
          <>
            <SelectField field={form.field("type")} label="Type" options={types} />
            <TextField field={form.field("from")} label="From (UTC)" type="date" />
            <TextField field={form.field("to")} label="To (UTC)" type="date" />
          </>
        )}
      </FilterForm>
      <PagedTable
        caption="Ledger, newest first"
        pages={pages}
        keyOf={({ id }) => id}
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
            messageId === undefined ? (
              typeLabels[of]
            ) : (
              <a href={`#/messages/${messageId}`}>{typeLabels[of]}</a>
            ),
          Details: (entry) => <Details of={entry} />,
          Amount: { number: ({ amount }) => <Money amount={amount} signed /> },
          "Balance after": { number: ({ balanceAfter }) => <Money amount={balanceAfter} /> },
        }}
        empty={
          isFiltered
            ? { title: "No entries match", action: <a href="#/wallet">Show all entries</a> }
            : { title: "No entries yet", hint: "Top-ups, messages and refunds appear here." }
        }
      />
    </Section>
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
