import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";

import { everyRow } from "../../../../shared/api/client/client.ts";
import type { Contact, ImportedContacts } from "../../../../shared/api/contract/contacts.ts";
import { api } from "../api.ts";
import { batchesOf, failedRowsOf, type ImportRow } from "../import-rows.ts";
import { linkTo } from "../router.ts";
import { saveTable } from "../save-file.ts";
import { untag } from "../untag.ts";
import { useAction } from "./dialog.tsx";
import { Labeled } from "./field.tsx";
import { fieldOf } from "./form-state.ts";
import { CheckField } from "./form.tsx";
import { countText } from "./money.tsx";
import { announce, Notice, Problem } from "./notice.tsx";
import { LinkButton } from "./page.tsx";
import { Table } from "./table.tsx";

interface Progress {
  /** All rows that were processed. */
  readonly done: number;
  readonly created: number;
  readonly updated: number;
  readonly failed: readonly ImportRow[];
}

const nothingDone: Progress = { done: 0, created: 0, updated: 0, failed: [] };

type OnDuplicate = "skip" | "update";
type Totals = ImportedContacts["totals"];

/** The effect of an import on contacts that exist: the fields in `columns` change, also to nothing. */
interface Plan {
  readonly onDuplicate: OnDuplicate;
  readonly columns: readonly string[];
}

async function importBatch(batch: readonly ImportRow[], { onDuplicate, columns }: Plan, dryRun: boolean) {
  const contacts = batch.map(({ contact }) => contact);
  return api().importContacts({ body: { contacts, onDuplicate, columns: [...columns], dryRun } });
}

/** Takes a tag from all contacts that the rows do not have. @returns their number */
async function untagOthers(tag: string, rows: readonly ImportRow[]): Promise<number> {
  const numbers = new Set(rows.map(({ contact }) => contact["phoneNumber"]));
  const others: Contact[] = [];
  const tagged = everyRow(async (next) => api().listContacts({ query: { tag, limit: 100, ...next } }));
  for await (const contact of tagged) if (!numbers.has(contact.phoneNumber)) others.push(contact);
  for (const contact of others) await untag(contact, tag);
  return others.length;
}

/** The totals that an import would have. They are undefined until they are known, and "unknown" after an error. */
function useForecast(rows: readonly ImportRow[], plan: Plan): Totals | "unknown" | undefined {
  const forecast = useSignal<Totals | "unknown" | undefined>(undefined);
  useEffect(() => {
    let isOutdated = false;
    const predict = async (): Promise<void> => {
      const sum = { created: 0, updated: 0, duplicates: 0, invalid: 0 };
      for (const batch of batchesOf(rows)) {
        const { totals } = await importBatch(batch, plan, true);
        if (isOutdated) return;
        for (const name of ["created", "updated", "duplicates", "invalid"] as const)
          sum[name] += totals[name] ?? 0;
      }
      forecast.value = sum;
    };
    forecast.value = undefined;
    // The import is still possible, and shows what is wrong.
    const fail = (): void => {
      if (!isOutdated) forecast.value = "unknown";
    };
    const timer = setTimeout(() => void predict().catch(fail), forecastDelayMs);
    return () => {
      isOutdated = true;
      clearTimeout(timer);
    };
  }, [rows, plan.onDuplicate, plan.columns.join(" ")]);
  return forecast.value;
}

/** The delay after a change, because others often follow it. */
const forecastDelayMs = 300;

function Forecast({ totals }: { totals: ReturnType<typeof useForecast> }) {
  if (totals === "unknown") return null;
  if (totals === undefined) return <p class="muted">Comparing with your contacts…</p>;
  const { created, updated = 0, duplicates, invalid } = totals;
  return (
    <p>
      <strong>{countText(created)}</strong> new, <strong>{countText(updated)}</strong> updated,{" "}
      <strong>{countText(duplicates)}</strong> left as they are
      {invalid === 0 ? null : (
        <>
          , <strong>{countText(invalid)}</strong> not possible
        </>
      )}
      .
    </p>
  );
}

/**
 * Imports batch by batch. After a failed batch, the import can be resumed with that batch.
 * @param columns the fields that an update clears where a row has no value
 * @param tags the tags of all rows. A campaign goes to contacts with any of its tags, so it is offered a single one only
 */
