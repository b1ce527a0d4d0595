import { everyRow } from "../../../../shared/api/client/client.ts";
import { DisplayStatus } from "../../../../shared/api/contract/display-status.ts";
import { messageFailures } from "../../../../shared/api/contract/failures.ts";
import type { Message } from "../../../../shared/api/contract/sms.ts";
import { api } from "../api.ts";
import { contactsNamed, nameOf } from "../parts/contact-fields.tsx";
import { ExportButton } from "../parts/export.tsx";
import { FilterForm, filtersIn, optionsOf } from "../parts/filter-form.tsx";
import { useLoad, usePages } from "../parts/load.tsx";
import { Money } from "../parts/money.tsx";
import { LinkButton, Page } from "../parts/page.tsx";
import { numberText } from "../parts/phone.tsx";
import { MessageState } from "../parts/status.tsx";
import { Clamped, PagedTable, type Columns } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { may } from "../rights.ts";
import { linkTo, rememberList, type ViewProps } from "../router.ts";

const kinds = [
  ["", "Live messages"],
  ["true", "Test messages"],
] as const;

const fields = {
  search: { label: "Number or text", type: "search" },
  from: { label: "From", type: "date" },
  until: { label: "Until", type: "date" },
  status: { label: "Status", options: optionsOf("Any status", DisplayStatus.options) },
  sender: { label: "Sender" },
  // Its label and options follow when the keys are loaded.
  key: {},
  test: { label: "Kind", options: kinds },
  // Links of a campaign set these.
  campaign: {},
  state: {},
} as const;

/** The start of a day in the viewer's time zone, or of a later one; undefined if there is none. */
function startOf(day = "", daysLater: number): string | undefined {
  const start = new Date(`${day}T00:00`);
  if (Number.isNaN(start.getTime())) return undefined;
  start.setDate(start.getDate() + daysLater);
  return start.toISOString();
}

const columns: Columns<Message> = {
  To: ({ id, to: number }) => <a href={`#/messages/${id}`}>{numberText(number)}</a>,
  Status: (message) => (
    <>
      <MessageState message={message} />
      {message.errorCode === undefined ? null : <div class="muted">{messageFailures[message.errorCode]}</div>}
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
};

/** Messages, newest first, filtered by the query. */
export function Messages({ query }: ViewProps) {
  rememberList("messages");
  const { values } = filtersIn(query, fields);
  const { search, status, campaign } = values;
  const keys = useLoad(readKeys, []);
  const filter = {
    displayStatus: status,
    // The count of a campaign that links here has all sent messages, whatever their receipts. A chosen status replaces it.
    status: values.state === "sent" && status === undefined ? ("sent" as const) : undefined,
    test: values.test === undefined ? undefined : true,
    search,
    apiKeyId: values.key,
    senderId: values.sender,
    campaignId: campaign,
    after: startOf(values.from, 0),
    before: startOf(values.until, 1),
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
          <ExportButton body={{ messages: filter }} />
          <LinkButton href="#/send" label="Send a message" look="primary" />
        </>
      }
    >
      <div class="panel">
        {campaign === undefined ? null : (
          <p>
            Only messages of <a href={`#/campaigns/${campaign}`}>this campaign</a>.{" "}
            <a href="#/messages">Show all messages</a>
          </p>
        )}
        <FilterForm
          fields={{ ...fields, ...(keys.data && { key: { label: "API key", options: keys.data } }) }}
          values={values}
        />
        <ContactsNamed search={search ?? ""} filter={{ ...values, test: undefined }} />
        <PagedTable
          caption="Messages, newest first"
          pages={pages}
          columns={columns}
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

/** The choices of the filter by API key; undefined if the person may not list the keys. */
async function readKeys(): Promise<(readonly [string, string])[] | undefined> {
  if (!may("keys")) return undefined;
  const choices: (readonly [string, string])[] = [["", "Any key or person"]];
  const keys = everyRow(async (next) => api().listApiKeys({ query: { limit: 100, ...next } }));
  for await (const { id, name, hint } of keys) choices.push([id, name ?? hint]);
  return choices;
}

/** Contacts whose names have the text, with links to their messages. */
function ContactsNamed({ search, filter }: { search: string; filter: Parameters<typeof linkTo>[1] }) {
  const found = useLoad(async () => contactsNamed(search), [search]);
  if (found.data === undefined || found.data.length === 0) return null;
  return (
    <ul aria-label="Contacts with this name">
      {found.data.map((contact) => (
        <li key={contact.id}>
          <bdi>{nameOf(contact)}</bdi>, {numberText(contact.phoneNumber)}:{" "}
          <a href={linkTo("messages", { ...filter, search: contact.phoneNumber })}>show messages</a>
        </li>
      ))}
    </ul>
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
