import { CreateContactRequest, type ImportedContact } from "../../../shared/api/contract/contacts.ts";
import type { ErrorDetail } from "../../../shared/api/contract/errors.ts";
import { validate } from "../../../shared/api/contract/validation.ts";
import { phoneNumberOf, tagsOf } from "./typed.ts";

/*
 * Turns a spreadsheet into contacts: each column maps to a contact field, and each row to a contact.
 */

/** The fields that a column can map to; `attribute` is a custom attribute named like the column. */
export const targets = ["phoneNumber", "firstName", "lastName", "tags", "attribute", "skip"] as const;
export type Target = (typeof targets)[number];

/** Usual column names for each field, in letters only. */
const usualNames: Readonly<Record<"firstName" | "lastName" | "phoneNumber" | "tags", RegExp>> = {
  phoneNumber: /^(phone|mobile|cell|tel|msisdn|number|phonenumber|mobilenumber|telefon|handy|telephone|to)/,
  firstName: /^(first|given|vorname|prenom|name$)/,
  lastName: /^(last|family|surname|nachname|nom$)/,
  tags: /^(tag|group|list|label|gruppe)/,
};

/** Guesses each column's field from its name. Each field is used once. */
export function guessTargets(header: readonly string[]): Target[] {
  const taken = new Set<Target>();
  return header.map((name) => {
    const plain = name.toLowerCase().replaceAll(/[^\p{L}]/gu, "");
    for (const target of ["phoneNumber", "firstName", "lastName", "tags"] as const) {
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

/** One row of the file as a contact, with the API's message if it is invalid. */
export interface ImportRow {
  /** The row number in the spreadsheet. */
  readonly line: number;
  readonly contact: Readonly<Record<string, unknown>>;
  readonly problem: string | undefined;
}

/** Converts the rows after the header, using the field chosen for each column. */
export function rowsOf(table: readonly (readonly string[])[], columns: readonly Target[]): ImportRow[] {
  const [header = [], ...body] = table;
  return body.map((cells, index) => {
    const contact = contactOf(header, cells, columns);
    const checked = validate(CreateContactRequest, contact);
    return {
      line: index + 2,
      contact,
      problem: checked.success ? undefined : describeProblems(checked.details),
    };
  });
}

function contactOf(
  header: readonly string[],
  cells: readonly string[],
  columns: readonly Target[],
): Record<string, unknown> {
  const contact: Record<string, unknown> = { phoneNumber: "" };
  const attributes: Record<string, string> = {};
  for (const [index, target] of columns.entries()) {
    const cell = (cells[index] ?? "").trim();
    if (cell === "" || target === "skip") continue;
    if (target === "phoneNumber") contact["phoneNumber"] = phoneNumberOf(cell);
    else if (target === "tags") contact["tags"] = tagsOf(cell);
    else if (target === "attribute") attributes[attributeName(header[index] ?? "")] = cell;
    else contact[target] = cell;
  }
  return Object.keys(attributes).length === 0 ? contact : { ...contact, attributes };
}

function describeProblems(details: readonly ErrorDetail[]): string {
  return details.map(({ path, message }) => `${path}: ${message}`).join("; ");
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
    if (row === undefined || result.status === "created") return [];
    const reason =
      result.status === "duplicate"
        ? "a contact with this number already exists"
        : describeProblems(result.details);
    return [{ line: row.line, phoneNumber: String(row.contact["phoneNumber"]), reason }];
  });
}
