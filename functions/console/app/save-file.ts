/**
 * Rows as CSV (RFC 4180). A value that a spreadsheet would run as a formula gets an apostrophe before it, because the value
 * may come from a stranger. Numbers stay as they are.
 */
export function csvOf(rows: readonly (readonly string[])[]): string {
  const cellOf = (value: string): string => {
    const isFormula = /^[=+\-@\t\r]/.test(value) && !/^-?\d+(\.\d+)?(e-?\d+)?$/i.test(value);
    const safe = isFormula ? `'${value}` : value;
    return /[",;\n\r\t]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return rows.map((row) => `${row.map(cellOf).join(",")}\r\n`).join("");
}

/** Lets the browser save rows as a CSV file. */
export function saveCsv(name: string, rows: readonly (readonly string[])[]): void {
  saveFile(name, new Blob(["\uFEFF", csvOf(rows)], { type: "text/csv;charset=utf-8" }));
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
