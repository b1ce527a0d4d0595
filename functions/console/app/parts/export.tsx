import { useSignal } from "@preact/signals";

import { ActionScope } from "../rights.ts";
import { saveCsv } from "../save-file.ts";
import { ActionButton } from "./dialog.tsx";
import type { Pages } from "./load.tsx";
import { countText } from "./money.tsx";
import { announce } from "./notice.tsx";

/** A button that exports all rows of a list as CSV, also those that are not loaded yet, and shows its progress. */
export function Export<Row extends object>({
  file,
  pages,
  fields,
  more = () => ({}),
}: {
  file: string;
  pages: Pages<Row>;
  /** The fields that are columns of their own. */
  fields: readonly (keyof Row & string)[];
  /** Returns more columns for all rows. */
  more?: (rows: readonly Row[]) => Readonly<Record<string, (row: Row) => number | string | undefined>>;
}) {
  const count = useSignal(0);
  const exportAll = async (): Promise<void> => {
    count.value = 0;
    const rows: Row[] = [];
    for await (const row of pages.everyRow()) {
      rows.push(row);
      count.value = rows.length;
    }
    const others = Object.entries(more(rows));
    const titles = [...fields, ...others.map(([title]) => title)];
    const lines = rows.map((row) =>
      [...fields.map((field) => row[field]), ...others.map(([, valueOf]) => valueOf(row))].map((value) =>
        String(value ?? ""),
      ),
    );
    saveCsv(file, [titles, ...lines]);
    announce(`${countText(rows.length, "row")} saved as ${file}.`);
  };
  const busyLabel = `${countText(count.value, "row")} exported…`;
  return (
    <ActionScope.Provider value="read">
      <ActionButton label="Export CSV" busyLabel={busyLabel} act={exportAll} />
    </ActionScope.Provider>
  );
}
