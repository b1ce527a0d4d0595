/** Numbers that are added up, beside names of what they belong to. */
type Row = Readonly<Record<string, unknown>>;

/** Adds the numbers of a row to those of a sum. The sum determines the fields, and keeps all others. */
export function added<Of extends Row>(sum: Of, row: Of): Of {
  const numbers: Record<string, number> = {};
  for (const [field, value] of Object.entries(sum)) {
    const other = row[field];
    if (typeof value === "number" && typeof other === "number") numbers[field] = value + other;
  }
  return { ...sum, ...numbers };
}

/** Adds a row to the sum of its name, which begins with the first row. */
export function addTo<Of extends Row>(sums: Map<string, Of>, name: string, row: Of): void {
  const sum = sums.get(name);
  sums.set(name, sum === undefined ? row : added(sum, row));
}

/** Adds up rows into one for each name, in the order of their first rows. */
export function sumBy<Of extends Row>(rows: Iterable<Of>, nameOf: (row: Of) => string): Of[] {
  const sums = new Map<string, Of>();
  for (const row of rows) addTo(sums, nameOf(row), row);
  return [...sums.values()];
}
