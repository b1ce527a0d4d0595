/**
 * Rows as CSV (RFC 4180). A value that a spreadsheet would run as a formula gets an apostrophe before it, because the value
 * may come from a stranger. Numbers stay as they are, also phone numbers such as `+44 7700 900123`.
 * @param delimiter a semicolon in countries whose decimals have a comma
 */
export function csvOf(rows: readonly (readonly string[])[], delimiter: "," | ";" = ","): string {
  const cellOf = (value: string): string => {
    const isFormula =
      /^[=+\-@\t\r\n＝＋－＠]/.test(value) && !/^(-?\d+([.,]\d+)?(e-?\d+)?|\+\d+( \d+)+)$/i.test(value);
    const safe = isFormula ? `'${value}` : value;
    return /[",;\n\r\t]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return rows.map((row) => `${row.map(cellOf).join(delimiter)}\r\n`).join("");
}

/** Returns the value of a cell without the apostrophe that `csvOf` put before it. */
export function withoutGuard(cell: string): string {
  return cell.replace(/^'(?=[=+\-@\t\r\n＝＋－＠])/, "");
}
