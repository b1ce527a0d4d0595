import type { JSX } from "preact";

import { capitalized } from "../problems.ts";

type Tone = "bad" | "good" | "quiet" | "waiting";

/** A sign beside the word, so that the colour says nothing alone. */
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
