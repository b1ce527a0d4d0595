import type { TestProject } from "vitest/node";

import { synthesizeLocalStack } from "../../infra/local/synthesize.ts";
import { readStack } from "../../infra/local/template.ts";

/** Provides the definition of the table. Each worker starts a store of its own: see `domain-environment.ts`. */
export async function setup(project: TestProject): Promise<void> {
  const { assemblyFolder, stackName } = await synthesizeLocalStack();
  const nowhere = "http://127.0.0.1";
  const { table } = await readStack(assemblyFolder, stackName, { aws: nowhere, api: nowhere });
  project.provide("table", table);
}
