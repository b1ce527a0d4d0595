import { parse } from "csv-parse/browser/esm/sync";

const delimiters = [",", ";", "\t", "|"] as const;

/** The rows of a spreadsheet, with dates as it shows them, and as 2026-11-24. Both are the same rows if it has no dates. */
export type Tables = Readonly<Record<"iso" | "shown", readonly (readonly string[])[]>>;

/**
 * Reads a spreadsheet as a person sees it: the first visible sheet of an Excel file, or a CSV file. Each row is at its place,
 * and an empty one has no cells.
 * @throws Error for a file that is neither
 */
export async function tablesOf(file: Blob): Promise<Tables> {
  if ((await file.slice(0, excelMark.length).text()) !== excelMark) {
    const rows = parseCsv(await textOf(file));
    return { shown: rows, iso: rows };
  }
  const { tablesOfSheet } = await import("./read-sheet.ts");
  return tablesOfSheet(new Uint8Array(await file.arrayBuffer()));
}

/** The first bytes of an Excel file, which is a ZIP file. */
const excelMark = "PK\u0003\u0004";

/**
 * Reads the rows of a CSV file (RFC 4180) with any of the usual delimiters. Excel's line `sep=;` is no row.
 * @throws Error when a quoted value is not closed
 */
export function parseCsv(text: string): string[][] {
  const [line = "", stated] = /^\uFEFF?"?sep=(.)"?\r?\n/i.exec(text) ?? [];
  const body = text.slice(line.length);
  const delimiter = stated ?? delimiterOf(body);
  return rowsWith(delimiter, body).map((cells) => (isBlank(cells) ? [] : cells));
}

/** Whether a row has no values. */
export function isBlank(cells: readonly string[]): boolean {
  return cells.every((cell) => cell.trim() === "");
}

function rowsWith(delimiter: string, text: string, rows?: number): string[][] {
  return parse(text, {
    bom: true,
    delimiter,
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
    relax_quotes: true,
    ...(rows === undefined ? {} : { to: rows }),
  });
}

/** The delimiter with which the first row of several cells has the most. Titles and empty rows may be above it. */
function delimiterOf(text: string): string {
  const counts = delimiters.map((each) => [each, cellCounts(each, text)] as const);
  const row = Math.min(...counts.map(([, of]) => of.findIndex((count) => count > 1)).filter((at) => at >= 0));
  const [[best] = [","]] = counts.toSorted(([, one], [, other]) => (other[row] ?? 0) - (one[row] ?? 0));
  return best;
}

/** How many of the first rows can be titles. */
const maxTitleRows = 10;

function cellCounts(delimiter: string, text: string): number[] {
  try {
    return rowsWith(delimiter, text, maxTitleRows + 1).map((cells) => cells.length);
  } catch {
    // With this delimiter a quote is not closed.
    return [];
  }
}

/** The text of a file: UTF-8 or UTF-16, or Windows-1252 as older spreadsheets write it. */
export async function textOf(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const [first, second, third, fourth] = bytes;
  // With or without its mark: ASCII has a zero in each second byte.
  if ((first === 0xff && second === 0xfe) || (second === 0 && fourth === 0))
    return decoded("utf-16le", bytes);
  if ((first === 0xfe && second === 0xff) || (first === 0 && third === 0)) return decoded("utf-16be", bytes);
  const text = decoded("utf-8", bytes);
  const wrong = text.match(/\uFFFD/g)?.length ?? 0;
  // A program that joins files leaves a few wrong bytes among the characters of UTF-8.
  const isUtf8 = wrong === 0 || wrong < (text.match(/[^\0-\x7F\uFFFD]/gu)?.length ?? 0);
  return isUtf8 ? text : decoded("windows-1252", bytes);
}

function decoded(encoding: string, bytes: Uint8Array): string {
  return new TextDecoder(encoding).decode(bytes);
}
