import { csvOf } from "../../../shared/figures/exports/csv.ts";

/** Lets the browser save rows as a CSV file. */
export function saveCsv(name: string, rows: readonly (readonly string[])[]): void {
  saveFile(name, new Blob(["\uFEFF", csvOf(rows)], { type: "text/csv;charset=utf-8" }));
}

/** Lets the browser save a file. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
