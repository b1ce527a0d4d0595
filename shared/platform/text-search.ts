import { plainText } from "../api/contract/plain-text.ts";
import { withoutSeparators } from "../api/contract/written-numbers.ts";

/** Letters that have no form without their mark. */
const plainLetters: Readonly<Record<string, string>> = {
  ß: "ss",
  ł: "l",
  ø: "o",
  đ: "d",
  ð: "d",
  ı: "i",
  æ: "ae",
  œ: "oe",
  þ: "th",
};

/** Returns the words of a text without case, accents and punctuation (compare UTS 10, the primary level). */
function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[ßłøđðıæœþ]/g, (letter) => plainLetters[letter] ?? letter)
    .replaceAll(/(?<=\p{L})['’ʼ](?=\p{L})/gu, "")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

/** A text to search for. If it has three digits or more, it is also a part of a phone number. */
export class TextSearch {
  /** The digits without the zeros at the start; undefined if it is no part of a number. */
  readonly digits: string | undefined;
  readonly #text: string;
  readonly #words: readonly string[];

  /** @param typed a text, or a number with any spaces, signs and leading zeros */
  constructor(typed: string) {
    this.#text = typed.toLowerCase();
    this.#words = wordsOf(typed);
    const digits = digitsOf(typed).replace(/^0+/, "");
    this.digits = /^\d{3,}$/.test(digits) ? digits : undefined;
  }

  /** Whether a number contains the digits, or the texts contain the text or each of its words, in any order. */
  matches(phoneNumber: string, ...texts: readonly string[]): boolean {
    if (this.digits !== undefined && phoneNumber.includes(this.digits)) return true;
    if (texts.some((text) => text.toLowerCase().includes(this.#text))) return true;
    const words = wordsOf(texts.join(" ")).join(" ");
    return this.#words.length > 0 && this.#words.every((word) => words.includes(word));
  }
}

/** Fewer digits after the zeros at the start are the end of a number, which can begin with zeros. */
const shortestNumber = 7;

/** Returns the end of a number as digits, at least four; undefined for another text. @param typed with any spaces, signs and (0) */
export function numberEndOf(typed: string): string | undefined {
  const digits = digitsOf(typed);
  const number = digits.replace(/^0+/, "");
  const end = number.length < shortestNumber ? digits : number;
  return /^\d{4,}$/.test(end) ? end : undefined;
}

/** Returns a text without what stands between the digits of a number, and without the 0 of national calls in parentheses. */
function digitsOf(typed: string): string {
  return withoutSeparators(plainText(typed).replaceAll("(0)", "")).replace("+", "");
}
