/*
 * CSV as spreadsheets write and read it (RFC 4180), with whichever of the usual delimiters.
 */

const delimiters = [",", ";", "\t"] as const;

/** Rows of cells. An empty line is no row; a quote that is never closed takes all that follows. */
export function parseCsv(text: string): string[][] {
  const source = text.replace(/^\uFEFF/, "");
  const delimiter = delimiterOf(source);
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let isQuoted = false;
  const endCell = (): void => {
    row.push(cell);
    cell = "";
  };
  const endRow = (): void => {
    endCell();
    if (row.some((each) => each.trim() !== "")) rows.push(row);
    row = [];
  };
  for (let index = 0; index < source.length; index += 1) {
    const character = source.charAt(index);
    if (isQuoted) {
      if (character !== '"') cell += character;
      else if (source.charAt(index + 1) === '"') {
        cell += '"';
        index += 1;
      } else isQuoted = false;
    } else if (character === '"' && cell === "") isQuoted = true;
    else if (character === delimiter) endCell();
    else if (character === "\n" || character === "\r") {
      endRow();
      if (character === "\r" && source.charAt(index + 1) === "\n") index += 1;
    } else cell += character;
  }
  endRow();
  return rows;
}

/** The delimiter that the first line has most of. */
function delimiterOf(text: string): string {
  const [firstLine = ""] = text.split(/\r|\n/, 1);
  const counts = delimiters.map((each) => [each, firstLine.split(each).length] as const);
  const [[best] = [","]] = counts.toSorted(([, one], [, other]) => other - one);
  return best;
}

/**
 * Rows as a CSV file. A cell that a spreadsheet would take for a formula gets an apostrophe before it, for what is in it
 * may come from strangers; numbers stay as they are.
 */
export function csvOf(rows: readonly (readonly string[])[]): string {
  const cellOf = (value: string): string => {
    const isFormula = /^[=+\-@\t\r]/.test(value) && !/^-?\d+(\.\d+)?(e-?\d+)?$/i.test(value);
    const safe = isFormula ? `'${value}` : value;
    return /[",;\n\r\t]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return rows.map((row) => `${row.map(cellOf).join(",")}\r\n`).join("");
}

/** The text of a file: UTF-8, or where it is none, what older spreadsheets write in the West. */
export async function textOf(file: Blob): Promise<string> {
  const bytes = await file.arrayBuffer();
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}
