import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";

import { RequestError } from "../../../../shared/client.ts";
import { errorCatalogue } from "../../../../shared/contract/errors.ts";
import { messageOf } from "../api.ts";

/** What was done last, for those who see the page and for those who hear it. */
const announcement = signal<{ readonly text: string; readonly at: number } | undefined>(undefined);

/** Says for some seconds that something is done. */
export function announce(text: string): void {
  const at = performance.now();
  announcement.value = { text, at };
  setTimeout(() => {
    if (announcement.peek()?.at === at) announcement.value = undefined;
  }, 6_000);
}

/** Where announcements appear. */
export function Announcements(): JSX.Element {
  const { value } = announcement;
  return (
    <div class="announcements" role="status">
      {value === undefined ? null : <p key={value.at}>{value.text}</p>}
    </div>
  );
}

/** Something to know: `bad` went wrong, `good` went well. */
export function Notice({
  tone,
  children,
}: {
  tone: "bad" | "good" | "info";
  children: ComponentChildren;
}): JSX.Element {
  return (
    <div class={`notice ${tone}`} role={tone === "bad" ? "alert" : "note"}>
      {children}
    </div>
  );
}

/** What went wrong, in the API's words, with what to do about it. */
export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }): JSX.Element {
  const { code, requestId, details, retryAfterSeconds } = error instanceof RequestError ? error : {};
  return (
    <Notice tone="bad">
      <p>
        <strong>{messageOf(error)}</strong>
        {code === undefined || code === "VALIDATION_ERROR" ? null : ` ${errorCatalogue[code].remedy}`}
      </p>
      {details === undefined || details.length === 0 ? null : (
        <ul>
          {details.map(({ path, message }) => (
            <li key={path}>{path === "" ? message : `${path}: ${message}`}</li>
          ))}
        </ul>
      )}
      {retryAfterSeconds === undefined ? null : <p>Wait {retryAfterSeconds} seconds.</p>}
      {requestId === undefined ? null : (
        <p class="muted">
          Request <code>{requestId}</code>
        </p>
      )}
      {onRetry === undefined ? null : (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </Notice>
  );
}
