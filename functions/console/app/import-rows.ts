import { CreateContactRequest, type ImportedContact } from "../../../shared/api/contract/contacts.ts";
import type { ErrorDetail } from "../../../shared/api/contract/errors.ts";
import { validate } from "../../../shared/api/contract/validation.ts";
import { writtenNumber } from "../../../shared/api/contract/written-numbers.ts";
import { noCountryCode, readNumber, textOfBoth, type TwoNumbers } from "../../../shared/api/read-number.ts";
import { withoutGuard } from "../../../shared/figures/exports/csv.ts";
import { attributeNames, fields, plainName, usualNames } from "./column-names.ts";
import { isBlank } from "./read-table.ts";
import { tagsOf } from "./typed.ts";

/*
 * Turns a spreadsheet into contacts: each column maps to a contact field, and each row to a contact.
 */

/**
 * The fields that a column can map to. `fullName` is a first name and, after its first space, a last name. `attribute` is a
 * custom attribute named like the column.
 */
export const targets = [...fields, "attribute", "skip"] as const;
export type Target = (typeof targets)[number];

/**
 * Guesses each column's field from its name. Each field is used once, by the column with the best name. A column for phone numbers
 * also needs one in its first rows.
 */
export function guessTargets(header: readonly string[], rows: readonly (readonly string[])[] = []): Target[] {
  const chosen = new Map<number, Target>();
  const hasNumbers = (column: number): boolean =>
    rows.some((cells) => "form" in writtenNumber(cells[column] ?? ""));
  for (const [target, pattern] of usualNames) {
    const matching = header.flatMap((name, column) =>
      !chosen.has(column) && pattern.test(plainName(name)) ? [column] : [],
    );
    if (target === "skip") for (const column of matching) chosen.set(column, target);
    else if (![...chosen.values()].includes(target)) {
      const best = target === "phoneNumber" && rows.length > 0 ? matching.find(hasNumbers) : matching[0];
      if (best !== undefined) chosen.set(best, target);
    }
  }
  const names = attributeNames(header);
  return header.map((_, column) => chosen.get(column) ?? (names[column] === "" ? "skip" : "attribute"));
}

/** How many rows may precede the header, such as a title. */
const maxRowsBeforeHeader = 10;

/** The place of the header: the first of the first rows with a column for phone numbers, or the first row with a value. */
export function headerRowOf(table: readonly (readonly string[])[]): number {
  const first = table.slice(0, maxRowsBeforeHeader);
  const named = first.findIndex((cells) => guessTargets(cells).includes("phoneNumber"));
  return Math.max(0, named >= 0 ? named : first.findIndex((cells) => !isBlank(cells)));
}

/** A small spreadsheet. */
export const sample = [
  ["Phone number", "First name", "Last name", "Tags", "Date", "Time"],
  ["+44 7700 900123", "Ada", "Lovelace", "patients; tuesday", "Tuesday 24 November", "09:30"],
  ["+44 7700 900124", "Grace", "Hopper", "patients; tuesday", "Tuesday 24 November", "10:00"],
];

/** The fields as a person calls them. */
const fieldNames: Readonly<Record<string, string>> = {
  phoneNumber: "The phone number",
  firstName: "The first name",
  lastName: "The last name",
  tags: "The tags",
  optedOut: "The opt-out",
};

/** One row of the file as a contact, with the API's message if it is invalid. */
export interface ImportRow {
  /** The row number in the spreadsheet. */
  readonly line: number;
  readonly contact: Readonly<Record<string, unknown>>;
  readonly problem: string | undefined;
}

/** The choices of a person for the numbers of a file. */
interface NumberChoice {
  /** The country of numbers without a country code; empty for none. */
  readonly country: string;
  /** The meaning of digits that could be two numbers: `national` or `international`; empty if no one has chosen. */
  readonly reading: string;
}

/** Converts the rows after the header, using the field chosen for each column. Empty rows are left out. */
export function rowsOf(
  table: readonly (readonly string[])[],
  columns: readonly Target[],
  country: string,
  reading = "",
): ImportRow[] {
  const start = headerRowOf(table);
  const names = attributeNames(table[start] ?? []);
  const numbers = new Set<string>();
  return table.flatMap((cells, index) => {
    if (index <= start || isBlank(cells)) return [];
    const line = index + 1;
    const { contact, problem: unread } = contactOf(names, cells, columns, { country, reading });
    const checked = validate(CreateContactRequest, contact);
    if (unread !== undefined) return [{ line, contact, problem: unread }];
    if (!checked.success) return [{ line, contact, problem: describeProblems(checked.details) }];
    const { phoneNumber } = checked.data;
    const problem = numbers.has(phoneNumber) ? "an earlier row has this number" : undefined;
    numbers.add(phoneNumber);
    return [{ line, contact, problem }];
  });
}

