import { ApiError, type ErrorDetail } from "../../api/contract/errors.ts";
import characters from "./characters.json" with { type: "json" };
import type { Buyer } from "./record.ts";

/** The characters that a font of documents has. `npm run characters` writes them, each range from the end of the one before. */
let ranges: { readonly first: number; readonly last: number }[] | undefined;

/** Returns the first character of a text that documents cannot show, by its name in Unicode; undefined if there is none. */
function undrawable(text: string): string | undefined {
  let end = 0;
  ranges ??= characters.ranges.split(" ").map((range) => {
    const [gap = 0, length = 0] = range.split("-").map((digits) => parseInt(digits, 36));
    const first = end + gap;
    end = first + length;
    return { first, last: end };
  });
  for (const character of text.normalize("NFC")) {
    const point = character.codePointAt(0) ?? 0;
    // Joiners and selectors of variants only affect how others look.
    if (/[\u200C\u200D]|\p{VS}/u.test(character)) continue;
    if (ranges.some(({ first, last }) => first <= point && point <= last)) continue;
    const code = `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
    return /\p{C}|\p{DI}/u.test(character) ? code : `${character} (${code})`;
  }
  return undefined;
}

/** Returns the problems with the name and the address of a person on invoices. */
export function problemsOfParty({ name, address = [] }: Pick<Buyer, "address" | "name">): ErrorDetail[] {
  const texts = [["name", name], ...address.map((line, index) => [`address.${index}`, line])] as const;
  return texts.flatMap(([path = "", text = ""]) => {
    const character = undrawable(text);
    if (character === undefined) return [];
    return [{ path, message: `has a character that invoices cannot show: ${character}` }];
  });
}

/**
 * Checks that invoices can show a buyer.
 * @param place before the names of fields in the error
 * @throws ApiError VALIDATION_ERROR
 */
export function checkDrawable(buyer: Buyer, place = ""): void {
  const details = problemsOfParty(buyer).map(({ path, message }) => ({ path: `${place}${path}`, message }));
  if (details.length > 0) throw new ApiError("VALIDATION_ERROR", { details });
}
