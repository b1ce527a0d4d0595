import { jsonOf, Output, printable, textsOfTable, type Columns } from "../output.ts";
import type { Piece } from "./protocol.ts";

/** Collects the output of a command for a page. Warnings, such as a new reference, are on the terminal too. */
export class CollectedOutput extends Output {
  readonly pieces: Piece[] = [];

  override result<Row extends object>(
    _: object,
    text: string,
    rows?: readonly Row[],
    columns?: Columns<Row>,
  ): void {
    this.pieces.push({ kind: "result", text: printable(text).trimEnd() });
    this.table(rows ?? [], columns ?? {});
  }

  override table<Row extends object>(rows: readonly Row[], columns: Columns<Row>): void {
    if (rows.length === 0) return;
    const { headings, areNumbers, rows: texts } = textsOfTable(rows, columns);
    this.pieces.push({
      kind: "table",
      columns: headings.map((heading, at) => ({ heading, isNumber: areNumbers[at] === true })),
      rows: rows.map((row, index) => {
        const shown = headings.map((heading, at) => [heading, printable(texts[index]?.[at] ?? "")]);
        return { ...JSON.parse(jsonOf(row)), ...Object.fromEntries(shown) };
      }),
    });
  }

  override note(text: string): void {
    this.pieces.push({ kind: "note", text: printable(text) });
  }

  override aside(text: string): void {
    super.aside(text);
    this.pieces.push({ kind: "warning", text: printable(text) });
  }
}
