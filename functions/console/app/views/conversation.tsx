import { useEffect } from "preact/hooks";

import type {
  Conversation as Shown,
  ConversationMessage,
} from "../../../../shared/api/contract/conversations.ts";
import { api } from "../api.ts";
import { ActionButton } from "../parts/dialog.tsx";
import { Form, TextArea, useForm } from "../parts/form.tsx";
import { Loaded, rowsPerPage, useLoad, usePages, usePolling, type Pages } from "../parts/load.tsx";
import { SegmentCount } from "../parts/message-text.tsx";
import { announce } from "../parts/notice.tsx";
import { Page, Section } from "../parts/page.tsx";
import { numberText } from "../parts/phone.tsx";
import { Status } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { go, linkTo, type ViewProps } from "../router.ts";
import { countWaiting } from "../waiting.ts";
import { nameIn } from "./conversations.tsx";

const pollMs = 3_000;

/** The messages with one person in both directions, and the reply. */
export function Conversation({ id }: ViewProps) {
  const params = { id };
  const load = useLoad(async () => api().getConversation({ params }), [id]);
  const messages = usePages(async (query) => api().listConversationMessages({ params, query }), [id]);
  const { data: shown } = load;
  // A new inbound message.
  usePolling(shown !== undefined, load.reload, pollMs);
  // New states of sent messages. A reload would remove earlier messages that a person loaded, so it is left out then.
  const loaded = messages.data?.rows ?? [];
  usePolling(loaded.length <= rowsPerPage && loaded.some(isUnderWay), messages.reload, pollMs);
  const newest = shown?.lastInbound?.id;
  useEffect(() => {
    if (newest !== undefined) void messages.reload();
  }, [newest]);
  useEffect(() => {
    if (shown?.isUnread !== true) return;
    void api()
      .updateConversation({ params, body: { isUnread: false } })
      .then(load.replace, () => undefined)
      .then(countWaiting);
  }, [newest]);
  const markUnread = async (): Promise<void> => {
    await api().updateConversation({ params, body: { isUnread: true } });
    await countWaiting();
    go("conversations");
    announce("Marked as unread.");
  };
  return (
    <Page
      title={shown === undefined ? "Conversation" : nameIn(shown)}
      lead={shown === undefined ? undefined : <Sides of={shown} />}
      back={["#/conversations", "Conversations"]}
      actions={<ActionButton label="Mark as unread" act={markUnread} />}
    >
      <Loaded load={load}>
        {(conversation) => (
          <div class="columns">
            <Section title="Messages">
              <Loaded load={messages}>{({ rows }) => <Thread rows={rows} messages={messages} />}</Loaded>
            </Section>
            <Section title="Reply">
              {conversation.canReply === true ? (
                <Reply id={id} onSent={messages.reload} />
              ) : (
                <NoReply of={conversation} />
              )}
            </Section>
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function NoReply({ of: { number, phoneNumber } }: { of: Shown }) {
  if (!/^\d{7,}$/.test(phoneNumber)) return <p>A name or a short code cannot receive messages.</p>;
  return (
    <p>
      You cannot send from {numberText(number)}, because it is not assigned to you alone.{" "}
      <a href={linkTo("send", { to: phoneNumber })}>Send from a sender ID</a>
    </p>
  );
}

function Sides({ of: { contact, phoneNumber, number } }: { of: Shown }) {
  const text = numberText(phoneNumber);
  return (
    <>
      {contact === undefined ? text : <a href={`#/contacts/${contact.id}`}>{text}</a>} with your number{" "}
      {numberText(number)}.
    </>
  );
}

/** The messages, the newest last, as on a phone. */
function Thread({
  rows,
  messages,
}: {
  rows: readonly ConversationMessage[];
  messages: Pages<ConversationMessage>;
}) {
  return (
    <>
      {messages.data?.meta.nextCursor === undefined ? null : (
        <button type="button" class="small" onClick={() => void messages.more()}>
          Earlier messages
        </button>
      )}
      <ol class="thread">
        {rows.toReversed().map((each) => (
          <li key={each.id} class={each.direction}>
            <p dir="auto">{each.message}</p>
            <div class="row muted">
              <Time at={each.at} />
              {each.direction === "inbound" ? (
                <span class="hidden">received</span>
              ) : (
                <a href={`#/messages/${each.id}`}>
                  <Status of={stateOf(each)} />
                </a>
              )}
            </div>
          </li>
        ))}
      </ol>
    </>
  );
}

/** A message may be scheduled, and some carriers send no receipts. So a new state is awaited for this long. */
const underWayMs = 10 * 60_000;

function isUnderWay({ status, delivery, at }: ConversationMessage): boolean {
  return (status === "queued" || delivery === "pending") && Date.now() - Date.parse(at) < underWayMs;
}

function stateOf({ status = "sent", delivery }: ConversationMessage): string {
  return delivery === "delivered" || delivery === "undelivered" ? delivery : status;
}

function Reply({ id, onSent }: { id: string; onSent: () => Promise<void> }) {
  const reply = async ({ message }: { message: string }, attemptKey: string): Promise<void> => {
    await api().replyToConversation({ params: { id }, body: { message }, idempotencyKey: attemptKey });
    form.reset();
    await onSent();
    announce("Reply accepted.");
  };
  const form = useForm({ message: "" }, reply, { draft: `reply to ${id}` });
  return (
    <Form form={form} action="Send reply">
      <TextArea
        field={form.field("message")}
        label="Message"
        rows={4}
        hint={<SegmentCount text={form.values.value.message} />}
      />
    </Form>
  );
}
