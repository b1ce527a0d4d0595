/** Two opening braces, with the rest of a placeholder where there is one. */
const opening = /\{\{(?: *([A-Za-z][A-Za-z0-9_]{0,31}) *\}\})?/g;

/** What is wrong with the placeholders of a text, or undefined. */
export function problemOf(text: string): string | undefined {
  for (const { 1: name, index } of text.matchAll(opening)) {
    if (name === undefined) return problemOfOpening(text.slice(index));
  }
  return undefined;
}

/** How much of a malformed placeholder is repeated to its author. */
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

/** The names of a text's placeholders, each once, in the order of their first appearance. */
export function placeholdersOf(text: string): string[] {
  const names = [...text.matchAll(opening)].flatMap(([, name]) => name ?? []);
  return [...new Set(names)];
}

/**
 * A text with values in the place of its placeholders, or the names of those that have no value. A value goes
 * in as it is, whatever it looks like; values that no placeholder names are left out.
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

/** What placeholders stand for in a text to a contact: the contact's own fields, and its attributes, which win. */
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
