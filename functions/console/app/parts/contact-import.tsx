import { useSignal } from "@preact/signals";

import { api } from "../api.ts";
import { batchesOf, failedRowsOf, type ImportRow, type FailedRow } from "../contact-import.ts";
import { saveCsv } from "../save-file.ts";
import { useAction } from "./dialog.tsx";
import { countText } from "./money.tsx";
import { announce, Notice, Problem } from "./notice.tsx";
import { LinkButton } from "./page.tsx";
import { Table } from "./table.tsx";

export function failedRowOf({ line, contact, problem = "" }: ImportRow): FailedRow {
  return { line, phoneNumber: String(contact["phoneNumber"]), reason: problem };
}

interface Progress {
  /** All rows that were processed. */
  readonly done: number;
  readonly created: number;
  readonly failed: readonly FailedRow[];
}

const nothingDone: Progress = { done: 0, created: 0, failed: [] };

/** Imports batch by batch. After a failed batch, the import can be resumed with that batch. */
export function Import({ rows }: { rows: readonly ImportRow[] }) {
  const progress = useSignal<Progress>(nothingDone);
  const isStopping = useSignal(false);
  const valid = rows.filter(({ problem }) => problem === undefined);
  const { run, isBusy, error } = useAction(async () => {
    isStopping.value = false;
    if (progress.value.done >= valid.length) {
      progress.value = {
        ...nothingDone,
        failed: rows.filter(({ problem }) => problem !== undefined).map(failedRowOf),
      };
    }
    for (const batch of batchesOf(valid.slice(progress.value.done))) {
      const { results, totals } = await api().importContacts({
        body: { contacts: batch.map(({ contact }) => contact) },
      });
      const { done, created, failed } = progress.value;
      progress.value = {
        done: done + batch.length,
        created: created + totals.created,
        failed: [...failed, ...failedRowsOf(batch, results)],
      };
      if (isStopping.value) return;
    }
    announce(`${countText(progress.value.created, "contact")} imported.`);
  });
  const { done, created, failed } = progress.value;
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
            {countText(failed.length)} not imported.
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
            <LinkButton href="#/contacts" label="View contacts" />
            <LinkButton href="#/campaigns/new" label="New campaign" />
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
              const lines = failed.map(({ line, phoneNumber, reason }) => [
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

const maxFailedShown = 100;

export function FailedRowsTable({ failed }: { failed: readonly FailedRow[] }) {
  return (
    <>
      <Table
        caption="Rows not imported"
        rows={failed.slice(0, maxFailedShown)}
        keyOf={({ line }) => String(line)}
        columns={{
          Row: { number: ({ line }) => countText(line) },
          "Phone number": ({ phoneNumber }) => <span class="clamp">{phoneNumber}</span>,
          Reason: ({ reason }) => reason,
        }}
      />
      {failed.length > maxFailedShown ? (
        <p class="muted">And {countText(failed.length - maxFailedShown)} more.</p>
      ) : null}
    </>
  );
}
