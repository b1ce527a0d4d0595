import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";

import { openApiDocument } from "../../shared/api/openapi/openapi.ts";
import { projectRoot } from "../project-root.ts";
import { recordExamples } from "./examples.ts";
import { pageTables, tablePattern } from "./page-tables.ts";

// `npm run openapi` writes the OpenAPI document to `.build/openapi.json`. With `--update` it first brings what
// is checked in up to date: the recorded examples, and the tables of pages.

const { values: flags } = parseArgs({ options: { update: { type: "boolean", default: false } } });

if (flags.update) {
  const examples = await recordExamples();
  for (const { page, name, table } of pageTables) await replaceTable(page, name, table);
  await writeFile(
    path.join(projectRoot, "shared/api/contract/examples.json"),
    `${JSON.stringify(examples, null, 2)}\n`,
  );
  process.stdout.write("Recorded. Now run `npm run format`.\n");
} else {
  const file = path.join(projectRoot, ".build/openapi.json");
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(openApiDocument(), null, 2)}\n`);
  process.stdout.write(`${path.relative(projectRoot, file)}\n`);
}

async function replaceTable(page: string, name: string, table: string): Promise<void> {
  const file = path.join(projectRoot, page);
  const content = await readFile(file, "utf8");
  const pattern = tablePattern(name);
  if (!pattern.test(content)) throw new Error(`${page} has no place for the table ${name}`);
  await writeFile(
    file,
    content.replace(pattern, () => table),
  );
}
