import type { ComponentChildren } from "preact";

import { baseUrl } from "../api.ts";
import { has } from "../features.ts";

/**
 * A link to the documentation, if the gateway serves it.
 * @param props `page` is the address after `/docs/`, by default the start page
 */
export function DocsLink({ page, children }: { page?: string; children: ComponentChildren }) {
  if (!has("docs")) return null;
  return (
    <a href={`${baseUrl}/docs${page === undefined ? "" : `/${page}`}`} target="_blank" rel="noopener">
      {children}&nbsp;↗
    </a>
  );
}
