import { CreateContactRequest, type ImportedContact } from "../../../shared/api/contract/contacts.ts";
import type { ErrorDetail } from "../../../shared/api/contract/errors.ts";
import { validate } from "../../../shared/api/contract/validation.ts";
import { numberOf } from "./national-numbers.ts";
import { tagsOf } from "./typed.ts";

/*
 * Turns a spreadsheet into contacts: each column maps to a contact field, and each row to a contact.
 */

/**
 * The fields that a column can map to. `fullName` is a first name and, after its first space, a last name. `attribute` is a
 * custom attribute named like the column.
 */
export const targets = [
  "phoneNumber",
  "fullName",
  "firstName",
  "lastName",
  "tags",
  "attribute",
  "skip",
] as const;
export type Target = (typeof targets)[number];

/** Usual column names for each field, in letters only. */
const usualNames = {
  phoneNumber: /^(contactnumber|phone|mobile|mobil|cell|tel|msisdn|number|handy|whatsapp|to$)/,
  fullName: /^(name|fullname|patient|customer|client|contact|guest|member|kunde|gast|mitglied)(name)?$/,
  firstName: /^(first|given|forename|vorname|prenom|prénom)/,
  lastName: /^(last|family|surname|nachname|familienname|nom$)/,
  tags: /^(tag|group|list|label|gruppe)/,
} as const;
const guessed = ["phoneNumber", "fullName", "firstName", "lastName", "tags"] as const;

/** Guesses each column's field from its name. Each field is used once. */
export function guessTargets(header: readonly string[]): Target[] {
  const taken = new Set<Target>();
  return header.map((name) => {
    const plain = name.toLowerCase().replaceAll(/[^\p{L}]/gu, "");
    for (const target of guessed) {
      if (taken.has(target) || !usualNames[target].test(plain)) continue;
      taken.add(target);
      return target;
    }
    return attributeName(name) === "" ? "skip" : "attribute";
  });
}

/** The attribute name for a column: a letter, then up to 31 letters, digits and underscores. */
export function attributeName(column: string): string {
  return column
    .normalize("NFD")
    .replaceAll(/[^A-Za-z0-9]+/g, "_")
    .replace(/^[^A-Za-z]+|_+$/g, "")
    .slice(0, 32);
}

/** A small spreadsheet. Its numbers have no plus sign, which a CSV file would have to disguise. */
export const sample = [
  ["Phone number", "First name", "Last name", "Tags", "Date", "Time"],
  ["44 7700 900123", "Ada", "Lovelace", "patients; tuesday", "Tuesday 24 November", "09:30"],
  ["44 7700 900124", "Grace", "Hopper", "patients; tuesday", "Tuesday 24 November", "10:00"],
];

/** The fields as a person calls them. */
const fieldNames: Readonly<Record<string, string>> = {
  phoneNumber: "The phone number",
  firstName: "The first name",
  lastName: "The last name",
  tags: "The tags",
};

/** One row of the file as a contact, with the API's message if it is invalid. */
export interface ImportRow {
  /** The row number in the spreadsheet. */
  readonly line: number;
  readonly contact: Readonly<Record<string, unknown>>;
  readonly problem: string | undefined;
}

/**
 * Converts the rows after the header, using the field chosen for each column.
 * @param country the country of numbers without a country code; empty for none
 */
export function rowsOf(
  table: readonly (readonly string[])[],
  columns: readonly Target[],
  country: string,
): ImportRow[] {
  const [header = [], ...body] = table;
  const numbers = new Set<string>();
  return body.map((cells, index) => {
    const contact = contactOf(header, cells, columns, country);
    const checked = validate(CreateContactRequest, contact);
    const line = index + 2;
    if (!checked.success) return { line, contact, problem: describeProblems(checked.details) };
    const { phoneNumber } = checked.data;
    const problem = numbers.has(phoneNumber) ? "an earlier row has this number" : undefined;
    numbers.add(phoneNumber);
    return { line, contact, problem };
  });
}

function contactOf(
  header: readonly string[],
  cells: readonly string[],
  columns: readonly Target[],
  country: string,
): Record<string, unknown> {
  const contact: Record<string, unknown> = { phoneNumber: "" };
  const attributes: Record<string, string> = {};
  for (const [index, target] of columns.entries()) {
    const cell = (cells[index] ?? "").trim();
    if (cell === "" || target === "skip") continue;
    if (target === "phoneNumber") contact["phoneNumber"] = numberOf(cell, country);
    else if (target === "fullName") Object.assign(contact, namesOf(cell));
    else if (target === "tags") contact["tags"] = tagsOf(cell);
    else if (target === "attribute") attributes[attributeName(header[index] ?? "")] = cell;
    else contact[target] = cell;
  }
  return Object.keys(attributes).length === 0 ? contact : { ...contact, attributes };
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

export interface FailedRow {
  readonly line: number;
  readonly phoneNumber: string;
  readonly reason: string;
}

/** The rows of a batch that were not imported. */
export function failedRowsOf(batch: readonly ImportRow[], results: readonly ImportedContact[]): FailedRow[] {
  return results.flatMap((result) => {
    const row = batch[result.index];
    if (row === undefined || result.status === "created" || result.status === "updated") return [];
    const reason =
      result.status === "duplicate"
        ? "a contact with this number already exists"
        : describeProblems(result.details);
    return [{ line: row.line, phoneNumber: String(row.contact["phoneNumber"]), reason }];
  });
}
