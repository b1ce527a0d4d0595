import { appendFile, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";

import { csvOf } from "../../shared/figures/exports/csv.ts";
import { RejectedError } from "../../shared/platform/rejected-error.ts";
import { errorText } from "./error-text.ts";
import { textsOf, type Columns } from "./output.ts";

/** Creates a folder that only the current user can read. @throws RejectedError if it exists */
export async function newFolder(folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    throw new RejectedError(`Cannot create the folder ${folder}: ${errorText(error)}`, { cause: error });
  });
}

/** Creates a CSV file with its headings. @returns a function that adds rows */
export async function newCsvFile<Row>(
  folder: string,
  name: string,
  columns: Columns<Row>,
): Promise<(rows: readonly Row[]) => Promise<void>> {
  const file = path.join(folder, name);
  await writeFile(file, csvOf([Object.keys(columns)]), { flag: "wx", mode: 0o600 });
  return async (rows) => appendFile(file, csvOf(rows.map((row) => textsOf(row, columns))));
}
