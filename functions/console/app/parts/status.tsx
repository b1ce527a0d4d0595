import type { JSX } from "preact";

import type { Message } from "../../../../shared/contract/sms.ts";
import { capitalized } from "../problems.ts";

type Tone = "bad" | "good" | "quiet" | "waiting";

/** Signs beside the text, so that color is not the only cue. */
const signs: Readonly<Record<Tone, string>> = { good: "✓", bad: "✕", waiting: "◷", quiet: "–" };

const tones: Readonly<Record<string, Tone>> = {
  queued: "waiting",
  scheduled: "waiting",
  sending: "waiting",
  pending: "waiting",
  invited: "waiting",
  sent: "good",
  delivered: "good",
  completed: "good",
  approved: "good",
  active: "good",
  enabled: "good",
  succeeded: "good",
  done: "good",
  failed: "bad",
  failing: "bad",
  undelivered: "bad",
  rejected: "bad",
  refused: "bad",
  suspended: "bad",
};

/** A status, in the words of the API. */
export function Status({ of }: { of: string }): JSX.Element {
  const tone = tones[of] ?? "quiet";
  return (
    <span class={`status ${tone}`}>
      <span aria-hidden="true">{signs[tone]}</span> {capitalized(of)}
    </span>
  );
}

/** The status of a message. A scheduled message is shown as scheduled, and a final delivery receipt replaces `sent`. */
export function MessageState({ message }: { message: Message }): JSX.Element {
  const isScheduled = message.status === "queued" && Date.parse(message.scheduledAt ?? "") > Date.now();
  const { status } = message.delivery ?? {};
  const isReceiptFinal = status === "delivered" || status === "undelivered";
  return <Status of={isScheduled ? "scheduled" : isReceiptFinal ? status : message.status} />;
}
