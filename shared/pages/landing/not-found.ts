import { filled } from "../../notices/brand/brand.ts";
import { inlinePage } from "../../platform/http/inline-page.ts";
import type { RawResponse } from "../../platform/http/pipeline.ts";

const style = `
:root { color-scheme: light dark; }
body { background: light-dark(#ffffff, #0e1412); color: light-dark(#16211c, #e8efeb);
  max-width: 40rem; margin: 15vh auto; padding: 0 1.25rem; font: 1.05rem/1.6 system-ui, sans-serif; }
a { color: var(--accent); }
`;

/** Returns what a browser shows for an address without a page. Its links are relative, as on the start page. */
export function notFoundPage(path: string): RawResponse {
  const root = "../".repeat(path.split("/").length - 2);
  const { headers, body } = inlinePage({
    title: "Page not found · {{brand.name}}",
    style,
    root,
    body: `<main>
<h1>Page not found</h1>
<p>This address has no page. Go to the <a href="${root || "./"}">start page</a> or to the <a href="${root}console">console</a>.</p>
</main>`,
  });
  return { status: 404, headers, body: filled(body) };
}
