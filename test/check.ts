import { spawn } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";

import { projectRoot } from "../infra/build/project-root.ts";

// `npm run check`: runs the checking scripts of package.json in parallel, one for each core. It prints the output of each
// when it ends. The tests of the conventions write a report, as all tests do. The type checker and the linter have one thread
// each, because more threads would check the same types again.

/** The slowest first, so that none runs alone at the end. */
const scripts = [
  "lint:templates",
  "check:lint",
  "check:types",
  "test:conventions",
  "check:unused",
  "lint:openapi",
  "check:format",
  "lint:pages",
];

const report = "--outputFile.junit=.build/reports/test-conventions.xml";

/** Runs a script, prints what it wrote and how long it took. @returns whether it found nothing */
async function runScript(script: string): Promise<boolean> {
  const startedAt = performance.now();
  const options =
    script === "test:conventions" ? ["--", "--reporter=default", "--reporter=junit", report] : [];
  const child = spawn(process.execPath, ["--run", script, ...options], {
    cwd: projectRoot,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const written: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => written.push(chunk));
  }
  const [code]: (number | null)[] = await once(child, "close");
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
  process.stdout.write(`${Buffer.concat(written).toString()}${seconds} s: npm run ${script}\n`);
  return code === 0;
}

const waiting = [...scripts];
const failed: string[] = [];
async function runWaitingScripts(): Promise<void> {
  for (let script = waiting.shift(); script !== undefined; script = waiting.shift()) {
    if (!(await runScript(script))) failed.push(script);
  }
}
await Promise.all(Array.from({ length: availableParallelism() }, runWaitingScripts));
for (const script of failed) process.stdout.write(`Failed: npm run ${script}\n`);
if (failed.length > 0) process.exitCode = 1;
