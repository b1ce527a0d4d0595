/* The data that the desk's server and its pages exchange. This file has only types, so that both can import it. */

/**
 * A command line, such as `carriers enable {name}`. A name in braces stands for a field or a column of the row, or for the ID
 * or the text of the page. A label may be in front: `Enable: carriers enable {name}`. Lines of commands that this
 * release does not have are left out.
 */
type Line = string;

export interface Panel {
  readonly title: string;
  readonly line: Line;
  /** Headings of columns that the page leaves out. */
  readonly without?: readonly string[];
  /** The texts of a search that the panel is for, as a regular expression. */
  readonly when?: string;
  readonly actions?: readonly Line[];
  readonly rowActions?: readonly Line[];
}

export interface DeskPage {
  /** The address, such as `customers/:id`. */
  readonly path: string;
  readonly title: string;
  /** The name of an icon of the console; a page without one is not in the menu. */
  readonly icon?: string;
  readonly look?: "search" | "tabs";
  readonly actions?: readonly Line[];
  readonly panels: readonly Panel[];
}

/** A command. The title of a part is its syntax in commander's notation. */
export interface ShownCommand {
  readonly name: string;
  readonly summary: string;
  readonly details: string;
  readonly parts: readonly { readonly name: string; readonly title: string; readonly help: string }[];
}

export interface Desk {
  readonly stage: string;
  readonly identity: string;
  readonly pages: readonly DeskPage[];
  readonly commands: readonly ShownCommand[];
}

/** A row of a table: its fields, and the texts of its columns by their headings. */
export type Row = Readonly<Record<string, unknown>>;

/** A piece of a command's output. */
export type Piece =
  | { readonly kind: "note" | "result" | "warning"; readonly text: string }
  | {
      readonly kind: "table";
      readonly columns: readonly { readonly heading: string; readonly isNumber: boolean }[];
      readonly rows: readonly Row[];
    };

/**
 * The response to a command. The operator confirms a question by typing a text, in a request with the question's ticket. A
 * failure names the part that is not valid.
 */
export type Response =
  | { state: "done"; output: readonly Piece[] }
  | { state: "failed"; output: readonly Piece[]; problem: string; part?: string | undefined }
  | {
      state: "question";
      output: readonly Piece[];
      question: string;
      typed: string;
      ticket: string;
    };
