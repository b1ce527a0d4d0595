import { readFile } from "node:fs/promises";
import path from "node:path";

import { errorCatalogue } from "../../../shared/api/contract/errors.ts";
import { remedies } from "../../../shared/api/contract/remedies.ts";
import { allSenderRules } from "../../../shared/api/contract/sender-rules.ts";
import { apiVersion } from "../../../shared/api/contract/version.ts";
import { errorCodes, failureTable, sandboxNumberTable } from "../../../shared/api/openapi/introduction.ts";
import { publicOperations } from "../../../shared/api/routes.ts";
import { errorsOf } from "../../../shared/api/routes/route.ts";
import { projectRoot } from "../project-root.ts";
import { pythonVersion } from "../sdks/python-version.ts";
import { fieldList, markdownText } from "./fields.ts";
import type { ApiDocument } from "./operation-pages.ts";
import { jsonBlock, markdownTable, plainText, type Page } from "./page.ts";

/** The guides in their order, as files of `shared/pages/docs/guides/` or elsewhere. The first one is the start page. */
const guides = [
  "start",
  "quickstart",
  "sdks",
  "typescript",
  "python",
  "sending",
  "unicode-and-segments",
  "webhooks",
  "errors",
  "idempotency",
  "limits",
  "test-numbers",
  "going-live",
  "opt-outs",
  "one-time-codes",
  "login-systems",
  "payments",
];

const guideFiles: Readonly<Record<string, string>> = {
  typescript: "shared/api/client/README.md",
  python: "shared/api/client/python/README.md",
};

export async function guidePages(): Promise<Page[]> {
  return Promise.all(
    guides.map(async (name) => {
      const file = path.join(projectRoot, guideFiles[name] ?? `shared/pages/docs/guides/${name}.md`);
      const markdown = (await readFile(file, "utf8"))
        .replace("{{failures}}", failureTable())
        .replace("{{sandboxNumbers}}", sandboxNumberTable())
        .replace("{{senderRules}}", senderRuleTable())
        .replaceAll("{{version}}", apiVersion)
        .replaceAll("{{pythonVersion}}", pythonVersion);
      const [, title = "", first = ""] = /^# (.+)\n\n((?:.+\n)+)/.exec(markdown) ?? [];
      return {
        path: name === "start" ? "" : `guides/${name}`,
        section: "Guides",
        title,
        description: plainText(first),
        markdown,
      };
    }),
  );
}

/** Returns the rules of countries for senders with letters. */
function senderRuleTable(): string {
  const words = { yes: "Allowed", registered: "Registration required", never: "Not accepted" };
  const countries = new Intl.DisplayNames("en", { type: "region" });
  const rows = allSenderRules().map(({ country, alpha, rule, source, date }) => {
    return [countries.of(country) ?? country, words[alpha], markdownText(rule), `[${date}](${source})`];
  });
  return markdownTable(
    ["Country", "Letters", "Rule", "Source"],
    rows.toSorted(([a = ""], [b = ""]) => (a < b ? -1 : 1)),
  );
}

/** Returns a page for each error code, and one that lists them. */
export function errorPages(): Page[] {
  const list = markdownTable(
    ["Code", "Status", "What it means"],
    errorCodes.map((code) => [
      `[\`${code}\`](/docs/errors/${code})`,
      String(errorCatalogue[code].status),
      markdownText(errorCatalogue[code].message),
    ]),
  );
  const pages = errorCodes.map((code): Page => {
    const { status, message } = errorCatalogue[code];
    const operations = publicOperations()
      .filter(([, route]) => errorsOf(route).includes(code))
      .map(([operation, { summary }]) => `- [${summary}](/docs/operations/${operation})`);
    const parts = [
      `# ${code}`,
      `Status \`${status}\``,
      markdownText(message),
      "## What to do",
      remedies[code],
      "## Example",
      jsonBlock({
        error: {
          code,
          message,
          requestId: "0f6a3c1e-5d0b-4a52-9d0f-3a1f8a3f7c11",
          docUrl: `{{brand.url}}/docs/errors/${code}`,
        },
      }),
      ...(operations.length === 0 ? [] : [`## Operations that return it`, operations.join("\n")]),
    ];
    return {
      path: `errors/${code}`,
      section: "Errors",
      title: code,
      description: message,
      markdown: parts.join("\n\n"),
    };
  });
  const description = "All error codes of the API, with their statuses and remedies.";
  return [
    {
      path: "errors",
      section: "Errors",
      title: "Errors",
      description,
      markdown: `# Errors\n\nThe [guide to errors](/docs/guides/errors) shows how to handle them.\n\n${list}`,
    },
    ...pages,
  ];
}

/** Returns a page for each event, and one that lists them. */
export function eventPages(document: ApiDocument): Page[] {
  const events = Object.entries(document["x-webhooks"]).map(([name, { post }]) => ({ name, ...post }));
  const pages = events.map(({ name, summary, requestBody }): Page => {
    const { schema, example } = requestBody.content["application/json"] ?? {};
    const parts = [
      `# ${name}`,
      `${markdownText(summary)}.`,
      "Your endpoint gets this event if its `events` name it. The [guide to webhooks](/docs/guides/webhooks) shows how to " +
        "verify the call.",
      "## Payload",
      fieldList(schema ?? {}, document.components.schemas),
      "## Example",
      jsonBlock(example),
    ];
    return {
      path: `events/${name}`,
      section: "Events",
      title: name,
      description: `${plainText(summary)}.`,
      markdown: parts.join("\n\n"),
    };
  });
  const rows = events.map(({ name, summary }) => [
    `[\`${name}\`](/docs/events/${name})`,
    markdownText(summary),
  ]);
  return [
    {
      path: "events",
      section: "Events",
      title: "Events",
      description: "All events that the gateway sends to your webhooks.",
      markdown: `# Events\n\nThe [guide to webhooks](/docs/guides/webhooks) shows how to receive them.\n\n${markdownTable(["Event", "When"], rows)}`,
    },
    ...pages,
  ];
}

/** Headings and words of the changelog that concern only the operator of a gateway. */
const operatorHeadings =
  /upgrade|operat|local|alarm|deploy|infrastructure|development|tests|figures|carriers/i;
const operatorWords = /`operator|operator\b|\bstage|alarm|deploy|`npm|local gateway|runbook|\]\((?!https?:)/i;

/** Returns the changelog without what concerns only operators. */
export async function changelogPage(): Promise<Page> {
  const changelog = await readFile(path.join(projectRoot, "CHANGELOG.md"), "utf8");
  const releases = changelog.split(/^(?=## )/m).slice(1);
  const kept = releases.map((release) => {
    const [heading = "", ...sections] = release.split(/^(?=### )/m);
    const [title = ""] = heading.split("\n");
    const parts = sections.flatMap((section) => {
      const [name = "", ...lines] = section.split("\n");
      const items = lines
        .join("\n")
        .split(/^(?=- )/m)
        .filter((item) => item.startsWith("- ") && !operatorWords.test(item));
      return operatorHeadings.test(name) || items.length === 0 ? [] : [`${name}\n\n${items.join("").trim()}`];
    });
    return [title, ...parts].join("\n\n");
  });
  return {
    path: "changelog",
    section: "Changelog",
    title: "Changelog",
    description: "Changes of the API and the console, newest first.",
    markdown: `# Changelog\n\nChanges of the API and the console, newest first.\n\n${kept.join("\n\n")}\n`,
  };
}
