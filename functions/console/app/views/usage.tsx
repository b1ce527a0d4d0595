import type { Usage as UsageOf, UsageRow } from "../../../../shared/api/contract/usage.ts";
import { api } from "../api.ts";
import { countryName } from "../countries.ts";
import { Plot } from "../parts/chart.tsx";
import { FilterForm } from "../parts/filter-form.tsx";
import { Loaded, useLoad } from "../parts/load.tsx";
import { amountText, countText, Money, shareText } from "../parts/money.tsx";
import { announce } from "../parts/notice.tsx";
import { Facts, Page } from "../parts/page.tsx";
import { SaveAs } from "../parts/save-as.tsx";
import { Clamped, Table } from "../parts/table.tsx";
import { dayText, monthText, Time } from "../parts/time.tsx";
import type { ViewProps } from "../router.ts";
import { saveTable, type FileKind } from "../save-file.ts";

type By = UsageOf["by"];

const titles: Readonly<Record<By, string>> = {
  day: "Day (UTC)",
  country: "Country",
  campaign: "Campaign",
  key: "API key",
  sender: "Sender",
};
const choices = [
  ["day", "Day"],
  ["country", "Country"],
  ["campaign", "Campaign"],
  ["key", "API key"],
  ["sender", "Sender"],
] as const satisfies readonly (readonly [By, string])[];

/** The choice of the present day in place of a month. */
const today = "today";

/** The months that can be chosen. */
const shownMonths = 24;

/** The present month and the ones before it, in UTC and as `2026-11`, newest first. */
function lastMonths(): string[] {
  const at = new Date();
  return Array.from({ length: shownMonths }, (_, ago) =>
    new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - ago)).toISOString().slice(0, "yyyy-mm".length),
  );
}

/** The statement of a month: what was sent, and what it cost. */
export function Usage({ query }: ViewProps) {
  const months = lastMonths();
  const isToday = query.get("month") === today;
  const month = months.find((each) => each === query.get("month")) ?? months[0] ?? "";
  const period = isToday ? { day: new Date().toISOString().slice(0, "yyyy-mm-dd".length) } : { month };
  const [by] = choices.find(([each]) => each === query.get("by")) ?? choices[0];
  const usage = useLoad(
    async () => api().getUsage({ query: { ...period, by } }),
    Object.values({ ...period, by }),
  );
  return (
    <Page
      title="Usage"
      lead="Your messages of today or of a month, and their cost. Days are in UTC."
      actions={<SaveAs save={async (kind) => exportRows(usage.data, kind)} />}
    >
      <div class="panel">
        <FilterForm
          fields={{
            month: {
              label: "Period",
              options: [[today, "Today"], ...months.map((each) => [each, monthText(each)] as const)],
            },
            by: { label: "Group by", options: choices },
          }}
          values={{ month: isToday ? today : month, by }}
        />
        <Loaded load={usage}>{(shown) => <Statement of={shown} />}</Loaded>
      </div>
    </Page>
  );
}

/** The days of a month until today, also those without messages. */
function daysOf({ rows, month }: UsageOf) {
  const present = new Date().toISOString();
  return Array.from({ length: 31 }, (_, index) => `${month}-${String(index + 1).padStart(2, "0")}`)
    .filter((date) => date <= present && new Date(date).getUTCMonth() === new Date(month).getUTCMonth())
    .map((date) => {
      const { messages = 0, amount = 0 } = rows.find(({ name }) => name === date) ?? {};
      return { date, accepted: messages, failed: 0, amount };
    });
}

function Statement({ of }: { of: UsageOf }) {
  const { by, month, day, total, rows, isFinal, missingDays, includedSince } = of;
  return (
    <>
      {by === "day" && day === undefined && rows.length > 0 ? (
        <figure class="chart">
          <Plot
            key={month}
            days={daysOf(of)}
            textOf={({ date, accepted, amount }) =>
              `${dayText(date)}: ${countText(accepted, "message")}, ${amountText(amount)}`
            }
          />
        </figure>
      ) : null}
      <Facts
        of={{
          Messages: countText(total.messages),
          Segments: segmentsText(total),
          Cost: <Money amount={total.amount} />,
          Fees: (total.fees ?? 0) === 0 ? "" : <Money amount={total.fees ?? 0} />,
          Refunded: total.refunded === 0 ? "" : <Money amount={total.refunded} />,
        }}
      />
      <p class="muted">
        {isFinal ? "All messages of this period have ended." : "Amounts can still change."}
        {missingDays.length === 0
          ? ""
          : ` Not fully included: ${missingDays.map(dayText).join(", ")}. A day is counted about an hour after it ends.`}
        {includedSince === undefined ? null : (
          <>
            {" "}
            The last of these days is included from <Time at={includedSince} /> on.
          </>
        )}
      </p>
      <Table
        caption={`Usage by ${titles[by]}`}
        rows={rows}
        keyOf={({ name }) => name}
        columns={{
          [titles[by]]: (row) => <Name by={by} row={row} />,
          Messages: { number: ({ messages }) => countText(messages) },
          Segments: { number: segmentsText },
          Cost: { number: ({ amount }) => <Money amount={amount} /> },
          Share: { number: ({ amount }) => <Share of={total.amount === 0 ? 0 : amount / total.amount} /> },
          Refunded: { number: ({ refunded }) => (refunded === 0 ? null : <Money amount={refunded} />) },
        }}
        empty={{ title: "No messages", hint: "Messages that you send in this period appear here." }}
      />
    </>
  );
}

/** A bar of the chart that the rows form together. */
function Share({ of }: { of: number }) {
  return (
    <span class="share">
      <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        <rect class="bar" width={of * 100} height="1" />
      </svg>
      {shareText(of)}
    </span>
  );
}

function segmentsText({ segments }: Pick<UsageRow, "segments">): string {
  return segments === undefined ? "" : countText(segments);
}

/** The names of the rows without a country, campaign or key. */
const withoutName = {
  day: "",
  country: "No country",
  campaign: "Without a campaign",
  key: "Console and campaigns",
  sender: "none",
} as const satisfies Record<By, string>;

function Name({ by, row: { name, label = name } }: { by: By; row: UsageRow }) {
  if (name === "none") return withoutName[by];
  if (name === "other") return "All others";
  if (by === "day") return dayText(name);
  if (by === "country") return countryName(name);
  return by === "campaign" ? (
    <Clamped href={`#/campaigns/${name}`}>{label}</Clamped>
  ) : (
    <Clamped>{label}</Clamped>
  );
}

/** Exports the shown rows. */
async function exportRows(usage: UsageOf | undefined, kind: FileKind): Promise<void> {
  if (usage === undefined) return;
  const { by, month, day = month, currency, rows } = usage;
  const header = [by, "label", "messages", "segments", "amount", "refunded", "currency", "fees"];
  const lines = rows.map(({ name, label = "", messages, segments = "", amount, refunded, fees = "" }) =>
    [name, label, messages, segments, amount, refunded, currency, fees].map(String),
  );
  const file = await saveTable(`statement-${day}`, [header, ...lines], kind);
  announce(`${countText(rows.length, "row")} saved as ${file}.`);
}
