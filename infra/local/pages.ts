import { createHash } from "node:crypto";

/** A page of the local gateway itself. */
export interface LocalPage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const pageHeaders = {
  "cache-control": "no-store",
  // With no referrer, a browser would send forms to the page's own server with the origin "null".
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
};

export interface PageContent {
  readonly title: string;
  readonly style: string;
  /** HTML. */
  readonly body: string;
  /** Where its forms may lead, as in a content security policy. */
  readonly formAction?: string;
}

/** Returns a page without scripts. */
export function htmlPage({ title, style, body, formAction = "'none'" }: PageContent): LocalPage {
  return {
    headers: {
      ...pageHeaders,
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": [
        "default-src 'none'",
        `style-src ${hashSource(style)}`,
        "img-src data:",
        "base-uri 'none'",
        `form-action ${formAction}`,
        "frame-ancestors 'none'",
      ].join("; "),
    },
    body: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
${body}
</body>
</html>
`,
  };
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

/** Returns the source expression that allows one inline style in a content security policy. */
function hashSource(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
