import type { SearchRecord } from "../../../shared/api/contract/docs.ts";
import { tagDescriptions } from "../../../shared/api/openapi/introduction.ts";
import { openApiDocument } from "../../../shared/api/openapi/openapi.ts";
import { sampleAddress } from "../../../shared/api/openapi/samples.ts";
import { hashedBundle, mainFile } from "../browser-bundle.ts";
import { addressOf, htmlPage, markdownAddressOf, type Assets, type Section } from "./layout.ts";
import { renderMarkdown } from "./markdown.ts";
import { operationPages, type ApiDocument } from "./operation-pages.ts";
import { changelogPage, errorPages, eventPages, guidePages } from "./other-pages.ts";
import { plainText, type Page } from "./page.ts";

/** The files of the documentation, by their names. A slash in an address is `--` in a name. */
export type SiteFiles = ReadonlyMap<string, string>;

/** Builds the documentation: pages in HTML and Markdown, scripts, the style sheet, the index of the search and `llms.txt`. */
export async function buildSite(): Promise<SiteFiles> {
  const pages = await documentationPages();
  const sections = sectionsOf(pages);
  const search = searchRecords(pages);
  const built = await hashedBundle(["main.ts", "main.css"], "functions/docs/app");
  const assets: Assets = { script: mainFile(built, "js"), style: mainFile(built, "css") };
  const files = new Map<string, string>(built);
  files.set("search.json", JSON.stringify(search));
  for (const page of pages) {
    files.set(fileName(page, "html"), htmlPage(page, sections, assets));
    files.set(fileName(page, "md"), markdownPage(page));
  }
  files.set(
    "404.html",
    htmlPage(notFoundPage, sections, assets).replaceAll(/(?<= (?:href|src|data-root)=")\.\.\//g, "{{root}}"),
  );
  files.set("llms.txt", llmsText(sections));
  return files;
}

/** Returns all pages of the documentation. */
async function documentationPages(): Promise<Page[]> {
  const document: ApiDocument = openApiDocument();
  return [
    ...(await guidePages()),
    ...operationPages(document),
    ...eventPages(document),
    ...errorPages(),
    await changelogPage(),
  ];
}

const notFoundPage: Page = {
  path: "404",
  section: "",
  title: "Page not found",
  description: "There is no such page.",
  markdown: `# Page not found

There is no page at this address. Begin at the [start page](/docs), or look at these lists:

- [Quickstart](/docs/guides/quickstart)
- [Errors](/docs/errors)
- [Events](/docs/events)
- [Changelog](/docs/changelog)
`,
};

/** Returns the name of a page's file. */
function fileName({ path: address }: Page, type: "html" | "md"): string {
  return `${address === "" ? "index" : address.replaceAll("/", "--")}.${type}`;
}

/** Groups pages for the navigation: guides, a section for each tag, and the other lists. */
function sectionsOf(pages: readonly Page[]): Section[] {
  const bySection = Map.groupBy(pages, ({ section }) => section);
  const tags = Object.keys(tagDescriptions).map((tag): [string, string] => [tag, tagTitle(tag)]);
  const named: [string, string][] = [
    ["Guides", "Guides"],
    ...tags,
    ["Events", "Events"],
    ["Errors", "Errors"],
  ];
  const sections = named.flatMap(([section, title]) => {
    const ofSection = bySection.get(section) ?? [];
    return ofSection.length === 0 ? [] : [{ title, pages: ofSection }];
  });
  return [...sections, { title: "More", pages: bySection.get("Changelog") ?? [] }];
}

function tagTitle(tag: string): string {
  const names: Readonly<Record<string, string>> = {
    sms: "Messages",
    kyc: "KYC",
    auth: "Accounts and API keys",
  };
  const words = tag.replaceAll("-", " ").replace("ids", "IDs");
  return names[tag] ?? words.charAt(0).toUpperCase() + words.slice(1);
}

/** Returns the Markdown of a page with its samples and absolute links. */
function markdownPage({ markdown, samples = [] }: Page): string {
  const blocks = samples.map(
    ({ lang, label, source }) => `### ${label}\n\n\`\`\`${lang}\n${source.trimEnd()}\n\`\`\``,
  );
  const text = [markdown.trim(), ...(blocks.length === 0 ? [] : ["## Samples", ...blocks])].join("\n\n");
  return `${text.replaceAll("](/", "]({{brand.url}}/").replaceAll(sampleAddress, "{{brand.url}}")}\n`;
}

/** Returns the list of all pages for language models, as https://llmstxt.org describes. */
function llmsText(sections: readonly Section[]): string {
  const parts = sections.map(({ title, pages }) =>
    [
      `## ${title}`,
      ...pages.map(
        (page) => `- [${page.title}]({{brand.url}}${markdownAddressOf(page)}): ${page.description}`,
      ),
    ].join("\n"),
  );
  return `# {{brand.name}}

> Prepaid SMS over an HTTPS API. Base address: {{brand.url}}. OpenAPI document: {{brand.url}}/openapi.json

${parts.join("\n\n")}
`;
}

/** The most characters of a record's text: enough for its first paragraphs and fields. */
const maxTextLength = 1_500;

/** Returns what the search knows: each page, and each part of a guide. */
function searchRecords(pages: readonly Page[]): SearchRecord[] {
  const records = pages.flatMap((page) => {
    const { headings } = renderMarkdown(page.markdown);
    const parts = page.section === "Guides" ? page.markdown.split(/^(?=## )/m) : [page.markdown];
    const titles = headings.filter(({ depth }) => depth === 2);
    return parts.map((part, index) => {
      const heading = index === 0 ? undefined : titles[index - 1];
      return {
        address: `${addressOf(page)}${heading === undefined ? "" : `#${heading.id}`}`,
        title: heading?.title ?? page.title,
        section: heading === undefined ? page.section : page.title,
        text: plainText(part.replaceAll(/^```.*?^```/gms, "").replaceAll(/[#|]|---/g, " ")).slice(
          0,
          maxTextLength,
        ),
      };
    });
  });
  return records.map((record, id) => ({ id, ...record }));
}
