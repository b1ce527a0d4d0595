import type { Contact } from "../../../shared/api/contract/contacts.ts";
import { nearest } from "../../../shared/api/contract/validation.ts";
import { contactValues } from "../../../shared/audience/templates/render.ts";
import { attributeName, plainName, usualNames } from "./column-names.ts";

/*
 * The placeholders of a message, as people write them: also with the names of their columns.
 */

/** Returns the names of placeholders that some of the contacts have a value for, those of most contacts first. */
export function fieldsOf(contacts: readonly Contact[]): string[] {
  const counts = new Map<string, number>();
  for (const name of contacts.flatMap((contact) => Object.keys(contactValues(contact)))) {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].toSorted(([, one], [, other]) => other - one).map(([name]) => name);
}

const placeholder = /\{\{([^{}]*)\}\}/g;

/** Returns a message whose placeholders have the names of fields, where their names mean one. */
export function withFieldNames(message: string, fields: readonly string[]): string {
  return message.replaceAll(placeholder, (found, name: string) => {
    const field = fieldNamed(name.trim(), fields);
    return field === undefined ? found : `{{${field}}}`;
  });
}

function fieldNamed(name: string, fields: readonly string[]): string | undefined {
  const usual = usualNames.find(([, pattern]) => pattern.test(plainName(name)))?.[0] ?? "";
  const alike = fields.find((field) => plainName(field) === plainName(attributeName(name)));
  return [name, alike, usual].find((each) => each !== undefined && fields.includes(each));
}

/** Returns a sentence about the first placeholder that none of the contacts has a value for; undefined if there is none. */
export function unknownPlaceholder(message: string, fields: readonly string[]): string | undefined {
  const names = [...withFieldNames(message, fields).matchAll(placeholder)].map(([, name = ""]) =>
    name.trim(),
  );
  const unknown = names.find((name) => !fields.includes(name));
  if (unknown === undefined) return undefined;
  const meant = nearest(unknown, fields);
  const proposal = meant === undefined ? "" : ` Did you mean {{${meant}}}?`;
  return `None of these contacts has a value for {{${unknown}}}.${proposal}`;
}

/** Returns a sentence about the first name of a field in single braces; undefined if there is none. */
export function singleBraces(message: string, fields: readonly string[]): string | undefined {
  for (const [found, name = ""] of message.matchAll(/(?<!\{)\{ *([^{}]+?) *\}(?!\})/g)) {
    const field = fieldNamed(name, fields);
    if (field !== undefined) return `${found} is sent as it is. Did you mean {{${field}}}?`;
  }
  return undefined;
}
