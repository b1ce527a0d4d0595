import * as z from "zod/mini";

import { MessageStatus } from "../../../../shared/api/contract/sms.ts";
import { api } from "../api.ts";
import { FilterForm } from "../parts/filter-form.tsx";
import { PhoneField, SelectField } from "../parts/form.tsx";
import { usePages } from "../parts/load.tsx";
import { Money } from "../parts/money.tsx";
import { LinkButton, Page } from "../parts/page.tsx";
import { MessageState } from "../parts/status.tsx";
import { Clamped, PagedTable } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { capitalized } from "../problems.ts";
import type { ViewProps } from "../router.ts";
import { given, phoneNumberOf } from "../typed.ts";

const states = [
  ["", "Any status"],
  ...MessageStatus.options.map((each) => [each, capitalized(each)] as const),
] as const;

const kinds = [
  ["", "Live messages"],
  ["true", "Test messages"],
] as const;

/** Messages, newest first, filtered by the query. */
export function Messages({ query }: ViewProps) {
  const to = phoneNumberOf(query.get("to") ?? "");
  const status = z.catch(z.optional(MessageStatus), undefined).parse(query.get("status") ?? undefined);
  const test = query.get("test") === "true" ? true : undefined;
  const pages = usePages(
    async (page) => api().listSms({ query: { ...page, status, test, to: given(to) } }),
    [to, status, test],
  );
  const isFiltered = to !== "" || status !== undefined || test !== undefined;
  return (
    <Page title="Messages" actions={<LinkButton href="#/send" label="Send a message" look="primary" />}>
      <div class="panel">
        <FilterForm view="messages" query={{ to, status: status ?? "", test: test === true ? "true" : "" }}>
          {(form) => (
            <>
              <PhoneField field={form.field("to")} />
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
            Status: (message) => <MessageState message={message} />,
            Message: ({ message }) => <Clamped>{message}</Clamped>,
            From: ({ senderId }) => senderId,
            Accepted: ({ queuedAt }) => <Time at={queuedAt} />,
            Price: { number: ({ pricing }) => <Money amount={pricing.total} /> },
          }}
          empty={
            isFiltered
              ? { title: "No messages match", action: <a href="#/messages">Show all messages</a> }
              : {
                  title: "No messages yet",
                  hint: "Messages that you send appear here with their status.",
                  action: <LinkButton href="#/send" label="Send your first message" />,
                }
          }
        />
      </div>
    </Page>
  );
}
