/** A column of a table. */
export interface Column<Row> {
  readonly heading: string;
  readonly text: (row: Row) => string;
  /** Numbers are aligned to the right. */
  readonly isNumber?: boolean;
}

/** How often progress is reported if standard error is not a terminal. */
const progressIntervalMs = 5_000;

/** The output of a command: text for people, or one JSON object per line. Progress goes to standard error. */
export class Output {
  readonly #isJson: boolean;
  #progressAt = Date.now();
  #progressLength = 0;

  constructor(isJson: boolean) {
    this.#isJson = isJson;
  }

  /** Prints one result: the object, or its text. */
  result(value: object, text: string): void {
    this.#print(this.#isJson ? jsonOf(value) : printable(text));
  }

  /** Prints JSON for people too. */
  json(value: object): void {
    this.#print(jsonOf(value));
  }

  /** Prints rows, as a table for people. */
  table<Row extends object>(rows: readonly Row[], columns: readonly Column<Row>[]): void {
    if (this.#isJson) for (const row of rows) this.#print(jsonOf(row));
    else if (rows.length > 0) this.#print(printable(tableOf(rows, columns)));
  }

  /** Prints rows as a CSV file. */
  csv<Row extends object>(rows: readonly Row[], columns: readonly Column<Row>[]): void {
    this.note(columns.map(({ heading }) => heading.toLowerCase().replaceAll(" ", "_")).join(","));
    for (const row of rows) this.result(row, columns.map(({ text }) => text(row)).join(","));
  }

  /** Prints text for people only. */
  note(text: string): void {
    if (!this.#isJson) this.#print(printable(text));
  }

  /** Prints text on standard error, such as a warning. */
  aside(text: string): void {
    this.endProgress();
    process.stderr.write(`${printable(text)}\n`);
  }

  /** Reports the progress of long work. A terminal shows the latest report only. */
  progress(text: string): void {
    if (process.stderr.isTTY) {
      process.stderr.write(`\r${text.padEnd(this.#progressLength)}`);
      this.#progressLength = text.length;
    } else if (Date.now() - this.#progressAt >= progressIntervalMs) {
      process.stderr.write(`${text}\n`);
      this.#progressAt = Date.now();
    }
  }

  /** Clears the progress line. */
  endProgress(): void {
    if (this.#progressLength > 0) process.stderr.write(`\r${" ".repeat(this.#progressLength)}\r`);
    this.#progressLength = 0;
  }

  #print(text: string): void {
    this.endProgress();
    process.stdout.write(`${text}\n`);
  }
}

/** A table with aligned columns. */
export function tableOf<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const lines = [
    columns.map(({ heading }) => heading),
    ...rows.map((row) => columns.map(({ text }) => oneLine(text(row)))),
  ];
  const widths = columns.map((_, index) => Math.max(...lines.map((cells) => (cells[index] ?? "").length)));
  return lines
    .map((cells) =>
      cells
        .map((cell, index) => {
          const width = widths[index] ?? 0;
          return columns[index]?.isNumber === true ? cell.padStart(width) : cell.padEnd(width);
        })
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Aligned names and values, one pair per line. Names without a value are left out. */
export function listOf(fields: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  const width = Math.max(...given.map(([name]) => name.length));
  return given.map(([name, value]) => `${name.padEnd(width)}  ${oneLine(value ?? "")}`).join("\n");
}

/** Replaces line breaks and other white space with spaces. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, " ");
}

/** Replaces control characters, so that customers' text cannot move the cursor or reverse the terminal's text. */
export function printable(text: string): string {
  return text.replace(invisible, "\u{FFFD}");
}

/** An object as JSON, with control characters escaped. */
export function jsonOf(value: object): string {
  return JSON.stringify(value, (_name, each: unknown) => (each instanceof Set ? [...each] : each)).replace(
    invisible,
    (character) =>
      character
        .split("")
        .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
        .join(""),
  );
}

/** Control and format characters, except line breaks. */
const invisible = /[^\P{C}\n]/gu;
