import type { Conversation } from "../../../../shared/api/contract/conversations.ts";
import { api } from "../api.ts";
import { ListView } from "../parts/list-view.tsx";
import { usePages } from "../parts/load.tsx";
import { LinkButton } from "../parts/page.tsx";
import { numberText } from "../parts/phone.tsx";
import { Status } from "../parts/status.tsx";
import { Clamped } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { linkTo, type ViewProps } from "../router.ts";
import { waiting } from "../waiting.ts";

/** The person or the number on the other side. */
export function nameIn({ contact, phoneNumber }: Conversation): string {
  return contact?.name ?? numberText(phoneNumber);
}

/** Conversations with the people who wrote to the organization's numbers. */
export function Conversations({ query }: ViewProps) {
  const isUnreadOnly = query.get("unread") === "true";
  const conversations = usePages(
    async (page) =>
      api().listConversations({ query: { ...page, ...(isUnreadOnly ? { unread: true } : {}) } }),
    // The menu counts the unread ones from time to time.
    [isUnreadOnly, waiting.value.conversations],
  );
  return (
    <ListView
      title="Conversations"
      lead="People who wrote to your numbers, and your messages to them from these numbers."
      actions={<LinkButton href="#/inbound" label="Your numbers and all inbound messages" look="plain" />}
      heading={isUnreadOnly ? "Unread" : "All"}
      listActions={
        isUnreadOnly ? (
          <a href="#/conversations">Show all</a>
        ) : (
          <a href={linkTo("conversations", { unread: "true" })}>Show unread only</a>
        )
      }
      pages={conversations}
      columns={{
        With: (conversation) => (
          <>
            <a href={`#/conversations/${conversation.id}`}>{nameIn(conversation)}</a>{" "}
            {conversation.isUnread ? <Status of="unread" /> : null}
          </>
        ),
        "Last message": ({ lastInbound }) => <Clamped>{lastInbound?.message ?? ""}</Clamped>,
        "Your number": ({ number }) => numberText(number),
        Received: ({ lastInbound }) =>
          lastInbound === undefined ? null : <Time at={lastInbound.receivedAt} />,
      }}
      empty={
        isUnreadOnly
          ? { title: "No unread conversations" }
          : {
              title: "No conversations yet",
              hint: "Send a message from a number of yours. When the person replies, the conversation appears here.",
            }
      }
    />
  );
}
