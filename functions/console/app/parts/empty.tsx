import type { ComponentChildren, JSX } from "preact";

/** The empty state of a list, with what to do next. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="empty">
      <p class="title">{title}</p>
      {children}
    </div>
  );
}
