import { placeholdersOf } from "./placeholders.ts";

/** The patterns of the values that a template reads. */
const patterns: Readonly<Record<string, string>> = {
  "{code}": String.raw`([\w.-]{1,64})`,
  "{reference}": String.raw`([\w.+/=-]{1,256})`,
};

const anyText = "{any}";

/** The names of a template's placeholders. */
export const templatePlaceholders: ReadonlySet<string> = new Set(["any", "code", "reference"]);

/**
 * Whether two values of a template have nothing between them, or only characters that they may have. Each could end where the
 * other begins, which takes minutes to try.
 */
export function hasAdjacentValues(template: string): boolean {
  return /\{(code|reference)\}[\w.+/=-]*\{(code|reference)\}/.test(template);
}

/**
 * Compares the text of a response with a template, such as `ERROR:{code}` or `{any}<id>{reference}</id>{any}`. Any white space
 * is like any other.
 * @returns the values of `code` and `reference`; undefined if the template does not describe the whole text
 */
export function valuesInText(template: string, text: string): ReadonlyMap<string, string> | undefined {
  const values = new Map<string, string>();
  const plainText = withPlainSpaces(text);
  const parts = withPlainSpaces(template).split(anyText);
  let position = 0;
  for (const [index, part] of parts.entries()) {
    const [start, end] = [index === 0 ? "^" : "", index === parts.length - 1 ? "$" : ""];
    const pattern = new RegExp(`${start}${patternOf(part)}${end}`, "g");
    pattern.lastIndex = position;
    const found = pattern.exec(plainText);
    if (found === null) return undefined;
    for (const [order, name] of placeholdersOf(part).entries()) values.set(name, found[order + 1] ?? "");
    position = pattern.lastIndex;
  }
  return values;
}

function withPlainSpaces(text: string): string {
  return text.trim().replaceAll(/\s+/g, " ");
}

function patternOf(part: string): string {
  return part.replaceAll(
    /\{(?:code|reference)\}|[$()*+.?[\\\]^{|}]/g,
    (special) => patterns[special] ?? `\\${special}`,
  );
}
