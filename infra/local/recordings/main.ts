import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";

import { projectRoot } from "@sms-gateway/build/project-root.ts";
import { linesOf } from "@sms-gateway/stack/access.ts";

import { openApiDocument } from "../../../shared/api/openapi/openapi.ts";
import { pageTables, tablePattern } from "./page-tables.ts";
import { addPermissions, comparePermissions, recordAccess } from "./recorded-permissions.ts";

// `npm run openapi` writes the OpenAPI document to `.build/openapi.json`. `--update` instead brings up to date what is checked
// in: the recorded examples, the permissions that their recording uses, and the tables of pages.

const { values: flags } = parseArgs({ options: { update: { type: "boolean", default: false } } });

if (flags.update) {
  const used = await recordAccess(async () => {
    const { recordExamples } = await import("./examples.ts");
    await writeJson("shared/api/contract/examples.json", await recordExamples());
  });
  const { missing } = comparePermissions(used);
  await addPermissions(missing);
  for (const line of linesOf(missing)) process.stdout.write(`infra/stack/permissions.txt: ${line}\n`);
  for (const { page, name, table } of pageTables) await replaceTable(page, name, table);
  process.stdout.write("Recorded. Now run `npm run format`.\n");
} else {
  const file = ".build/openapi.json";
  await mkdir(path.join(projectRoot, path.dirname(file)), { recursive: true });
  await writeJson(file, openApiDocument());
  process.stdout.write(`${file}\n`);
}

async function writeJson(file: string, content: unknown): Promise<void> {
  await writeFile(path.join(projectRoot, file), `${JSON.stringify(content, null, 2)}\n`);
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
