import { useComputed, useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";

import { formatNumber, type TwoNumbers } from "../../../../shared/api/read-number.ts";
import { renderTemplate } from "../../../../shared/audience/templates/render.ts";
import { attributeNames } from "../column-names.ts";
import {
  clearedFields,
  guessTargets,
  headerRowOf,
  openQuestionOf,
  rowsOf,
  sample,
  targets,
  type ImportRow,
  type Target,
} from "../import-rows.ts";
import { Import, FailedRowsTable } from "../parts/contact-import.tsx";
import { Labeled } from "../parts/field.tsx";
import { SelectField, TextField, useForm } from "../parts/form.tsx";
import { countText } from "../parts/money.tsx";
import { Notice } from "../parts/notice.tsx";
import { Page, Section } from "../parts/page.tsx";
import { CountryOfNumber } from "../parts/phone.tsx";
import { Clamped, Table } from "../parts/table.tsx";
import { TemplatePicker } from "../parts/template-picker.tsx";
import { withFieldNames } from "../placeholders.ts";
import { tablesOf, type Tables } from "../read-table.ts";
import { saveTable } from "../save-file.ts";
import { tagsOf, phoneCountry } from "../typed.ts";

const targetLabels: Readonly<Record<Target, string>> = {
  phoneNumber: "Phone number",
  fullName: "First and last name",
  firstName: "First name",
  lastName: "Last name",
  tags: "Tags",
  optedOut: "Opted out (yes or no)",
  attribute: "Attribute",
  skip: "Skip column",
};

interface Spreadsheet {
  readonly name: string;
  readonly tables: Tables;
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
      const tables = await tablesOf(chosen);
      const { shown } = tables;
      if (shown.length < headerRowOf(shown) + 2) problem.value = "The file has no rows after the header.";
      else file.value = { name: chosen.name, tables };
    } catch {
      problem.value =
        "The file cannot be read. Save it as an Excel file (.xlsx), or as CSV with all quotes closed.";
    }
  };
  return (
    <Page
      title="Import contacts"
      lead="Choose an Excel or CSV file with column names above its rows."
      back={["#/contacts", "Contacts"]}
    >
      <Section title="File">
        <Labeled label="Spreadsheet" hint="An Excel file is read from its first visible sheet.">
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
          <button
            type="button"
            class="small"
            onClick={() => void saveTable("contacts-sample", sample, "xlsx")}
          >
            Download a sample
          </button>
        </div>
        {problem.value === undefined ? null : <Notice tone="bad">{problem.value}</Notice>}
      </Section>
      {file.value === undefined ? null : (
        <Mapping key={`${file.value.name} ${file.value.tables.shown.length}`} tables={file.value.tables} />
      )}
    </Page>
  );
}

const previewRows = 5;

/** The choice between the two forms of dates, by the first cell in which they differ; undefined if there is none. */
function dateOptions({ shown, iso }: Tables) {
  for (const [row, cells] of shown.entries()) {
    const column = cells.findIndex((cell, index) => cell !== iso[row]?.[index]);
    if (column >= 0)
      return [["shown", cells[column] ?? ""] as const, ["iso", iso[row]?.[column] ?? ""] as const];
  }
  return undefined;
}

/** The choice between the two numbers that digits could be. */
function readingsOf({ national, international }: TwoNumbers) {
  const readings = [
    ["national", "Without", national] as const,
    ["international", "With", international] as const,
  ];
  return readings.flatMap(([reading, word, number]) =>
    number === undefined ? [] : [[reading, `${word} a country code: ${formatNumber(number)}`] as const],
  );
}

function Mapping({ tables }: { tables: Tables }) {
  const { shown } = tables;
  const start = headerRowOf(shown);
  const header = shown[start] ?? [];
  const names = attributeNames(header);
  const columns = useSignal<readonly Target[]>(guessTargets(header, shown.slice(start + 1, start + 20)));
  const form = useForm({ tags: "", dates: "shown", reading: "" }, async () => {});
  const template = useSignal("");
  const dates = useMemo(() => dateOptions(tables), [tables]);
  const table = useComputed(() => (form.values.value.dates === "iso" ? tables.iso : shown));
  const question = useComputed(() => openQuestionOf(shown, columns.value, phoneCountry.value));
  const rows = useComputed(() => {
    const { tags, reading } = form.values.value;
    return withTags(rowsOf(table.value, columns.value, phoneCountry.value, reading), tagsOf(tags));
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
            "First value": ({ index }) => <Clamped>{table.value[start + 1]?.[index] ?? ""}</Clamped>,
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
                  .filter((each) => each !== "attribute" || names[index] !== "")
                  .map((each) => (
                    <option key={each} value={each}>
                      {each === "attribute" ? `Attribute {{${names[index]}}}` : targetLabels[each]}
                    </option>
                  ))}
              </select>
            ),
          }}
        />
        <CountryOfNumber
          label="Numbers without a country code are from"
          none="No country: all numbers have a code"
        />
        {question.value === undefined ? null : (
          <SelectField
            field={form.field("reading")}
            label={`Numbers such as ${question.value.cell}`}
            options={[["", "Choose what they are"], ...readingsOf(question.value)]}
          />
        )}
        {dates === undefined ? null : (
          <SelectField field={form.field("dates")} label="Write dates as" options={dates} />
        )}
        <TextField
          field={form.field("tags")}
          label="Tags for all contacts (optional)"
          hint="Separate tags with commas. You can send campaigns to contacts with a tag."
        />
      </Section>
      <Section title="Preview">
        <TemplatePicker onPick={(body) => (template.value = body)} />
        <Table
          caption="First rows as contacts"
          rows={rows.value.slice(0, previewRows)}
          keyOf={({ line }) => String(line)}
          columns={{
            Row: { number: ({ line }) => countText(line) },
            [template.value === "" ? "Contact" : "Message"]: ({ contact }) => (
              <Clamped>
                {template.value === "" ? describe(contact) : sentenceFor(contact, template.value)}
              </Clamped>
            ),
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
            <FailedRowsTable failed={wrong} />
          </details>
        )}
        {hasNumber ? (
          <Import
            rows={rows.value}
            tags={tagsOf(form.values.value.tags)}
            columns={clearedFields(header, columns.value)}
          />
        ) : null}
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

/** The message that a contact would get, or the names of the values that it has not. */
function sentenceFor({ attributes, ...fields }: ImportRow["contact"], template: string): string {
  const values = { ...fields, ...Object(attributes) };
  const rendered = renderTemplate(withFieldNames(template, Object.keys(values)), values);
  return "text" in rendered ? rendered.text : `✕ No value for ${rendered.missing.join(", ")}`;
}

function describe(contact: ImportRow["contact"]): string {
  const { attributes, ...fields } = contact;
  const own = Object.entries(Object(attributes)).map(([name, value]) => `${name}: ${String(value)}`);
  return [...Object.values(fields).map(String), ...own].filter(Boolean).join(" · ");
}
