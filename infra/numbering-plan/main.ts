import { writeFile } from "node:fs/promises";
import path from "node:path";

import { projectRoot } from "../project-root.ts";
import { compileNumberingPlan } from "./compile.ts";

// `npm run numbering-plan` compiles the tables of phone numbers anew, after an update of libphonenumber-js.

const { lengths, plan } = compileNumberingPlan();
for (const [file, table] of [
  ["shared/contract/number-lengths.json", lengths],
  ["shared/messages/numbering-plan.json", plan],
] as const) {
  await writeFile(path.join(projectRoot, file), `${JSON.stringify(table, null, 2)}\n`);
}
process.stdout.write("Compiled. Now run `npm run format`.\n");
