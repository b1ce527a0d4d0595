import { describe, expect, it } from "vitest";

import { findingsOf } from "./prose.ts";
import { findingsIn } from "./prose/findings.ts";
import { findingsInPage } from "./prose/pages.ts";

/** Files that list words which texts must not have, or which people write in messages; and the settings of Kannel. */
const lists =
  /^test\/conventions\/prose(?:\.test\.ts|\/words\.ts)$|^shared\/messages\/numbers\/keywords\.ts$|^test\/carriers\/kannel\.ts$/;

/** Finds what is wrong in a file, as `line: words`. */
const found = (source: string, file = "file.tsx"): string[] =>
  findingsIn(file, source).map((finding) => `${finding.line}: ${finding.found}`);

it.each([".ci/run", ".github", "functions", "infra", "shared", "test"])(
  "%s has only plain English",
  (place) => {
    expect(findingsOf(place, (file) => !lists.test(file))).toEqual([]);
  },
);

describe("the check finds", () => {
  const long = `Long ${"word ".repeat(25)}end`;

  it.each([
    ["a word in a comment", "// Nobody is asked.\nf();", ["1: Nobody"]],
    ["a word in a comment of several lines", "/**\n * A value\n * that tells it.\n */", ["3: tells"]],
    ["a phrase over two comments of a line", "f();\n// They go\n// on for ever.", ["2: go on"]],
    ["a word in a string", 'f(\n"the alarm rings");', ["2: rings"]],
    ["a word in a template", "f(`a ${b}\nat once`);", ["2: at once"]],
    ["a phrase over two strings", 'f("is kept for so " +\n"long");', ["1: so long"]],
    ["a word in the text of an element", "<p>\n  All\n  <b>things</b>\n</p>", ["3: things"]],
    ["a word in an attribute", '<p title="more things"/>', ["1: things"]],
    ["the name of a test", 'it("refuses a key", run);', ["1: refuses"]],
    ["because", "// It waits, for it has no lease.", ["1: , for it"]],
    ["British spelling", "// It recognises an organisation.", ["1: recognises", "1: organisation"]],
    ["a long sentence", `// Short.\n// ${long}.`, [`2: ${long.slice(0, 60)}`]],
    ["a word in an exported name", "export function\n  dropAnswer() {}", ["2: Answer"]],
    ["a word before a number", "export const answer500 = 1;", ["1: answer"]],
    ["a verb that only a person has", "export interface AskedOperator {}", ["1: Asked"]],
    [
      "a name of several words",
      "const a = 1;\nexport { a as whomHeGaveItBackTo };",
      ["2: whom", "2: Gave It Back"],
    ],
    ["a sentence without a subject", "// Who makes few is free.", ["1: Who makes few is free."]],
  ])("%s", (_, source, expected) => {
    expect(found(source)).toEqual(expected);
  });

  it("the comments of other files", () => {
    expect(found("a: b # nobody\n", "file.yml")).toEqual(["1: nobody"]);
    expect(found("/* A\n   thing */ a { b: c }", "file.css")).toEqual(["2: thing"]);
  });
});

it.each([
  ["code in a comment", "// It reads `told` and {@link told}."],
  ["a quotation", '// The page has the title "What was told".'],
  ["an import and a type", 'import { a } from "./told here.ts"; type B = "told here";'],
  ["the names of classes", '<p className="told here"/>'],
  ["an expression of the table", 'f("#told = :told and told");'],
  ["a question", "// What is it?"],
  ["a label", 'f("What it means");'],
  ["short sentences", `// ${"One two three. ".repeat(20)}`],
  ["a proxy", "// A server behind a proxy."],
  ["a name that is not exported", "const answer = 1;"],
  ["an exported name of tests", "export const answer = 1;", "test/file.ts"],
])("the check passes over %s", (_, source, file = "file.tsx") => {
  expect(found(source, file)).toEqual([]);
});

it("the check of pages has the same rules, write-good's and markdownlint's", async () => {
  const long = `One ${"long word ".repeat(12)}and more.`;
  const page = `# Title\n\nA page\nis told \`told\`.\n\n\`\`\`sh\ntold x\n\`\`\`\n\n| a thing |\n| --- |\n| b b |\n\n${long}\n\n### Too deep\n`;
  const findings = await findingsInPage("page.md", page);
  expect(findings.map(({ line, found: rule, advice }) => `${line}: ${rule}: ${advice}`)).toEqual([
    expect.stringMatching(/^4: prose: "told": notify/),
    expect.stringMatching(/^10: prose: "thing"/),
    expect.stringMatching(/^12: prose: "b" is repeated/),
    expect.stringMatching(/^14: prose: "One long.*27 words/),
    expect.stringMatching(/^16: MD001/),
  ]);
});
