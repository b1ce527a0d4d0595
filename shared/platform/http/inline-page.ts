import { createHash } from "node:crypto";

import type { RawResponse } from "./pipeline.ts";

/** A page that contains its style, and its script if it has one. The brand adds its icon and its colors. */
interface InlinePage {
  readonly title: string;
  readonly style: string;
  /** HTML. */
  readonly body: string;
  /** A script that may call the gateway. */
  readonly script?: string;
  /** Other elements of the head. */
  readonly head?: string;
  /** The way from the page's folder to the root, such as `../`. */
  readonly root?: string;
}

/** Renders a page. Its Content-Security-Policy allows its own style and script, and nothing that was injected into its HTML. */
export function inlinePage({
  title,
  style,
  body,
  script,
  head = "",
  root = "",
}: InlinePage): RawResponse & { readonly body: string } {
  const policy = [
    "default-src 'none'",
    ...(script === undefined ? [] : [`script-src ${hashSource(script)}`]),
    `style-src 'self' ${hashSource(style)}`,
    "img-src 'self' data:",
    ...(script === undefined ? [] : ["connect-src 'self'"]),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  const scriptElement = script === undefined ? "" : `<script>${script}</script>\n`;
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
${head}<link rel="icon" href="${root}brand/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${root}brand/theme.css">
<style>${style}</style>
</head>
<body>
${body}
${scriptElement}</body>
</html>
`,
  };
}

/** Returns the source that allows one inline script or style in a Content-Security-Policy. */
function hashSource(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
