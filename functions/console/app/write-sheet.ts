import { writeXlsx } from "hucre";

/** Returns the bytes of an Excel file with one sheet, in which numbers are numbers and texts are texts. */
export async function sheetFileOf(rows: readonly (readonly (number | string)[])[]): Promise<Uint8Array> {
  return writeXlsx({ sheets: [{ name: "Sheet1", rows: rows.map((row) => [...row]) }] });
}
