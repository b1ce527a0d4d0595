import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

import { projectRoot } from "../../infra/build/project-root.ts";

const run = promisify(execFile);

const generator = {
  version: "7.24.0",
  sha256: "4b83ccc6fd43056c8c631cd0195e5100bd0550912502527bab09ac76152dab0c",
};
const programsFolder = path.join(projectRoot, ".build/openapi-generator");

/** Returns the program from Maven Central. @throws Error if its content is not what the project was tested with */
export async function generatorJar(): Promise<string> {
  const name = `openapi-generator-cli-${generator.version}.jar`;
  const jar = path.join(programsFolder, name);
  const isPresent = await readFile(jar).then(isExpected, () => false);
  if (isPresent) return jar;
  const artifact = `org.openapitools:openapi-generator-cli:${generator.version}`;
  const options = [`-Dartifact=${artifact}`, `-DoutputDirectory=${programsFolder}`];
  await run("mvn", ["--batch-mode", "--quiet", "dependency:copy", ...options]);
  if (!isExpected(await readFile(jar))) throw new Error(`${name} has another checksum`);
  return jar;
}

function isExpected(content: Buffer): boolean {
  return createHash("sha256").update(content).digest("hex") === generator.sha256;
}