/** Returns the first number that could be two; undefined if each is one number or none. */
export function openQuestionOf(
  table: readonly (readonly string[])[],
  columns: readonly Target[],
  country: string,
): (TwoNumbers & { readonly cell: string }) | undefined {
  const column = columns.indexOf("phoneNumber");
  for (const cells of table.slice(headerRowOf(table) + 1)) {
    const cell = cells[column] ?? "";
    const read = readNumber(cell, country);
    if ("international" in read) return { cell, ...read };
  }
  return undefined;
}

/** Returns the fields that an update clears where a row has no value for them. */
export function clearedFields(header: readonly string[], columns: readonly Target[]): string[] {
  const names = attributeNames(header);
  return columns.flatMap((target, index) => {
    if (target === "fullName") return ["firstName", "lastName"];
    if (target === "attribute") return `attributes.${names[index]}`;
    return target === "firstName" || target === "lastName" ? target : [];
  });
}

function contactOf(
  names: readonly string[],
  cells: readonly string[],
  columns: readonly Target[],
  choice: NumberChoice,
): { contact: Record<string, unknown>; problem?: string | undefined } {
  const contact: Record<string, unknown> = { phoneNumber: "" };
  const attributes: Record<string, string> = {};
  let problem: string | undefined;
  for (const [index, target] of columns.entries()) {
    const cell = withoutGuard((cells[index] ?? "").trim());
    if (cell === "" || target === "skip") continue;
    if (target === "phoneNumber") {
      const read = numberOfCell(cell, choice);
      contact["phoneNumber"] = "number" in read ? read.number : cell;
      if ("problem" in read) problem = `${fieldNames["phoneNumber"]} ${read.problem}`;
    } else if (target === "fullName") Object.assign(contact, namesOf(cell));
    else if (target === "tags") contact["tags"] = tagsOf(cell);
    else if (target === "optedOut") {
      contact["optedOut"] = isYes.test(cell);
      if (!isYes.test(cell) && !isNo.test(cell)) problem = `${fieldNames["optedOut"]} must be yes or no`;
    } else if (target === "attribute") attributes[names[index] ?? ""] = cell;
    else contact[target] = cell;
  }
  return { contact: Object.keys(attributes).length === 0 ? contact : { ...contact, attributes }, problem };
}

/** The values of an opt-out: words, the values of spreadsheets, checkmarks, and the date of an opt-out. */
const isYes =
  /^(yes|y|true|on|1(\.0)?|x|✓|✔|☑|ja?|oui|sí|si|s|wahr|vrai|verdadero|vero|stop|opted[ -]?out|unsubscribed|\d{1,4}[-./]\d.*)[.!]?$/i;
const isNo = /^(no?|false|off|0(\.0)?|nein|non|nee|falsch|faux|falso|opted[ -]?in|subscribed|-|☐)[.!]?$/i;

function numberOfCell(
  cell: string,
  { country, reading }: NumberChoice,
): { number: string } | { problem: string } {
  const read = readNumber(cell, country);
  if ("problem" in read && read.problem === noCountryCode) {
    return { problem: `${noCountryCode}: choose the country of these numbers above` };
  }
  if ("number" in read || "problem" in read) return read;
  const { national, international } = read;
  if (reading === "international") return { number: international };
  if (reading === "national" && national !== undefined) return { number: national };
  return { problem: `could be ${textOfBoth(read)}: choose above, or write its country code` };
}

function namesOf(cell: string): Record<string, string> {
  const [firstName = "", ...others] = cell.split(/\s+/);
  return others.length === 0 ? { firstName } : { firstName, lastName: others.join(" ") };
}

function describeProblems(details: readonly ErrorDetail[]): string {
  return details.map(({ path, message }) => `${fieldNames[path] ?? path} ${message}`).join("; ");
}

/** Splits rows into requests that respect the API's limits on rows and body size. */
export function* batchesOf(rows: readonly ImportRow[]): Generator<ImportRow[], void> {
  let batch: ImportRow[] = [];
  let size = 0;
  for (const row of rows) {
    // The API limits the body in bytes of UTF-8, not in characters.
    const rowSize = new TextEncoder().encode(JSON.stringify(row.contact)).byteLength + 1;
    if (batch.length === maxRows || size + rowSize > maxBytes) {
      yield batch;
      batch = [];
      size = 0;
    }
    batch.push(row);
    size += rowSize;
  }
  if (batch.length > 0) yield batch;
}

const maxRows = 1_000;
const maxBytes = 1_000_000;

/** The rows of a batch that were not imported, with the reason as their problem. */
export function failedRowsOf(batch: readonly ImportRow[], results: readonly ImportedContact[]): ImportRow[] {
  return results.flatMap((result) => {
    const row = batch[result.index];
    if (row === undefined || result.status === "created" || result.status === "updated") return [];
    const problem =
      result.status === "duplicate"
        ? "a contact with this number already exists"
        : describeProblems(result.details);
    return [{ ...row, problem }];
  });
}
