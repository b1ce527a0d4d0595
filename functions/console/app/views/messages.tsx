import * as z from "zod/mini";

import { messageFailures } from "../../../../shared/api/contract/failures.ts";
import { MessageStatus, type Message } from "../../../../shared/api/contract/sms.ts";
import { api } from "../api.ts";
import { Export } from "../parts/export.tsx";
import { FilterForm } from "../parts/filter-form.tsx";
import { SelectField, TextField } from "../parts/form.tsx";
import { useLoad, usePages } from "../parts/load.tsx";
import { Money } from "../parts/money.tsx";
import { LinkButton, Page } from "../parts/page.tsx";
import { MessageState } from "../parts/status.tsx";
import { Clamped, PagedTable } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { capitalized } from "../problems.ts";
import { rememberList, type ViewProps } from "../router.ts";
import { given } from "../typed.ts";

const states = [
  ["", "Any status"],
  ...MessageStatus.options.map((each) => [each, capitalized(each)] as const),
] as const;

const kinds = [
  ["", "Live messages"],
  ["true", "Test messages"],
] as const;

/** The start of a day in the viewer's time zone, or of a later one; undefined if there is none. */
function startOf(day: string, daysLater: number): string | undefined {
  const start = new Date(`${day}T00:00`);
  if (Number.isNaN(start.getTime())) return undefined;
  start.setDate(start.getDate() + daysLater);
  return start.toISOString();
}

const csvFields = [
  "id",
  "to",
  "senderId",
  "status",
  "errorCode",
  "message",
  "messageType",
  "campaignId",
  "queuedAt",
  "scheduledAt",
  "sentAt",
  "failedAt",
] as const satisfies readonly (keyof Message)[];

const csvColumns: Record<string, (message: Message) => number | string | undefined> = {
  delivery: ({ delivery }) => delivery?.status,
  deliveryAt: ({ delivery }) => delivery?.at,
  deliveryErrorCode: ({ delivery }) => delivery?.errorCode,
  segments: ({ pricing }) => pricing.segments,
  price: ({ pricing }) => pricing.total,
  currency: ({ pricing }) => pricing.currency,
};

/** Messages, newest first, filtered by the query. */
export function Messages({ query }: ViewProps) {
  rememberList("messages");
  const [search = "", from = "", until = "", campaign = ""] = ["search", "from", "until", "campaign"].map(
    (name) => query.get(name) ?? "",
  );
  const status = z.catch(z.optional(MessageStatus), undefined).parse(query.get("status") ?? undefined);
  const test = query.get("test") === "true" ? true : undefined;
  const filter = {
    status,
    test,
    search: given(search),
    campaignId: given(campaign),
    after: startOf(from, 0),
    before: startOf(until, 1),
  };
  const pages = usePages(
    async (page) => api().listSms({ query: { ...page, ...filter } }),
    Object.values(filter),
  );
  const isFiltered = Object.values(filter).some((each) => each !== undefined);
  return (
    <Page
      title="Messages"
      actions={
        <>
          <Export file="messages.csv" pages={pages} fields={csvFields} more={() => csvColumns} />
          <LinkButton href="#/send" label="Send a message" look="primary" />
        </>
      }
    >
      <div class="panel">
        {campaign === "" ? null : (
          <p>
            Only messages of <a href={`#/campaigns/${campaign}`}>this campaign</a>.{" "}
            <a href="#/messages">Show all messages</a>
          </p>
        )}
        <FilterForm
          view="messages"
          query={{
            search,
            from,
            until,
            campaign,
            status: status ?? "",
            test: test === true ? "true" : "",
          }}
        >
          {(form) => (
            <>
              <TextField field={form.field("search")} label="Number or text" type="search" />
              <TextField field={form.field("from")} label="From" type="date" />
              <TextField field={form.field("until")} label="Until" type="date" />
              <SelectField field={form.field("status")} label="Status" options={states} />
              <SelectField field={form.field("test")} label="Kind" options={kinds} />
            </>
          )}
        </FilterForm>
        <PagedTable
          caption="Messages, newest first"
          pages={pages}
          keyOf={({ id }) => id}
          columns={{
            To: ({ id, to: number }) => <a href={`#/messages/${id}`}>{number}</a>,
            Status: (message) => (
              <>
                <MessageState message={message} />
                {message.errorCode === undefined ? null : (
                  <div class="muted">{messageFailures[message.errorCode]}</div>
                )}
              </>
            ),
            Message: ({ message }) => <Clamped>{message}</Clamped>,
            From: ({ senderId }) => senderId,
            Accepted: ({ queuedAt }) => <Time at={queuedAt} />,
            Price: {
              number: ({ pricing, status: state, test: isTest }) =>
                isTest === true ? (
                  "Free"
                ) : (
                  <>
                    <Money amount={pricing.total} />
                    {state === "failed" || state === "cancelled" ? <div class="muted">Refunded</div> : null}
                  </>
                ),
            },
          }}
          empty={
            isFiltered
              ? { title: "No messages match", action: <a href="#/messages">Show all messages</a> }
              : {
                  title: "No live messages yet",
                  hint: "Messages that you send appear here with their status.",
                  action: <FirstMessage />,
                }
          }
        />
      </div>
    </Page>
  );
}

/** The next step without a live message: the test messages that exist, or a first one. */
function FirstMessage() {
  const tests = useLoad(async () => api().listSms({ query: { test: true, limit: 1 } }), []);
  if (tests.isLoading) return null;
  const hasTests = (tests.data?.rows.length ?? 0) > 0;
  return (
    <div class="row">
      {hasTests ? <LinkButton href="#/messages?test=true" label="Show test messages" /> : null}
      <LinkButton
        href={hasTests ? "#/send" : "#/send?test=true"}
        label={hasTests ? "Send your first message" : "Send a test message (free)"}
      />
    </div>
  );
}
