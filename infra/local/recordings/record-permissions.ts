import { spawn } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";

import { projectRoot } from "@sms-gateway/build/project-root.ts";
import { linesOf } from "@sms-gateway/stack/access.ts";

import { addPermissions, comparePermissions, recordAccess } from "./recorded-permissions.ts";

// `npm run permissions` runs tests on a gateway that records the access of its functions, and compares it with
// `permissions.txt`. `--update` writes what these tests use to the recorded part. It removes nothing there, because a run
// does not meet each race. The report names what is unused.

const { values: flags } = parseArgs({ options: { update: { type: "boolean", default: false } } });

const { unrecorded, unused } = comparePermissions(await recordAccess(runTests));
report("The tests use, and the recorded part has not", unrecorded);
report("The recorded part has, and the tests did not use", unused);
if (flags.update) await addPermissions(unrecorded);
else if (unrecorded.size > 0) process.exitCode = 1;

/** Runs the tests that need a gateway. */
async function runTests(): Promise<void> {
  const projects = ["--project=gateway", "--project=faults"];
  const vitest = spawn("npx", ["vitest", "run", ...projects], { cwd: projectRoot, stdio: "inherit" });
  const [code] = await once(vitest, "exit");
  if (code !== 0) throw new Error("tests failed, so that the records are incomplete");
}

function report(title: string, entries: ReadonlySet<string>): void {
  const lines = linesOf(entries).map((line) => `  ${line}\n`);
  if (lines.length > 0) process.stdout.write(`${title}:\n${lines.join("")}`);
}
