/** Text that is aligned to the right as numbers are, such as an amount. */
class Right {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export function right(text: string): Right {
  return new Right(text);
}

type Cell = Right | number | string | null | undefined;

/** The columns of a table by their headings. Each shows a field of the rows, or what a function returns for a row. */
export type Columns<Row> = Readonly<Record<string, ShownField<Row> | ((row: Row) => Cell)>>;

type ShownField<Row> = { [Name in keyof Row]-?: Row[Name] extends Cell ? Name : never }[keyof Row];

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

  /** Prints one result: the object, or its text with a table of its parts. */
  result<Row extends object>(
    value: object,
    text: string,
    rows: readonly Row[] = [],
    columns: Columns<Row> = {},
  ): void {
    const whole = rows.length === 0 ? text : `${text}\n\n${tableOf(rows, columns)}`;
    this.#print(this.#isJson ? jsonOf(value) : printable(whole));
  }

  /** Prints JSON for people too. */
  json(value: object): void {
    this.#print(jsonOf(value));
  }

  /** Prints rows, as a table for people. */
  table<Row extends object>(rows: readonly Row[], columns: Columns<Row>): void {
    if (this.#isJson) for (const row of rows) this.#print(jsonOf(row));
    else if (rows.length > 0) this.#print(printable(tableOf(rows, columns)));
  }

  /** Prints rows as a CSV file. */
  csv<Row extends object>(rows: readonly Row[], columns: Columns<Row>): void {
    const headings = Object.keys(columns).map((heading) => heading.toLowerCase().replaceAll(" ", "_"));
    this.note(headings.join(","));
    for (const row of rows) this.result(row, textsOf(row, columns).map(quoted).join(","));
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

/** A cell of a CSV file (RFC 4180). */
function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The texts of a table, and which columns have numbers. */
export function textsOfTable<Row>(rows: readonly Row[], columns: Columns<Row>) {
  const contents = rows.map((row) => cellsOf(row, columns));
  const headings = Object.keys(columns);
  return {
    headings,
    areNumbers: headings.map((_, index) =>
      contents.some(({ [index]: cell }) => typeof cell === "number" || cell instanceof Right),
    ),
    rows: contents.map((cells) => cells.map((cell) => oneLine(textOf(cell)))),
  };
}

/** A table with aligned columns. */
export function tableOf<Row>(rows: readonly Row[], columns: Columns<Row>): string {
  const { headings, areNumbers, rows: contents } = textsOfTable(rows, columns);
  const texts = [headings, ...contents];
  const alignments = areNumbers.map((isRight, index) => {
    const width = texts.reduce((widest, line) => Math.max(widest, (line[index] ?? "").length), 0);
    return (text: string): string => (isRight ? text.padStart(width) : text.padEnd(width));
  });
  const lines = texts.map((line) => line.map((text, index) => alignments[index]?.(text)).join("  "));
  return lines.map((line) => line.trimEnd()).join("\n");
}

function cellsOf<Row>(row: Row, columns: Columns<Row>): unknown[] {
  return Object.values(columns).map((column) => (typeof column === "function" ? column(row) : row[column]));
}

/** The text of each column for a row. */
export function textsOf<Row>(row: Row, columns: Columns<Row>): string[] {
  return cellsOf(row, columns).map(textOf);
}

function textOf(cell: unknown): string {
  if (cell instanceof Right) return cell.text;
  return typeof cell === "string" || typeof cell === "number" ? String(cell) : "";
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
