import { parse } from "csv-parse/browser/esm/sync";
import type { CellValue } from "read-excel-file/universal";

const delimiters = [",", ";", "\t"] as const;

/**
 * Reads the rows of a spreadsheet: the first sheet of an Excel file, or a CSV file.
 * @throws Error for a file that is neither
 */
export async function tableOf(file: File): Promise<string[][]> {
  if (!file.name.toLowerCase().endsWith(".xlsx")) return parseCsv(await textOf(file));
  const { readSheet } = await import("read-excel-file/universal");
  const rows = await readSheet(file);
  return rows.map((cells) => cells.map(textOfCell)).filter((cells) => cells.some((cell) => cell !== ""));
}

/** The text of a cell. A day has no time, as in the spreadsheet. A time is a fraction of a day there, so it is rounded. */
function textOfCell(cell: CellValue | null): string {
  if (!(cell instanceof Date)) return cell === null ? "" : String(cell);
  const time = new Date(Math.round(cell.getTime() / 1_000) * 1_000);
  return time.toISOString().slice(0, 16).replace("T", " ").replace(" 00:00", "");
}

/**
 * Reads the rows of a CSV file (RFC 4180) with any of the usual delimiters. Empty rows are left out.
 * @throws Error when a quoted value is not closed
 */
export function parseCsv(text: string): string[][] {
  return parse(text, {
    bom: true,
    delimiter: delimiterOf(text),
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
    relax_quotes: true,
    skip_records_with_empty_values: true,
  });
}

/** The delimiter that occurs most often in the first line. */
function delimiterOf(text: string): string {
  const [firstLine = ""] = text.split(/\r|\n/, 1);
  const counts = delimiters.map((each) => [each, firstLine.split(each).length] as const);
  const [[best] = [","]] = counts.toSorted(([, one], [, other]) => other - one);
  return best;
}

/** The text of a file: UTF-8, or Windows-1252 as older spreadsheets write it. */
export async function textOf(file: Blob): Promise<string> {
  const bytes = await file.arrayBuffer();
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}
