import { csvOf } from "../../../shared/figures/exports/csv.ts";
import { parseCsv } from "./read-table.ts";

/**
 * Joins the parts of an export into files, each with the names of the columns.
 * @param parts CSV; the first one begins with the names of the columns
 * @param rowsOfFile the most rows of a file, unless a single part has more
 */
export async function* filesOf(parts: AsyncIterable<string>, rowsOfFile: number): AsyncGenerator<string[]> {
  let heading: string | undefined;
  let file: string[] = [];
  // The heading is no row.
  let rows = -1;
  for await (const part of parts) {
    heading ??= csvOf(parseCsv(part).slice(0, 1));
    const more = rowsIn(part);
    if (rows > 0 && rows + more > rowsOfFile) {
      yield file;
      file = [heading];
      rows = 0;
    }
    file.push(part);
    rows += more;
  }
  yield file;
}

/** Counts the line ends outside quotes. */
function rowsIn(csv: string): number {
  const unquoted = csv.split('"').filter((_, index) => index % 2 === 0);
  return unquoted.join("").split("\r\n").length - 1;
}
