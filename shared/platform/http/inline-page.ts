import { createHash } from "node:crypto";

import type { RawResponse } from "./pipeline.ts";

/** A page that has its style, and its script if it has one, in itself. */
interface InlinePage {
  readonly title: string;
  readonly style: string;
  /** HTML. */
  readonly body: string;
  /** It may call the gateway. */
  readonly script?: string;
  /** A style sheet and a script of the gateway that come before the page's own, by their addresses. */
  readonly files?: { readonly style: string; readonly script: string };
}

/** Lays a page out, under a Content-Security-Policy that lets in what is its own, and nothing that got into its HTML. */
export function inlinePage({ title, style, body, script, files }: InlinePage): RawResponse {
  const own = files === undefined ? "" : "'self' ";
  const policy = [
    "default-src 'none'",
    ...(script === undefined ? [] : [`script-src ${own}${hashSource(script)}`]),
    `style-src ${own}${hashSource(style)}`,
    `img-src ${own}data:`,
    ...(script === undefined ? [] : ["connect-src 'self'"]),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  const styleSheet = files === undefined ? "" : `<link rel="stylesheet" href="${files.style}">\n`;
  const scripts = [
    ...(files === undefined ? [] : [`<script src="${files.script}"></script>\n`]),
    ...(script === undefined ? [] : [`<script>${script}</script>\n`]),
  ];
  return {
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": policy.join("; "),
    },
    body: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
${styleSheet}<style>${style}</style>
</head>
<body>
${body}
${scripts.join("")}</body>
</html>
`,
  };
}

/** What lets an inline script or style run under a Content-Security-Policy that forbids all others. */
function hashSource(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
