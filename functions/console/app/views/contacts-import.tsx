import { useComputed, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useId } from "preact/hooks";

import { api } from "../api.ts";
import {
  attributeName,
  batchesOf,
  guessTargets,
  refusedOf,
  rowsOf,
  targets,
  type ImportRow,
  type Refused,
  type Target,
} from "../contact-import.ts";
import { useAction } from "../parts/dialog.tsx";
import { countText } from "../parts/money.tsx";
import { announce, Notice, Problem } from "../parts/notice.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Table } from "../parts/table.tsx";
import { parseCsv, textOf } from "../read-csv.ts";
import { saveCsv } from "../save-file.ts";
import { tagsOf } from "../typed.ts";

const targetWords: Readonly<Record<Target, string>> = {
  phoneNumber: "Phone number",
  firstName: "First name",
  lastName: "Last name",
  tags: "Tags",
  attribute: "Attribute",
  skip: "Skip column",
};

interface File {
  readonly name: string;
  readonly table: readonly (readonly string[])[];
}

/** Contacts from a spreadsheet: choose the file, map its columns, preview, import. */
export function ContactsImport(): JSX.Element {
  const file = useSignal<File | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const id = useId();
  const read = async (chosen: globalThis.File | undefined): Promise<void> => {
    if (chosen === undefined) return;
    file.value = undefined;
    problem.value = undefined;
    try {
      const table = parseCsv(await textOf(chosen));
      if (table.length < 2) problem.value = "The file has no rows after the header.";
      else file.value = { name: chosen.name, table };
    } catch {
      problem.value = "The file is not valid CSV: a quoted value is not closed.";
    }
  };
  return (
    <Page
      title="Import contacts"
      lead="Choose a CSV file exported from a spreadsheet. The first row must contain the column names."
      back={["#/contacts", "Contacts"]}
    >
      <Section title="File">
        <div class="field">
          <label for={id}>CSV file</label>
          <input
            id={id}
            type="file"
            accept=".csv,.tsv,.txt,text/csv,text/tab-separated-values"
            onChange={(event) => void read(event.currentTarget.files?.[0])}
          />
          <p class="hint">
            Values can be separated by commas, semicolons or tabs. Nothing is uploaded until you start the
            import.
          </p>
        </div>
        {problem.value === undefined ? null : <Notice tone="bad">{problem.value}</Notice>}
      </Section>
      {file.value === undefined ? null : (
        <Mapping key={`${file.value.name} ${file.value.table.length}`} table={file.value.table} />
      )}
    </Page>
  );
}

const previewRows = 5;

function Mapping({ table }: { table: File["table"] }): JSX.Element {
  const [header = []] = table;
  const columns = useSignal<readonly Target[]>(guessTargets(header));
  const tag = useSignal("");
  const rows = useComputed(() => withTags(rowsOf(table, columns.value), tagsOf(tag.value)));
  const wrong = rows.value.filter(({ problem }) => problem !== undefined);
  const hasNumber = columns.value.includes("phoneNumber");
  const id = useId();
  return (
    <>
      <Section title="Columns">
        <Table
          caption="Columns of the file"
          rows={header.map((name, index) => ({ name, index }))}
          keyOf={({ index }) => String(index)}
          columns={[
            {
              title: "Column",
              show: ({ name }) => <span dir="auto">{name === "" ? "(unnamed)" : name}</span>,
            },
            {
              title: "First value",
              show: ({ index }) => (
                <span class="clamp" dir="auto">
                  {table[1]?.[index] ?? ""}
                </span>
              ),
            },
            {
              title: "Import as",
              show: ({ name, index }) => (
                <select
                  aria-label={`Import the column ${name} as`}
                  value={columns.value[index]}
                  onChange={(event) => {
                    const chosen = targets.find((each) => each === event.currentTarget.value) ?? "skip";
                    columns.value = columns.value.with(index, chosen);
                  }}
                >
                  {targets
                    .filter((each) => each !== "attribute" || attributeName(name) !== "")
                    .map((each) => (
                      <option key={each} value={each}>
                        {each === "attribute" ? `Attribute {{${attributeName(name)}}}` : targetWords[each]}
                      </option>
                    ))}
                </select>
              ),
            },
          ]}
        />
        <div class="field">
          <label for={`${id}-tag`}>Tags for all contacts (optional)</label>
          <input
            id={`${id}-tag`}
            value={tag.value}
            onInput={(event) => {
              tag.value = event.currentTarget.value;
            }}
          />
          <p class="hint">Separate tags with commas. You can send campaigns to contacts with a tag.</p>
        </div>
      </Section>
      <Section title="Preview">
        <Table
          caption="First rows as contacts"
          rows={rows.value.slice(0, previewRows)}
          keyOf={({ line }) => String(line)}
          columns={[
            { title: "Row", isNumber: true, show: ({ line }) => countText(line) },
            {
              title: "Contact",
              show: ({ contact }) => (
                <span class="clamp" dir="auto">
                  {describe(contact)}
                </span>
              ),
            },
            {
              title: "Problem",
              show: ({ problem }) =>
                problem === undefined ? "None" : <span class="problem">✕ {problem}</span>,
            },
          ]}
        />
        <p>
          <strong>{countText(rows.value.length - wrong.length)}</strong> of{" "}
          {countText(rows.value.length, "row")} can be imported.
        </p>
        {hasNumber ? null : (
          <Notice tone="bad">
            Choose the column that contains the phone numbers. Every contact needs one.
          </Notice>
        )}
        {wrong.length === 0 || !hasNumber ? null : (
          <details>
            <summary>{countText(wrong.length, "row")} cannot be imported</summary>
            <RefusedTable refused={wrong.map(refusedHere)} />
          </details>
        )}
        {hasNumber ? <Import key={rows.value.length} rows={rows.value} /> : null}
      </Section>
    </>
  );
}

