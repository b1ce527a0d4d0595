import { isUtf8 } from "node:buffer";

import { parseDocument } from "yaml";

/*
 * Files that operators write, as their editors save them. Messages have the line and the column of each mistake, and no values,
 * which may be secrets.
 */

/** A mistake that makes a file unreadable. The line and the column begin at 1. */
interface Unreadable {
  readonly line: number;
  readonly column: number;
  readonly problem: string;
}

/** Decodes a file in UTF-8, with or without a byte order mark. */
export function decoded(content: Uint8Array): string | Unreadable {
  const text = new TextDecoder().decode(content);
  if (/^(fffe|feff|00|..00)/.test(Buffer.from(content.subarray(0, 2)).toString("hex")))
    return placed(text, 0, "the file is in UTF-16");
  return isUtf8(content) ? text : placed(text, text.indexOf("\uFFFD"), "the file is not in UTF-8");
}

/** Returns a text in which an invisible character is its escape. */
export function visible(text: string): string {
  return text.replaceAll(/\p{C}/gu, (invisible) => `\\u{${invisible.codePointAt(0)?.toString(16)}}`);
}

/**
 * Parses a file in JSON, without comments and other extensions. No object may have a name twice (RFC 8259, 4).
 * @param source how messages name the file
 * @throws Error that names the source and the place of each problem
 */
export function parseJson(content: Uint8Array, source: string): unknown {
  const text = decoded(content);
  const problems = typeof text === "string" ? problemsIn(text) : [text];
  if (typeof text === "string" && problems.length === 0) return JSON.parse(text);
  const lines = problems.map(({ line, column, problem }) => `line ${line}, column ${column}: ${problem}`);
  throw invalidFile(source, lines);
}

/** Returns the error of a file with problems. */
export function invalidFile(source: string, problems: readonly string[]): Error {
  return new Error([`${source} is not valid:`, ...problems].join("\n  "));
}

function placed(text: string, offset: number, problem: string): Unreadable {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: lines.length, column: (lines.at(-1) ?? "").length + 1, problem };
}

function problemsIn(text: string): Unreadable[] {
  const message = syntaxError(text);
  if (message !== undefined) return [wrongSyntax(text, message)];
  // JSON is YAML too, and a parser of YAML reports where a name occurs for the second time.
  const duplicates = parseDocument(text, { schema: "json" }).errors.filter(
    ({ code }) => code === "DUPLICATE_KEY",
  );
  return duplicates.map(({ pos: [start] }) => {
    const [name = ""] = /^"(\\.|[^"\\])*"/.exec(text.slice(start)) ?? [];
    return placed(text, start, `the object has the name ${name} twice`);
  });
}

/** Returns the message of the parser; undefined for a text in JSON. */
function syntaxError(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return String(error);
  }
}

/** The message has a position, except for an unexpected end or character. */
function wrongSyntax(text: string, message: string): Unreadable {
  const [, words = "it ends too early", position = text.length] =
    /^SyntaxError: (.*?)(?: in JSON)? at position (\d+)/.exec(message) ?? [];
  const unexpected = "SyntaxError: Unexpected token";
  if (!message.startsWith(unexpected)) return placed(text, Number(position), `not JSON: ${words}`);
  // The shortest text with the same error ends with the character.
  let [end, longest] = [0, text.length - 1];
  while (end < longest) {
    const middle = Math.floor((end + longest) / 2);
    if (syntaxError(text.slice(0, middle + 1))?.startsWith(unexpected) === true) longest = middle;
    else end = middle + 1;
  }
  return placed(text, end, `not JSON: unexpected ${visible(text.charAt(end))}`);
}
