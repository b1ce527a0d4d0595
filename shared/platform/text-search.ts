/** A text to search for. If it has three digits or more, it is also a part of a phone number. */
export class TextSearch {
  /** The digits without the zeros at the start; undefined if it is no part of a number. */
  readonly digits: string | undefined;
  readonly #text: string;

  /** @param typed a text, or a number with any spaces, signs and leading zeros */
  constructor(typed: string) {
    this.#text = typed.toLowerCase();
    const digits = typed.replaceAll(/[\s().+\-/]/g, "").replace(/^0+/, "");
    this.digits = /^\d{3,}$/.test(digits) ? digits : undefined;
  }

  /** Whether a number contains the digits, or one of the texts contains the text. */
  matches(phoneNumber: string, ...texts: readonly string[]): boolean {
    if (this.digits !== undefined && phoneNumber.includes(this.digits)) return true;
    return texts.some((text) => text.toLowerCase().includes(this.#text));
  }
}
