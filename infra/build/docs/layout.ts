import { sampleAddress } from "../../../shared/api/openapi/samples.ts";
import { escapeHtml } from "../../../shared/platform/html.ts";
import { renderMarkdown, tabs } from "./markdown.ts";
import type { Page } from "./page.ts";

/** The names of the built script and style sheet. */
export interface Assets {
  readonly script: string;
  readonly style: string;
}

/** A part of the navigation: a heading with pages below it. */
export interface Section {
  readonly title: string;
  readonly pages: readonly Page[];
}

/** Returns the address of a page. */
export function addressOf({ path }: Pick<Page, "path">): string {
  return path === "" ? "/docs" : `/docs/${path}`;
}

/** Returns a page as HTML, with relative links so that it also works under a path prefix. */
export function htmlPage(page: Page, sections: readonly Section[], assets: Assets): string {
  const { html, headings } = renderMarkdown(page.markdown);
  const contents = headings.filter(({ depth }) => depth === 2);
  const toc =
    page.aside !== undefined || contents.length < 2
      ? ""
      : `<nav class="contents" aria-label="On this page"><p>On this page</p><ul>${contents
          .map(({ id, title }) => `<li><a href="#${id}">${escapeHtml(title)}</a></li>`)
          .join("")}</ul></nav>`;
  const samples =
    page.samples === undefined
      ? ""
      : `<section aria-labelledby="samples"><h2 id="samples">Samples</h2>\n${tabs(page.samples, "sample")}</section>\n`;
  const aside = `${samples}${page.aside ?? ""}${toc}`;
  const method = page.method === undefined ? "" : ` data-method="${page.method}"`;
  const text = `<!doctype html>
<html lang="en" data-root="/">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.path === "" ? "" : `${escapeHtml(page.title)} – `}{{brand.name}} documentation</title>
<meta name="description" content="${escapeHtml(page.description)}">
<link rel="canonical" href="{{brand.url}}${addressOf(page)}">
<link rel="alternate" type="text/markdown" href="${markdownAddressOf(page)}">
<link rel="icon" href="/brand/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/docs/${assets.style}">
<link rel="stylesheet" href="/brand/theme.css">
<script type="module" src="/docs/${assets.script}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top">
<button class="menu" popovertarget="navigation">Menu</button>
<a class="brand" href="/docs">{{brand.name}} <span>Docs</span></a>
<button class="search" hidden>Search <kbd>/</kbd></button>
<nav class="links" aria-label="Site"><a href="/console">Console</a></nav>
</header>
<nav id="navigation" popover aria-label="Documentation">
${sections.map((section) => navigationSection(section, page)).join("\n")}
<p><a href="/console">Console</a></p>
</nav>
<main id="content"${method}${aside === "" ? "" : ' class="with-aside"'} tabindex="-1">
<article>
${html}<footer><a href="${markdownAddressOf(page)}">This page as Markdown</a></footer>
</article>
${aside === "" ? "" : `<aside aria-label="${samples === "" ? "Contents" : "Samples"}">\n${aside}\n</aside>\n`}</main>
</body>
</html>
`;
  // Samples use the address of this gateway. The highlighting of a template would separate the braces.
  return withRelativeLinks(text, page).replaceAll(sampleAddress, "{{brand.url}}");
}

/** Returns the address of the Markdown of a page. */
export function markdownAddressOf(page: Page): string {
  return page.path === "" ? "/docs/index.md" : `${addressOf(page)}.md`;
}

function navigationSection({ title, pages }: Section, current: Page): string {
  const links = pages.map((page) => {
    const method =
      page.method === undefined ? "" : `<b class="${page.method}">${shortMethod(page.method)}</b>`;
    const state = page === current ? ' aria-current="page"' : "";
    return `<li><a href="${addressOf(page)}"${state}>${escapeHtml(page.title)}${method}</a></li>`;
  });
  const isOpen = title === "Guides" || pages.includes(current);
  return `<details${isOpen ? " open" : ""}><summary>${escapeHtml(title)}</summary><ul>\n${links.join("\n")}\n</ul></details>`;
}

function shortMethod(method: string): string {
  return method === "DELETE" ? "DEL" : method;
}

/** Makes addresses relative to a page. Links to the public address of the gateway stay. */
function withRelativeLinks(html: string, { path }: Page): string {
  const depth = path === "" ? 0 : path.split("/").length;
  const root = depth === 0 ? "./" : "../".repeat(depth);
  return html.replaceAll(/(?<= (?:href|src|data-root)=")\//g, root);
}
