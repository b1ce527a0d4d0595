import type { JSX } from "preact";

import { api } from "../api.ts";
import { Empty } from "../parts/empty.tsx";
import { usePages } from "../parts/load.tsx";
import { Page, Section } from "../parts/page.tsx";
import { PagedTable } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";

const keywords = {
  start: "START: wants marketing again",
  stop: "STOP: has opted out",
  help: "HELP",
} as const;

/** What people have written to the organisation's numbers. */
export function Inbound(): JSX.Element {
  const messages = usePages(async (query) => api().listInbound({ query }), []);
  return (
    <Page title="Replies" lead="What people have written to your numbers.">
      <Section title="Replies">
        <PagedTable
          caption="Replies, newest first"
          pages={messages}
          keyOf={({ id }) => id}
          columns={[
            { title: "From", show: ({ from }) => from },
            { title: "To", show: ({ to }) => to },
            {
              title: "Message",
              show: ({ message }) => (
                <span class="clamp" dir="auto">
                  {message}
                </span>
              ),
            },
            { title: "Meaning", show: ({ keyword }) => (keyword === undefined ? "" : keywords[keyword]) },
            { title: "Received", show: ({ receivedAt }) => <Time at={receivedAt} /> },
          ]}
          empty={
            <Empty title="No replies yet">
              <p>Ask the operator of the gateway for a number of your own, to which people can answer.</p>
            </Empty>
          }
        />
      </Section>
    </Page>
  );
}
