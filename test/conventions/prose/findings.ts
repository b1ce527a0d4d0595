import { passagesOf, type Passage } from "./passages.ts";
import { words, wordsOfNames } from "./words.ts";

export interface Finding {
  line: number;
  /** The words that have to change. */
  found: string;
  advice: string;
}

/** A sentence that has more words is hard to read. */
const maxWords = 25;

/** Replaces code, addresses and the targets of links by text of the same length, which no rule matches. */
export function withoutCode(text: string): string {
  return text
    .replaceAll(/(`+)[^`]+\1/g, (code) => "C".repeat(code.length))
    .replaceAll(/\{@link [^}]*\}/g, (link) => "C".repeat(link.length))
    .replaceAll(/\]\([^)]*\)/g, (target) => " ".repeat(target.length))
    .replaceAll(/https?:\/\/\S+/g, (url) => "C".repeat(url.length))
    .replaceAll(/\*\*|(?<!\w)_(?=\w)|(?<=\w)_(?!\w)/g, (mark) => " ".repeat(mark.length));
}

const withoutQuotations = (text: string): string =>
  text.replaceAll(/"[^"\n]*"/g, (quotation) => "Q".repeat(quotation.length));

/** Yields the sentences of a text with their positions. */
function* sentencesOf(text: string): Generator<{ sentence: string; index: number }> {
  const ends =
    /(?<!\b(?:e\.g|i\.e|etc|vs|cf|St|no))[.!?]["')\]”*]*(?=\s+["'(“[]*[A-Z\d]|\s*$)|\n\n|\n(?=- )/g;
  let from = 0;
  for (const { 0: end, index } of [...text.matchAll(ends), { 0: "", index: text.length }]) {
    const until = index + end.length;
    const sentence = text.slice(from, until);
    const lead = /^[\s"'(“[|]*/.exec(sentence)?.[0].length ?? 0;
    if (sentence.trim() !== "") yield { sentence: sentence.slice(lead).trim(), index: from + lead };
    from = until;
  }
}

const countWords = (sentence: string): number =>
  sentence.split(/\s+/).filter((word) => /[\p{L}\d]/u.test(word)).length;

const relativeStart =
  /^(?:What|Who|Whose|Whoever|Whom|Whatever|Whichever|Of (?!course)\w+|That (?:an?|the|no|it|they|what|one|all|nothing|which))\b/;
const verb = "is|are|was|were|has|have|had|may|might|can|cannot|could|would|will|does|do|did|must";
const causalFor = new RegExp(
  String.raw`, for (?:(?:it|there|they|we|he|she|you|nothing|none)\b(?! to\b)|(?:an?|the|no|its|their|each|every|this|that|what|which)\b(?: \w+){0,3} (?:${verb})\b)`,
  "g",
);

/** A label, such as a heading or the text of a button, is no sentence. */
const isLabel = ({ kind }: Passage, sentence: string): boolean =>
  kind === "heading" ||
  kind === "name" ||
  (kind === "string" && !/[.!?]["')]*$/.test(sentence) && countWords(sentence) <= 8);

/** Yields what is wrong in a text, with its position in the text. */
export function* findingsInText(passage: Passage): Generator<Omit<Finding, "line"> & { index: number }> {
  const text = withoutCode(passage.text);
  const own = withoutQuotations(text);
  for (const { pattern, replacement } of passage.kind === "name" ? [...words, ...wordsOfNames] : words) {
    for (const { 0: found, index } of own.matchAll(pattern)) yield { index, found, advice: replacement };
  }
  for (const { 0: found, index } of own.matchAll(causalFor)) yield { index, found, advice: "because" };
  for (const { sentence, index } of sentencesOf(text)) {
    const count = countWords(sentence);
    if (count > maxWords)
      yield { index, found: sentence.slice(0, 60), advice: `${count} words: at most ${maxWords}` };
    const start = relativeStart.exec(sentence)?.[0];
    if (start !== undefined && !sentence.endsWith("?") && !isLabel(passage, sentence))
      yield { index, found: sentence.slice(0, 60), advice: "name the subject first" };
  }
}

/** @returns what has to change in a file, in the order of its lines */
export function findingsIn(file: string, source: string): Finding[] {
  const findings: Finding[] = [];
  for (const passage of passagesOf(file, source)) {
    if (passage.kind === "name" && file.startsWith("test/")) continue;
    for (const { index, found, advice } of findingsInText(passage)) {
      const line = source.slice(0, passage.offsetOf(index)).split("\n").length;
      findings.push({ line, found, advice });
    }
  }
  return findings.toSorted((one, other) => one.line - other.line);
}
