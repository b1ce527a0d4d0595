import { useComputed, useSignal } from "@preact/signals";

import {
  attributeName,
  guessTargets,
  rowsOf,
  sample,
  targets,
  type ImportRow,
  type Target,
} from "../contact-import.ts";
import { countryOptions } from "../countries.ts";
import { Import, failedRowOf, FailedRowsTable } from "../parts/contact-import.tsx";
import { Labeled } from "../parts/field.tsx";
import { SelectField, TextField, useForm } from "../parts/form.tsx";
import { countText } from "../parts/money.tsx";
import { Notice } from "../parts/notice.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Clamped, Table } from "../parts/table.tsx";
import { tableOf } from "../read-table.ts";
import { saveCsv } from "../save-file.ts";
import { tagsOf } from "../typed.ts";

const targetLabels: Readonly<Record<Target, string>> = {
  phoneNumber: "Phone number",
  fullName: "First and last name",
  firstName: "First name",
  lastName: "Last name",
  tags: "Tags",
  attribute: "Attribute",
  skip: "Skip column",
};

interface Spreadsheet {
  readonly name: string;
  readonly table: readonly (readonly string[])[];
}

/** Imports contacts from a spreadsheet: choose the file, map its columns, preview, import. */
export function ContactsImport() {
  const file = useSignal<Spreadsheet | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const read = async (chosen: File | undefined): Promise<void> => {
    if (chosen === undefined) return;
    file.value = undefined;
    problem.value = undefined;
    try {
      const table = await tableOf(chosen);
      if (table.length < 2) problem.value = "The file has no rows after the header.";
      else file.value = { name: chosen.name, table };
    } catch {
      problem.value =
        "The file cannot be read. Save it as an Excel file (.xlsx), or as CSV with all quotes closed.";
    }
  };
  return (
    <Page
      title="Import contacts"
      lead="Choose an Excel or CSV file. The first row must contain the column names."
      back={["#/contacts", "Contacts"]}
    >
      <Section title="File">
        <Labeled label="Spreadsheet" hint="An Excel file is read from its first sheet.">
          {(attributes) => (
            <input
              {...attributes}
              type="file"
              accept=".xlsx,.csv,.tsv,.txt,text/csv,text/tab-separated-values"
              onChange={(event) => void read(event.currentTarget.files?.[0])}
            />
          )}
        </Labeled>
        <div class="row">
          <button type="button" class="small" onClick={() => saveCsv("contacts-sample.csv", sample)}>
            Download a sample
          </button>
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

function Mapping({ table }: { table: Spreadsheet["table"] }) {
  const [header = []] = table;
  const columns = useSignal<readonly Target[]>(guessTargets(header));
  const form = useForm({ tags: "", country: "" }, async () => {});
  const rows = useComputed(() => {
    const { tags, country } = form.values.value;
    return withTags(rowsOf(table, columns.value, country), tagsOf(tags));
  });
  const wrong = rows.value.filter(({ problem }) => problem !== undefined);
  const hasNumber = columns.value.includes("phoneNumber");
  return (
    <>
      <Section title="Columns">
        <Table
          caption="Columns of the file"
          rows={header.map((name, index) => ({ name, index }))}
          keyOf={({ index }) => String(index)}
          columns={{
            Column: ({ name }) => <span dir="auto">{name === "" ? "(unnamed)" : name}</span>,
            "First value": ({ index }) => <Clamped>{table[1]?.[index] ?? ""}</Clamped>,
            "Import as": ({ name, index }) => (
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
                      {each === "attribute" ? `Attribute {{${attributeName(name)}}}` : targetLabels[each]}
                    </option>
                  ))}
              </select>
            ),
          }}
        />
        <SelectField
          field={form.field("country")}
          label="Numbers without a country code are from"
          options={countryOptions("No country: all numbers have a code")}
        />
        <TextField
          field={form.field("tags")}
          label="Tags for all contacts (optional)"
          hint="Separate tags with commas. You can send campaigns to contacts with a tag."
        />
      </Section>
      <Section title="Preview">
        <Table
          caption="First rows as contacts"
          rows={rows.value.slice(0, previewRows)}
          keyOf={({ line }) => String(line)}
          columns={{
            Row: { number: ({ line }) => countText(line) },
            Contact: ({ contact }) => <Clamped>{describe(contact)}</Clamped>,
            Problem: ({ problem }) =>
              problem === undefined ? "None" : <span class="problem">✕ {problem}</span>,
          }}
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
            <FailedRowsTable failed={wrong.map(failedRowOf)} />
          </details>
        )}
        {hasNumber ? <Import rows={rows.value} tags={tagsOf(form.values.value.tags)} /> : null}
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
