import { beforeAll, describe, expect, it } from "vitest";

import { buildSite, type SiteFiles } from "../../infra/build/docs/site.ts";
import { errorCatalogue } from "../../shared/api/contract/errors.ts";
import { EventName } from "../../shared/api/contract/events.ts";
import { openApiDocument } from "../../shared/api/openapi/openapi.ts";
import { publicOperations } from "../../shared/api/routes.ts";

const document = openApiDocument();
let files: SiteFiles;
beforeAll(async () => {
  files = await buildSite();
});

/** Returns a page of the site by its address, without the `/docs` at its beginning. */
function pageAt(pathname: string): string | undefined {
  const address = pathname.replace(/^\/docs\/?/, "");
  if (/\.(md|js|css|json|txt)$/.test(address)) return files.get(address.replaceAll("/", "--"));
  return files.get(`${address === "" ? "index" : address.replaceAll("/", "--")}.html`);
}

it.each(publicOperations())("%s has a page with samples in six languages and a form", (operation, route) => {
  const page = pageAt(`/docs/operations/${operation}`) ?? "";
  for (const language of ["curl", "typescript", "python", "php", "go", "java"]) {
    expect(page).toContain(`data-language="${language}"`);
  }
  expect(page).toContain(`data-method="${route.method}" data-path="${route.path}"`);
  const markdown = files.get(`operations--${operation}.md`);
  expect(markdown).toContain("### Java");
  expect(markdown).not.toContain("(double)");
  const text = route.description ?? "";
  expect(text).toMatch(/^[A-Z].{15,}\.$/);
  expect(document.paths[route.path]?.[route.method.toLowerCase()]?.description).toContain(text);
  expect(markdown).toContain(text);
});

it.each(Object.keys(errorCatalogue))("the error %s has a page", (code) => {
  expect(pageAt(`/docs/errors/${code}`)).toContain(`<h1 id="${code.toLowerCase()}">`);
});

it.each(EventName.options)("the event %s has a page with an example", (event) => {
  expect(pageAt(`/docs/events/${event}`)).toContain("<h1");
  expect(files.get(`events--${event}.md`)).toContain(`"event": "${event}"`);
});

describe("links", () => {
  /** Addresses of the gateway that are not in the documentation. */
  const others = new Set([
    "/brand/icon.svg",
    "/brand/theme.css",
    "/console",
    "/openapi.json",
    "/openapi.yaml",
    "/llms.txt",
  ]);

  it("of all pages lead to pages and anchors that exist", () => {
    const broken: string[] = [];
    for (const [name, html] of files) {
      if (!name.endsWith(".html") || name === "404.html") continue;
      const address =
        name === "index.html" ? "/docs" : `/docs/${name.slice(0, -".html".length).replaceAll("--", "/")}`;
      for (const [, href = ""] of html.matchAll(/ (?:href|src)="([^"]*)"/g)) {
        if (/^(https:|data:|\{\{brand)/.test(href)) continue;
        const { pathname, hash } = new URL(href, `http://gateway${address}`);
        const target = pageAt(pathname);
        // The test of the endpoints downloads the packages.
        if (pathname.startsWith("/docs/packages/")) continue;
        const isFound = others.has(pathname) || (pathname.startsWith("/docs") && target !== undefined);
        const hasAnchor = hash === "" || target?.includes(`id="${hash.slice(1)}"`) === true;
        if (!isFound || !hasAnchor) broken.push(`${address}: ${href}`);
      }
    }
    expect(broken).toEqual([]);
  });

  it("of llms.txt lead to Markdown that exists", () => {
    const addresses = [...(files.get("llms.txt") ?? "").matchAll(/\]\(\{\{brand\.url\}\}([^)]+)\)/g)];
    expect(addresses.length).toBeGreaterThan(100);
    for (const [, address = ""] of addresses) expect(pageAt(address), address).toMatch(/^# /);
  });
});

it("no page contains an inline script, a style, or an unknown placeholder", () => {
  for (const [name, text] of files) {
    if (!name.endsWith(".html")) continue;
    expect(text, name).not.toMatch(/<script>|<style|style="| on\w+="/);
    const placeholders = new Set(text.match(/\{\{\w+\.\w+\}\}/g));
    expect(
      [...placeholders].filter((each) => !/^\{\{brand\.(name|url)\}\}$/.test(each)),
      name,
    ).toEqual([]);
  }
});
