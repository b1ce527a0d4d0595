import type { ComponentChildren } from "preact";

import { baseUrl } from "../api.ts";
import { has } from "../features.ts";

/** A link to the API reference, if the gateway serves one. */
export function DocsLink({ children }: { children: ComponentChildren }) {
  if (!has("docs")) return null;
  return (
    <a href={`${baseUrl}/docs`} target="_blank" rel="noopener">
      {children}&nbsp;↗
    </a>
  );
}
