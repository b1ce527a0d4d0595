/** The beginnings of a formula, for spreadsheets of any language. */
const formulaStart = "[=+\\-@\\t\\r\\n＝＋－＠]";
const formula = new RegExp(`^${formulaStart}`);
const guard = new RegExp(`^'(?=${formulaStart})`);

/**
 * Rows as CSV (RFC 4180). A value that a spreadsheet would run as a formula gets an apostrophe before it, because the value
 * may come from a stranger. Numbers stay as they are, also phone numbers such as `+44 7700 900123`.
 * @param delimiter a semicolon in countries whose decimals have a comma
 */
export function csvOf(rows: readonly (readonly string[])[], delimiter: "," | ";" = ","): string {
  const cellOf = (value: string): string => {
    const isFormula = formula.test(value) && !/^(-?\d+([.,]\d+)?(e-?\d+)?|\+\d+( \d+)+)$/i.test(value);
    const safe = isFormula ? `'${value}` : value;
    return /[",;\n\r\t]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return rows.map((row) => `${row.map(cellOf).join(delimiter)}\r\n`).join("");
}

/** Returns the value of a cell without the apostrophe that `csvOf` put before it. */
export function withoutGuard(cell: string): string {
  return cell.replace(guard, "");
}
