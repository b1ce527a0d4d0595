/** Two opening braces, and the rest of a valid placeholder. */
const opening = /\{\{(?: *([A-Za-z][A-Za-z0-9_]{0,31}) *\}\})?/g;

/** Returns the problem of a text's first malformed placeholder, or undefined. */
export function problemOf(text: string): string | undefined {
  for (const { 1: name, index } of text.matchAll(opening)) {
    if (name === undefined) return problemOfOpening(text.slice(index));
  }
  return undefined;
}

/** The most characters of a malformed placeholder in an error. */
const maxExcerptLength = 40;

function problemOfOpening(text: string): string {
  const end = text.indexOf("}}");
  if (end === -1) return `has a placeholder that is not closed: ${excerpt(text)}`;
  return (
    `has a malformed placeholder: ${excerpt(text.slice(0, end + 2))}; ` +
    "its name must be a letter followed by up to 31 letters, digits and underscores"
  );
}

function excerpt(text: string): string {
  if (text.length <= maxExcerptLength) return text;
  // The cut may go through a character of two units.
  return `${text.slice(0, maxExcerptLength).toWellFormed()}…`;
}

/** Returns the names of a text's placeholders without duplicates, in the order of their first appearance. */
export function placeholdersOf(text: string): string[] {
  const names = [...text.matchAll(opening)].flatMap(([, name]) => name ?? []);
  return [...new Set(names)];
}

/**
 * Replaces a text's placeholders by values, or returns the names of those that have no value. A value is inserted
 * unchanged, whatever its text. Values without a placeholder are ignored.
 */
export function renderTemplate(
  text: string,
  values: Readonly<Record<string, string>>,
): { readonly text: string } | { readonly missing: string[] } {
  const missing = placeholdersOf(text).filter((name) => !Object.hasOwn(values, name));
  if (missing.length > 0) return { missing };
  return {
    text: text.replaceAll(opening, (found, name: string | undefined) =>
      name === undefined ? found : (values[name] ?? found),
    ),
  };
}

/** Returns the values of placeholders for a contact: its own fields, and its attributes, which have priority. */
export function contactValues(contact: {
  readonly phoneNumber: string;
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
  readonly attributes: Readonly<Record<string, string>>;
}): Record<string, string> {
  const { phoneNumber, firstName, lastName, attributes } = contact;
  return {
    phoneNumber,
    ...(firstName === undefined ? {} : { firstName }),
    ...(lastName === undefined ? {} : { lastName }),
    ...attributes,
  };
}
