import type { AssignedNumber } from "../../../../shared/api/contract/inbound.ts";
import type { Page as PageOf } from "../../../../shared/api/contract/primitives.ts";
import { api } from "../api.ts";
import { ListView } from "../parts/list-view.tsx";
import { Loaded, useLoad, usePages, type Load } from "../parts/load.tsx";
import { countText } from "../parts/money.tsx";
import { Section } from "../parts/page.tsx";
import { numberText } from "../parts/phone.tsx";
import { Clamped } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { linkTo } from "../router.ts";

const keywords = {
  start: "START: opted in to marketing",
  stop: "STOP: gets only one-time codes from now on",
  help: "HELP",
} as const;

/** The console shows only these numbers; the API lists all of them. */
const maxNumbersShown = 100;

/** Messages that people sent to the organization's numbers. */
export function Inbound() {
  const messages = usePages(async (query) => api().listInbound({ query }), []);
  const numbers = useLoad(async () => api().listNumbers({ query: { limit: maxNumbersShown } }), []);
  const hasNumbers = (numbers.data?.meta.total ?? 0) > 0;
  return (
    <ListView
      title="Inbound messages"
      lead="Messages that people send to your numbers."
      back={["#/conversations", "Conversations"]}
      above={
        <Section title="Your numbers">
          <YourNumbers numbers={numbers} />
        </Section>
      }
      heading="Messages"
      pages={messages}
      columns={{
        From: ({ from }) => <a href={linkTo("messages", { search: from })}>{numberText(from)}</a>,
        To: ({ to }) => numberText(to),
        Message: ({ message }) => <Clamped>{message}</Clamped>,
        Keyword: ({ keyword }) => (keyword === undefined ? "" : keywords[keyword]),
        Received: ({ receivedAt }) => <Time at={receivedAt} />,
        Actions: ({ from }) => <a href={linkTo("send", { to: from })}>Reply</a>,
      }}
      empty={{
        title: "No inbound messages yet",
        hint: hasNumbers ? "Messages sent to your numbers appear here." : undefined,
      }}
    />
  );
}

function YourNumbers({ numbers }: { numbers: Load<PageOf<AssignedNumber>> }) {
  return (
    <Loaded load={numbers}>
      {({ rows, meta: { total } }) =>
        total === 0 ? (
          <p>You have no numbers yet. Contact the gateway operator to get one.</p>
        ) : (
          <>
            <ul class="plain-list">
              {rows.map(({ number, keyword }) => (
                <li key={`${number} ${keyword ?? ""}`}>
                  <strong class="whole">{numberText(number)}</strong>
                  {keyword === undefined ? null : (
                    <span class="muted">
                      {" "}
                      shared; messages to you start with <code>{keyword}</code>
                    </span>
                  )}
                </li>
              ))}
            </ul>
            {total > rows.length ? <p class="muted">And {countText(total - rows.length)} more.</p> : null}
          </>
        )
      }
    </Loaded>
  );
}
