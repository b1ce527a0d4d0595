/** A column of a table, for rows of one kind. */
export interface Column<Row> {
  readonly heading: string;
  readonly text: (row: Row) => string;
  /** Numbers stand on the right. */
  readonly isNumber?: boolean;
}

/** How often progress is told where nobody watches it on a terminal. */
const progressIntervalMs = 5_000;

/** What a command says: text for people, or one JSON object a line; progress goes to standard error. */
export class Output {
  readonly #isJson: boolean;
  #progressAt = Date.now();
  #progressLength = 0;

  constructor(isJson: boolean) {
    this.#isJson = isJson;
  }

  /** One result: the object itself, or what it says in words. */
  result(value: object, text: string): void {
    this.#print(this.#isJson ? jsonOf(value) : printable(text));
  }

  /** What is JSON for people too. */
  json(value: object): void {
    this.#print(jsonOf(value));
  }

  /** Rows that belong together, with how they are shown as a table. */
  table<Row extends object>(rows: readonly Row[], columns: readonly Column<Row>[]): void {
    if (this.#isJson) for (const row of rows) this.#print(jsonOf(row));
    else if (rows.length > 0) this.#print(printable(tableOf(rows, columns)));
  }

  /** Words that only people need. */
  note(text: string): void {
    if (!this.#isJson) this.#print(printable(text));
  }

  /** Words that must be seen at once, whoever reads the results. */
  aside(text: string): void {
    this.endProgress();
    process.stderr.write(`${printable(text)}\n`);
  }

  /** How far long work has come. On a terminal the line is written over, elsewhere it comes now and then. */
  progress(text: string): void {
    if (process.stderr.isTTY) {
      process.stderr.write(`\r${text.padEnd(this.#progressLength)}`);
      this.#progressLength = text.length;
    } else if (Date.now() - this.#progressAt >= progressIntervalMs) {
      process.stderr.write(`${text}\n`);
      this.#progressAt = Date.now();
    }
  }

  /** Takes the line of progress away. */
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

/** Names and values below each other; those without a value are left out. */
export function listOf(fields: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  const width = Math.max(...given.map(([name]) => name.length));
  return given.map(([name, value]) => `${name.padEnd(width)}  ${oneLine(value ?? "")}`).join("\n");
}

/** Text that keeps to its line. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, " ");
}

/** What customers typed must not move the cursor of the operator's terminal, or turn its text around. */
export function printable(text: string): string {
  return text.replace(invisible, "\u{FFFD}");
}

/** An object as JSON, which can say every character in another way than by itself. */
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

/** Control and format characters, but for the line breaks that we write ourselves. */
const invisible = /[^\P{C}\n]/gu;
