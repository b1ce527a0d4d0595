import type { Piece, Row } from "@sms-gateway/operator/desk/protocol.ts";
import type { ComponentChildren } from "preact";

import { Notice } from "../parts/notice.tsx";
import { Facts } from "../parts/page.tsx";
import { Status } from "../parts/status.tsx";
import { Table, type Columns } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { wordsOf } from "./desk.ts";

interface OutputProps {
  readonly pieces: readonly Piece[];
  readonly title?: string;
  /** Headings of columns that are left out. */
  readonly without?: readonly string[];
  /** The menu of a row. */
  readonly menuOf?: ((row: Row) => ComponentChildren) | undefined;
}

/** The output of a command. */
export function Output({ pieces, ...props }: OutputProps) {
  const shown = pieces.map((piece) => {
    if (piece.kind === "table") return <Rows {...piece} {...props} />;
    if (piece.kind === "result") return <Result text={piece.text} />;
    const text = (
      <p>
        <Rich text={piece.text} />
      </p>
    );
    return piece.kind === "note" ? <div class="muted">{text}</div> : <Notice tone="info">{text}</Notice>;
  });
  // A wide table scrolls, also with the keys.
  return (
    <div class="output" tabIndex={0} role="region" aria-label={`Output of ${props.title ?? "the command"}`}>
      {shown.length === 0 ? <p class="muted">Nothing to show.</p> : shown}
    </div>
  );
}

type TableProps = Extract<Piece, { readonly kind: "table" }> & Omit<OutputProps, "pieces">;

function Rows({ columns, rows, title = "Output", without = [], menuOf }: TableProps) {
  const shown: Record<string, Columns<Row>[string]> = {};
  for (const { heading, isNumber } of columns) {
    if (without.includes(heading) || rows.every((row) => row[heading] === "")) continue;
    const show = (row: Row) => <Rich text={String(row[heading])} isShort />;
    shown[wordsOf(heading)] = isNumber ? { number: show } : show;
  }
  if (menuOf !== undefined) shown["Actions"] = menuOf;
  return <Table caption={title} columns={shown} rows={rows} keyOf={(row) => JSON.stringify(row)} />;
}

/** Text of a command: a line, or blocks of aligned names and values, or other lines. */
function Result({ text }: { text: string }) {
  if (!text.includes("\n")) {
    return (
      <p>
        <Rich text={text} />
      </p>
    );
  }
  const pairs = text.split("\n").map((line) => /^(\S.*?) {2,}(\S.*)$/.exec(line));
  if (pairs.includes(null)) return <pre>{text}</pre>;
  const facts = pairs.map((pair) => [pair?.[1] ?? "", <Rich text={pair?.[2] ?? ""} />] as const);
  return <Facts of={Object.fromEntries(facts)} />;
}

const special = /(\d{4}-\d\d-\d\dT[\d:.]+Z|\b(?:org|pay|msg)_[0-9A-Z]{26}\b)/;
const views: Readonly<Record<string, string>> = { org: "customers", pay: "payments", msg: "messages" };
const states =
  /^(active|approved|delivered|done|enabled|failed|pending|queued|refused|rejected|sent|succeeded|suspended|undelivered)$/;

/** Text in which states have signs, times are in the viewer's zone, and IDs are links. A short ID has its end only. */
function Rich({ text, isShort = false }: { text: string; isShort?: boolean }) {
  if (states.test(text)) return <Status of={text} />;
  const parts = text.split(special).map((part, index) => {
    if (index % 2 === 0) return part;
    const [kind = ""] = part.split("_");
    const view = views[kind];
    // A customer's text may have a time that does not exist.
    if (view === undefined) return Number.isNaN(Date.parse(part)) ? part : <Time at={part} />;
    return (
      <a class="whole" href={`#/${view}/${part}`} title={part}>
        {isShort ? `${kind}_…${part.slice(-6)}` : part}
      </a>
    );
  });
  return <span dir="auto">{parts}</span>;
}
