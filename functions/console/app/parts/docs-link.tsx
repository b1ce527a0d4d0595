import type { ComponentChildren, JSX } from "preact";

import { baseUrl } from "../api.ts";
import { has } from "../features.ts";

/** The way to the API reference, where the gateway has one. */
export function DocsLink({ children }: { children: ComponentChildren }): JSX.Element | null {
  if (!has("docs")) return null;
  return (
    <a href={`${baseUrl}/docs`} target="_blank" rel="noopener">
      {children}&nbsp;↗
    </a>
  );
}
