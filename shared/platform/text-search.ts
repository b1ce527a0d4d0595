/** A text to search for. If it has three digits or more, it is also a part of a phone number. */
export class TextSearch {
  /** The digits without the zeros at the start; undefined if it is no part of a number. */
  readonly digits: string | undefined;
  readonly #text: string;

  /** @param typed a text, or a number with any spaces, signs and leading zeros */
  constructor(typed: string) {
    this.#text = typed.toLowerCase();
    const digits = digitsOf(typed).replace(/^0+/, "");
    this.digits = /^\d{3,}$/.test(digits) ? digits : undefined;
  }

  /** Whether a number contains the digits, or one of the texts contains the text. */
  matches(phoneNumber: string, ...texts: readonly string[]): boolean {
    if (this.digits !== undefined && phoneNumber.includes(this.digits)) return true;
    return texts.some((text) => text.toLowerCase().includes(this.#text));
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

function digitsOf(typed: string): string {
  return typed.replaceAll(/\(0\)|[\s().+\-\u2010-\u2015/]/g, "");
}
