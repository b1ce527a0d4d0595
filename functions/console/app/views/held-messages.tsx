import type { HeldMessage } from "../../../../shared/api/contract/held-messages.ts";
import { api } from "../api.ts";
import { ActionButton, ConfirmButton } from "../parts/dialog.tsx";
import { ListView } from "../parts/list-view.tsx";
import { usePages } from "../parts/load.tsx";
import { countText, Money } from "../parts/money.tsx";
import { useNames } from "../parts/names.ts";
import { announce } from "../parts/notice.tsx";
import { numberText } from "../parts/phone.tsx";
import { Status } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { countWaiting } from "../waiting.ts";

/** Messages of limited API keys that wait for a person. */
export function HeldMessages() {
  const held = usePages(async (query) => api().listHeldMessages({ query }), []);
  const nameOf = useNames();
  return (
    <ListView
      title="Held messages"
      lead="Messages of API keys above the price that these keys may send alone. They are sent as if you had written them, and only if you approve them."
      heading="Messages"
      listActions={<ApproveAll shown={held.data?.rows ?? []} onDecided={held.reload} />}
      pages={held}
      columns={{
        To: ({ to }) => numberText(to),
        // Whole, because a person decides about it.
        Message: ({ message }) => <span dir="auto">{message}</span>,
        "Sender ID": ({ senderId }) => <bdi>{senderId}</bdi>,
        Key: ({ apiKeyId }) => <span class="break">{nameOf(apiKeyId) ?? apiKeyId}</span>,
        Price: { number: ({ pricing }) => <Money amount={pricing.total} /> },
        Status: ({ status, messageId }) =>
          messageId === undefined ? (
            <Status of={status} />
          ) : (
            <a href={`#/messages/${messageId}`}>
              <Status of={status} />
            </a>
          ),
        Held: ({ heldAt }) => <Time at={heldAt} />,
        Expires: ({ expiresAt }) => <Time at={expiresAt} />,
        Actions: (message) => <Decision of={message} onDecided={held.reload} />,
      }}
      empty={{
        title: "No held messages",
        hint: "Create an API key that may send only up to a price. Messages above it appear here.",
      }}
    />
  );
}

/** Approves the shown messages, each at the price that the person sees. */
function ApproveAll({ shown, onDecided }: { shown: readonly HeldMessage[]; onDecided: () => Promise<void> }) {
  const waiting = shown.filter(({ status }) => status === "held");
  if (waiting.length < 2) return null;
  const sum = waiting.reduce((total, { pricing }) => total + pricing.total, 0);
  const approveAll = async (): Promise<void> => {
    try {
      for (const { id, pricing } of waiting) {
        await api().decideHeldMessage({ params: { id }, body: { approve: true, total: pricing.total } });
      }
      announce(`${countText(waiting.length, "message")} approved.`);
    } finally {
      await Promise.all([onDecided(), countWaiting()]);
    }
  };
  return (
    <ConfirmButton
      label="Approve all"
      question={`Approve ${countText(waiting.length, "message")}?`}
      consequence={
        <>
          They cost <Money amount={sum} />, and are sent as if you had written them. After an error the rest
          still waits.
        </>
      }
      act={approveAll}
    />
  );
}

function Decision({ of: message, onDecided }: { of: HeldMessage; onDecided: () => Promise<void> }) {
  const { id, status, pricing } = message;
  if (status !== "held") return null;
  const decide = async (approve: boolean): Promise<void> => {
    try {
      await api().decideHeldMessage({ params: { id }, body: { approve, total: pricing.total } });
      announce(approve ? "Message approved." : "Message rejected.");
    } finally {
      // After an error too: the message may have another price now.
      await Promise.all([onDecided(), countWaiting()]);
    }
  };
  return (
    <div class="row">
      {/* Without another question, because the row has all of the message, and this page has no other purpose. */}
      <ActionButton label="Approve" act={async () => decide(true)} />
      <ActionButton label="Reject" act={async () => decide(false)} />
    </div>
  );
}
