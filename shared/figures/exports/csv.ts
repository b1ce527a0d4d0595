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
