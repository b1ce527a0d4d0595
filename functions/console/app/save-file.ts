import { csvOf } from "../../../shared/figures/exports/csv.ts";

/** The kinds of files that a person can save. `semicolons` is CSV for countries whose decimals have a comma. */
export const fileKinds = {
  xlsx: "Excel",
  csv: "CSV with commas",
  semicolons: "CSV with semicolons",
} as const;
export type FileKind = keyof typeof fileKinds;

type Table = readonly (readonly string[])[];

/** The columns whose values are numbers, and those whose values are phone numbers. All others are texts. */
const numberColumns = ["amount", "balanceAfter", "messages", "price", "refunded", "row", "segments"];
const phoneColumns = ["number", "phoneNumber", "to"];

/** Returns a table with changed values in the columns of these names. */
function withChanged<Value>(
  [header = [], ...rows]: Table,
  columns: readonly string[],
  change: (value: string) => Value,
): (string | Value)[][] {
  const isChanged = header.map((name) => columns.includes(name));
  const changed = rows.map((row) => row.map((value, column) => (isChanged[column] ? change(value) : value)));
  return [[...header], ...changed];
}

/** Lets the browser save a table that opens right in a spreadsheet. @param name of the file, without the end that shows its kind */
export async function saveTable(name: string, table: Table, kind: FileKind): Promise<string> {
  const shown = await withWrittenNumbers(table);
  const file = `${name}.${kind === "xlsx" ? "xlsx" : "csv"}`;
  saveFile(file, kind === "xlsx" ? await xlsxOf(shown) : csvFileOf(shown, kind));
  return file;
}

/** A spreadsheet recognizes UTF-8 by its first character, and a phone number with spaces as a text. */
export function csvFileOf(table: Table, kind: FileKind): Blob {
  const withCommas = (): Table => withChanged(table, numberColumns, (value) => value.replace(".", ","));
  const csv = kind === "semicolons" ? csvOf(withCommas(), ";") : csvOf(table);
  return new Blob(["\uFEFF", csv], { type: "text/csv;charset=utf-8" });
}

/** Returns an Excel file in which texts are texts, whatever they look like. */
export async function xlsxOf(table: Table): Promise<Blob> {
  // Loaded on demand, because of its size.
  const { sheetFileOf } = await import("./write-sheet.ts");
  const cells = withChanged(table, numberColumns, (value) => (value === "" ? value : Number(value)));
  return new Blob([new Uint8Array(await sheetFileOf(cells))], {
    type: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  });
}

/** Returns a table with its phone numbers as people write them: `+44 7700 900001`. */
export async function withWrittenNumbers(table: Table): Promise<Table> {
  const { formatNumber } = await import("../../../shared/api/read-number.ts");
  return withChanged(table, phoneColumns, (value) =>
    /^\d{7,15}$/.test(value) ? formatNumber(value) : value,
  );
}

/** Lets the browser save a file. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
