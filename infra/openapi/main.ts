import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";

import { errorTable, failureTable } from "../../shared/api/openapi/introduction.ts";
import { openApiDocument } from "../../shared/api/openapi/openapi.ts";
import { projectRoot } from "../project-root.ts";
import { recordExamples } from "./examples.ts";

// `npm run openapi` writes the OpenAPI document to `.build/openapi.json`. With `--update` it first brings what
// is checked in up to date: the recorded examples, and the tables of errors in the README.

const { values: flags } = parseArgs({ options: { update: { type: "boolean", default: false } } });

if (flags.update) {
  const examples = await recordExamples();
  await replaceInFile("README.md", /(?<=<!-- errors -->\n\n).*?(?=\n\n<!-- \/errors -->)/s, errorTable());
  await replaceInFile(
    "README.md",
    /(?<=<!-- failures -->\n\n).*?(?=\n\n<!-- \/failures -->)/s,
    failureTable(),
  );
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

async function replaceInFile(name: string, pattern: RegExp, replacement: string): Promise<void> {
  const file = path.join(projectRoot, name);
  const content = await readFile(file, "utf8");
  if (!pattern.test(content)) throw new Error(`${name} has no place for it`);
  await writeFile(
    file,
    content.replace(pattern, () => replacement),
  );
}
