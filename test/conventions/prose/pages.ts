import { TextlintKernel } from "@textlint/kernel";
import { MarkdownProcessor } from "@textlint/textlint-plugin-markdown/lib/src/MarkdownProcessor.js";
import type { TextlintRuleModule } from "@textlint/types";
import { lint as lintMarkdown } from "markdownlint/promise";
import writeGood from "write-good";

import { findingsInText, withoutCode, type Finding } from "./findings.ts";
import type { Passage } from "./passages.ts";

/** Finds clichés, repeated words, and "there is" at the start of a sentence. The other rules reject plain words. */
const writeGoodOptions = {
  passive: false,
  so: false,
  weasel: false,
  adverb: false,
  tooWordy: false,
  eprime: false,
};

/** Applies the rules for comments and strings to the paragraphs, headings and cells of a page. */
const plainEnglish: TextlintRuleModule = (context) => {
  const { Syntax, RuleError, report, getSource } = context;
  const checkerOf =
    (kind: Passage["kind"]) =>
    (node: Parameters<typeof report>[0]): void => {
      const text = getSource(node);
      for (const { index, found, advice } of findingsInText({ kind, text, offsetOf: (at) => at })) {
        report(node, new RuleError(`"${found}": ${advice}`, { index }));
      }
      for (const { index, reason } of writeGood(withoutCode(text), writeGoodOptions)) {
        // Two code spans beside each other look like a repeated word.
        if (!reason.includes('"CC')) report(node, new RuleError(reason, { index }));
      }
    };
  return {
    [Syntax.Paragraph]: checkerOf("page"),
    [Syntax.Header]: checkerOf("heading"),
    [Syntax.TableCell]: checkerOf("heading"),
  };
};

const markdownlintConfig = {
  default: true,
  // A template begins below the title of its page.
  MD041: false,
  // The formatter wraps lines and aligns tables.
  MD013: false,
  MD060: false,
  // "More" is a good name of a link in parentheses.
  MD059: false,
  MD010: { code_blocks: false },
  // Each release in the changelog has a section with the same name.
  MD024: { siblings_only: true },
};

/** Finds what has to change in a page. */
export async function findingsInPage(file: string, source: string): Promise<Finding[]> {
  const { messages } = await new TextlintKernel().lintText(source, {
    filePath: file,
    ext: ".md",
    plugins: [{ pluginId: "markdown", plugin: { Processor: MarkdownProcessor } }],
    rules: [{ ruleId: "plain-english", rule: plainEnglish }],
  });
  const layout = await lintMarkdown({ strings: { [file]: source }, config: markdownlintConfig });
  return [
    ...messages.map(({ line, message }) => ({ line, found: "prose", advice: message })),
    ...(layout[file] ?? []).map(({ lineNumber, ruleNames, ruleDescription, errorDetail }) => ({
      line: lineNumber,
      found: ruleNames.join("/"),
      advice: errorDetail ?? ruleDescription,
    })),
  ].toSorted((one, other) => one.line - other.line);
}