export function Import({
  rows,
  tags,
  columns,
}: {
  rows: readonly ImportRow[];
  tags: readonly string[];
  columns: readonly string[];
}) {
  const progress = useSignal<Progress>(nothingDone);
  const isStopping = useSignal(false);
  const onDuplicate = useSignal<OnDuplicate>("update");
  const valid = useMemo(() => rows.filter(({ problem }) => problem === undefined), [rows]);
  useEffect(() => {
    progress.value = nothingDone;
  }, [rows, onDuplicate.value]);
  const plan = { onDuplicate: onDuplicate.value, columns };
  const totals = useForecast(valid, plan);
  const isList = useSignal(false);
  const untagged = useSignal<string | undefined>(undefined);
  const { run, isBusy, error } = useAction(async () => {
    isStopping.value = false;
    untagged.value = undefined;
    if (progress.value.done >= valid.length) {
      progress.value = {
        ...nothingDone,
        failed: rows.filter(({ problem }) => problem !== undefined),
      };
    }
    for (const batch of batchesOf(valid.slice(progress.value.done))) {
      const { results, totals: its } = await importBatch(batch, plan, false);
      const { done, created, updated, failed } = progress.value;
      progress.value = {
        done: done + batch.length,
        created: created + its.created,
        updated: updated + (its.updated ?? 0),
        failed: [...failed, ...failedRowsOf(batch, results)],
      };
      if (isStopping.value) return;
    }
    const areAllDone = valid.length === rows.length && progress.value.failed.length === 0;
    if (isList.value && !areAllDone) {
      untagged.value =
        "Some rows were not imported, so no one lost the tag. Correct these rows, and import the file again.";
    } else if (isList.value) {
      for (const tag of tags) {
        const count = countText(await untagOthers(tag, valid), "contact");
        untagged.value = `${untagged.value ?? ""} ${count} lost the tag ${tag}.`.trim();
      }
    }
    announce(`${countText(progress.value.created + progress.value.updated, "contact")} imported.`);
  });
  const { done, created, updated, failed } = progress.value;
  const isDone = done > 0 && done >= valid.length;
  return (
    <>
      <Labeled
        label="Contacts that exist already"
        hint="Each column replaces what a contact has. An empty cell removes it. Tags are added. People who opted out stay opted out."
      >
        {(attributes) => (
          <select
            {...attributes}
            disabled={isBusy}
            value={onDuplicate.value}
            onChange={(event) => {
              onDuplicate.value = event.currentTarget.value === "skip" ? "skip" : "update";
            }}
          >
            <option value="update">Update them</option>
            <option value="skip">Leave them as they are</option>
          </select>
        )}
      </Labeled>
      {tags.length === 0 ? null : (
        <CheckField
          field={fieldOf("isList", isList)}
          label={`Remove ${tags.length === 1 ? "the tag" : "the tags"} ${tags.join(", ")} from people who are not in this file`}
        />
      )}
      {done > 0 || isBusy ? null : <Forecast totals={totals} />}
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
            {countText(done)} of {countText(valid.length, "row")} processed: {countText(created)} new,{" "}
            {countText(updated)} updated, {countText(failed.length)} not imported.
          </p>
        </div>
      ) : null}
      {error === undefined ? null : <Problem error={error} />}
      {untagged.value === undefined ? null : <Notice tone="info">{untagged.value}</Notice>}
      {isDone && !isBusy ? (
        <Notice tone={created + updated > 0 ? "good" : "bad"}>
          <p>
            <strong>{countText(created + updated, "contact")} imported.</strong>
          </p>
          <div class="row">
            <LinkButton href="#/contacts" label="View contacts" />
            <LinkButton
              href={linkTo("campaigns/new", { tag: tags.length === 1 ? tags[0] : undefined })}
              label="New campaign"
            />
          </div>
        </Notice>
      ) : null}
      {failed.length === 0 || isBusy ? null : (
        <details open={isDone}>
          <summary>{countText(failed.length, "row")} not imported</summary>
          <FailedRowsTable failed={failed} />
          <button
            type="button"
            class="small"
            onClick={() => {
              const lines = failed.map(({ line, contact, problem }) =>
                [line, contact["phoneNumber"], problem].map(String),
              );
              void saveTable("not-imported", [["row", "phoneNumber", "reason"], ...lines], "xlsx");
            }}
          >
            Download as Excel
          </button>
        </details>
      )}
    </>
  );
}

const maxFailedShown = 100;

export function FailedRowsTable({ failed }: { failed: readonly ImportRow[] }) {
  return (
    <>
      <Table
        caption="Rows not imported"
        rows={failed.slice(0, maxFailedShown)}
        keyOf={({ line }) => String(line)}
        columns={{
          Row: { number: ({ line }) => countText(line) },
          "Phone number": ({ contact }) => <span class="clamp">{String(contact["phoneNumber"])}</span>,
          Reason: ({ problem }) => problem,
        }}
      />
      {failed.length > maxFailedShown ? (
        <p class="muted">And {countText(failed.length - maxFailedShown)} more.</p>
      ) : null}
    </>
  );
}
