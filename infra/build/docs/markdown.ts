import highlighter from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import json from "highlight.js/lib/languages/json";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import typescript from "highlight.js/lib/languages/typescript";
import { Marked, type Token, type Tokens } from "marked";

import { escapeHtml } from "../../../shared/platform/html.ts";

/*
 * Markdown as HTML: headings with anchors, highlighted code, and the same code in several languages as tabs.
 */

const grammars = { bash, go, java, json, php, python, ruby, typescript };
for (const [name, grammar] of Object.entries(grammars)) highlighter.registerLanguage(name, grammar);

/** The languages of code blocks, as tabs name them. */
const languageLabels: Readonly<Record<string, string>> = {
  bash: "curl",
  typescript: "TypeScript",
  python: "Python",
  php: "PHP",
  go: "Go",
  java: "Java",
  ruby: "Ruby",
};

interface Heading {
  readonly id: string;
  readonly title: string;
  readonly depth: number;
}

interface RenderedMarkdown {
  readonly html: string;
  readonly headings: readonly Heading[];
}

/** Renders a page. The ids of its headings follow from their texts. */
export function renderMarkdown(source: string): RenderedMarkdown {
  const headings: Heading[] = [];
  const ids = new Set<string>();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const title = text.replaceAll(/[`*\\]/g, "");
        const id = slug(title, ids);
        headings.push({ id, title, depth });
        const anchor =
          depth === 1
            ? ""
            : ` <a class="anchor" href="#${id}" aria-label="Link to ${escapeHtml(title)}">#</a>`;
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}${anchor}</h${depth}>\n`;
      },
      code({ text, lang = "" }) {
        return codeBlock(text, lang);
      },
      // A code breaks after an underscore only.
      codespan: ({ text }) => `<code>${escapeHtml(text).replaceAll("_", "_<wbr>")}</code>`,
      table(token) {
        const row = (cells: Tokens.TableCell[], tag: string): string =>
          `<tr>${cells.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join("")}</tr>`;
        const body = token.rows.map((cells) => row(cells, "td")).join("\n");
        return `<div class="table" tabindex="0"><table><thead>${row(token.header, "th")}</thead><tbody>${body}</tbody></table></div>\n`;
      },
    },
  });
  const tokens = marked.lexer(source);
  const parts: string[] = [];
  for (const group of codeGroups(tokens)) {
    parts.push(
      group.length === 1
        ? marked.parser(group)
        : tabs(
            group.flatMap((token) =>
              token.type === "code" ? [{ lang: String(token["lang"]), source: String(token["text"]) }] : [],
            ),
            `code-${parts.length}`,
          ),
    );
  }
  return { html: parts.join(""), headings };
}

/** Joins code blocks that follow each other in different languages of samples; other tokens are alone. */
function codeGroups(tokens: readonly Token[]): Token[][] {
  const groups: Token[][] = [];
  for (const token of tokens.filter(({ type }) => type !== "space")) {
    const last = groups.at(-1)?.[0];
    const isSample = (each: Token | undefined): boolean =>
      each?.type === "code" && String(each["lang"]) in languageLabels;
    if (isSample(token) && isSample(last)) groups.at(-1)?.push(token);
    else groups.push([token]);
  }
  return groups;
}

function slug(title: string, taken: Set<string>): string {
  const base = title
    .toLowerCase()
    .replaceAll(/[^\w]+/g, "-")
    .replaceAll(/^-|-$/g, "");
  let id = base;
  for (let number = 2; taken.has(id); number += 1) id = `${base}-${number}`;
  taken.add(id);
  return id;
}

function codeBlock(text: string, lang: string): string {
  const grammar = lang === "curl" || lang === "sh" ? "bash" : lang;
  const html =
    grammar in grammars ? highlighter.highlight(text, { language: grammar }).value : escapeHtml(text);
  return `<pre tabindex="0"><code>${html}</code></pre>\n`;
}

/** Returns tabs that work without a script: each language has a radio button, and the checked one shows its code. */
export function tabs(samples: readonly { lang: string; source: string }[], name: string): string {
  const buttons = samples.map(({ lang }, index) => {
    const language = lang === "bash" ? "curl" : lang;
    const id = `${name}-${language}`;
    return (
      `<input type="radio" name="${name}" id="${id}" data-language="${language}"${index === 0 ? " checked" : ""}>` +
      `<label for="${id}">${languageLabels[lang] ?? lang}</label>`
    );
  });
  const panels = samples.map(
    ({ lang, source }) => `<div class="panel">${codeBlock(source.trimEnd(), lang)}</div>`,
  );
  return `<div class="tabs" role="group" aria-label="Languages">\n${buttons.join("\n")}\n${panels.join("\n")}</div>\n`;
}
