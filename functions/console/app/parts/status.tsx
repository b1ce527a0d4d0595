import { displayStatusOf } from "../../../../shared/api/contract/display-status.ts";
import type { Message } from "../../../../shared/api/contract/sms.ts";
import { capitalized } from "../problems.ts";

type Tone = "bad" | "good" | "quiet" | "waiting";

/** Signs beside the text, so that color is not the only cue. */
const signs: Readonly<Record<Tone, string>> = { good: "✓", bad: "✕", waiting: "◷", quiet: "–" };

const statuses: readonly (readonly [Tone, readonly string[]])[] = [
  ["waiting", ["queued", "scheduled", "sending", "pending", "invited", "held", "waiting for the operator"]],
  [
    "good",
    ["sent", "delivered", "completed", "approved", "active", "enabled", "succeeded", "done", "verified"],
  ],
  ["bad", ["blocked", "failed", "failing", "undelivered", "rejected", "refused", "suspended"]],
];

/** A status, in the words of the API, and whether it is that of a test. */
export function Status({ of, isTest = false }: { of: string; isTest?: boolean | undefined }) {
  const [tone] = statuses.find(([, ofTone]) => ofTone.includes(of)) ?? ["quiet" as const];
  return (
    <>
      <span class={`status ${tone}`}>
        <span aria-hidden="true">{signs[tone]}</span> {capitalized(of)}
      </span>
      {isTest ? (
        <>
          {" "}
          <Status of="test" />
        </>
      ) : null}
    </>
  );
}

/** Whether a message waits for its scheduled time. */
export function isScheduled({ status, scheduledAt }: Message): boolean {
  return status === "queued" && Date.parse(scheduledAt ?? "") > Date.now();
}

/**
 * The status of a message. A scheduled message is shown as scheduled, and a final delivery receipt replaces `sent`. A test
 * message is marked.
 */
export function MessageState({ message }: { message: Message }) {
  const status = displayStatusOf(message, message.delivery?.status, new Date());
  return <Status of={status} isTest={message.test} />;
}