function withTags(rows: readonly ImportRow[], more: readonly string[]): ImportRow[] {
  return rows.map((row) => {
    const { tags } = row.contact;
    const all = [...new Set([...(Array.isArray(tags) ? tags.map(String) : []), ...more])];
    return all.length === 0 ? row : { ...row, contact: { ...row.contact, tags: all } };
  });
}

function describe(contact: ImportRow["contact"]): string {
  const { attributes, ...fields } = contact;
  const own = Object.entries(Object(attributes)).map(([name, value]) => `${name}: ${String(value)}`);
  return [...Object.values(fields).map(String), ...own].filter(Boolean).join(" · ");
}

function refusedHere({ line, contact, problem = "" }: ImportRow): Refused {
  return { line, phoneNumber: String(contact["phoneNumber"]), reason: problem };
}

interface Progress {
  /** Rows that are dealt with, all in all. */
  readonly done: number;
  readonly created: number;
  readonly refused: readonly Refused[];
}

const nothingDone: Progress = { done: 0, created: 0, refused: [] };

/** Imports batch by batch. When one fails, those before it are done, and the import goes on with it. */
function Import({ rows }: { rows: readonly ImportRow[] }): JSX.Element {
  const progress = useSignal<Progress>(nothingDone);
  const isStopping = useSignal(false);
  const valid = rows.filter(({ problem }) => problem === undefined);
  const { run, isBusy, error } = useAction(async () => {
    isStopping.value = false;
    if (progress.value.done >= valid.length) {
      progress.value = {
        ...nothingDone,
        refused: rows.filter(({ problem }) => problem !== undefined).map(refusedHere),
      };
    }
    for (const batch of batchesOf(valid.slice(progress.value.done))) {
      const { results, totals } = await api().importContacts({
        body: { contacts: batch.map(({ contact }) => contact) },
      });
      const { done, created, refused } = progress.value;
      progress.value = {
        done: done + batch.length,
        created: created + totals.created,
        refused: [...refused, ...refusedOf(batch, results)],
      };
      if (isStopping.value) return;
    }
    announce(`${countText(progress.value.created, "contact")} imported.`);
  });
  const { done, created, refused } = progress.value;
  const isDone = done > 0 && done >= valid.length;
  return (
    <>
      <div class="row">
        <button type="button" class="primary" disabled={isBusy || valid.length === 0 || isDone} onClick={run}>
          {done > 0 && !isDone ? "Resume import" : `Import ${countText(valid.length, "contact")}`}
        </button>
        {isBusy ? (
          <button type="button" onClick={() => (isStopping.value = true)}>
            {isStopping.value ? "Stopping…" : "Stop"}
          </button>
        ) : null}
      </div>
      {isBusy || done > 0 ? (
        <div role="status">
          <progress aria-label="Rows imported" max={valid.length} value={done} />
          <p>
            {countText(done)} of {countText(valid.length, "row")} processed: {countText(created)} imported,{" "}
            {countText(refused.length)} not imported.
          </p>
        </div>
      ) : null}
      {error === undefined ? null : <Problem error={error} />}
      {isDone && !isBusy ? (
        <Notice tone="good">
          <p>
            <strong>{countText(created, "contact")} imported.</strong>
          </p>
          <div class="row">
            <a class="button" href="#/contacts">
              View contacts
            </a>
            <a class="button" href="#/campaigns/new">
              New campaign
            </a>
          </div>
        </Notice>
      ) : null}
      {refused.length === 0 || isBusy ? null : (
        <details open={isDone}>
          <summary>{countText(refused.length, "row")} not imported</summary>
          <RefusedTable refused={refused} />
          <button
            type="button"
            class="small"
            onClick={() => {
              const lines = refused.map(({ line, phoneNumber, reason }) => [
                String(line),
                phoneNumber,
                reason,
              ]);
              saveCsv("not-imported.csv", [["row", "phoneNumber", "reason"], ...lines]);
            }}
          >
            Download CSV
          </button>
        </details>
      )}
    </>
  );
}

const maxRefusedShown = 100;

function RefusedTable({ refused }: { refused: readonly Refused[] }): JSX.Element {
  return (
    <>
      <Table
        caption="Rows not imported"
        rows={refused.slice(0, maxRefusedShown)}
        keyOf={({ line }) => String(line)}
        columns={[
          { title: "Row", isNumber: true, show: ({ line }) => countText(line) },
          { title: "Phone number", show: ({ phoneNumber }) => <span class="clamp">{phoneNumber}</span> },
          { title: "Reason", show: ({ reason }) => reason },
        ]}
      />
      {refused.length > maxRefusedShown ? (
        <p class="muted">And {countText(refused.length - maxRefusedShown)} more.</p>
      ) : null}
    </>
  );
}
