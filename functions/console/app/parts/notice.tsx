import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";

import { RequestError } from "../../../../shared/api/client/client.ts";
import { remedies } from "../../../../shared/api/contract/remedies.ts";
import { fundsLink } from "../features.ts";
import { fieldProblems, messageOf, problemOfField, problemTexts } from "../problems.ts";
import { currentView, here } from "../router.ts";
import { DocsLink } from "./docs-link.tsx";
import { countText } from "./money.tsx";

/** The latest confirmation, which screen readers announce as well. */
const announcement = signal<
  { readonly text: string; readonly at: number; readonly view: string } | undefined
>(undefined);

/** Shows a confirmation for some seconds or until the view changes. */
export function announce(text: string): void {
  const at = performance.now();
  announcement.value = { text, at, view: currentView() };
  setTimeout(() => {
    if (announcement.peek()?.at === at) announcement.value = undefined;
  }, 6_000);
}

export function Announcements() {
  const { value } = announcement;
  const { parts } = here.value;
  useEffect(() => {
    if (announcement.peek()?.view !== currentView()) announcement.value = undefined;
  }, [parts.join("/")]);
  return (
    <div class="announcements" role="status">
      {value === undefined ? null : <p key={value.at}>{value.text}</p>}
    </div>
  );
}

export function Notice({ tone, children }: { tone: "bad" | "good" | "info"; children: ComponentChildren }) {
  return (
    <div class={`notice ${tone}`} role={tone === "bad" ? "alert" : "note"}>
      {children}
    </div>
  );
}

/** Describes an error and its remedy. */
export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { code, requestId, retryAfterSeconds, status = 0 } = error instanceof RequestError ? error : {};
  const words = code === undefined ? undefined : problemTexts[code];
  const details = fieldProblems(error);
  const link = words?.link === "funds" ? fundsLink : words?.link;
  const remedy = code === undefined || details.length > 0 ? undefined : (words?.remedy ?? remedies[code]);
  return (
    <Notice tone="bad">
      {details.length > 0 ? (
        details.map(({ path }) => <p key={path}>{problemOfField(path, details)}</p>)
      ) : (
        <p>
          <strong>{messageOf(error)}</strong> {remedy}
        </p>
      )}
      {link === undefined ? null : (
        <p>
          <a href={link[0]}>{link[1]}</a>
        </p>
      )}
      {retryAfterSeconds === undefined ? null : <p>Try again in {countText(retryAfterSeconds, "second")}.</p>}
      {requestId === undefined || status < 500 ? null : (
        <p class="muted">
          Request ID <code>{requestId}</code>
        </p>
      )}
      {code === undefined || details.length > 0 ? null : (
        <p>
          <DocsLink page={`errors/${code}`}>About this error</DocsLink>
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
