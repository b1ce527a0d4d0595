import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";

import * as z from "zod/mini";

import { projectRoot } from "../../infra/project-root.ts";
import { mutations, type Mutation } from "./guards.ts";

/*
 * `npm run test:mutations`: breaks the guards of `guards.ts` one at a time in a copy of the project, and runs the tests that
 * have to notice. A mutation that no test notices is a failure. `-- WORD` runs those with the word in their names.
 */

const copy = path.join(projectRoot, ".build/mutations");
const word = process.argv.slice(2).find((each) => !each.startsWith("--")) ?? "";

rmSync(copy, { recursive: true, force: true });
mkdirSync(path.join(copy, ".build"), { recursive: true });
for (const part of [
  "functions",
  "infra",
  "shared",
  "test",
  "package.json",
  "tsconfig.json",
  "vitest.config.ts",
])
  cpSync(path.join(projectRoot, part), path.join(copy, part), { recursive: true, verbatimSymlinks: true });
symlinkSync(path.join(projectRoot, "node_modules"), path.join(copy, "node_modules"));

/** Runs test files. @returns the numbers of tests that passed and failed; undefined if the run itself failed */
function run(tests: readonly string[]): { readonly passed: number; readonly failed: number } | undefined {
  const output = path.join(copy, "result.json");
  rmSync(output, { force: true });
  const vitest = path.join(copy, "node_modules/vitest/vitest.mjs");
  const files = tests.map((name) => `test/domain/${name}.test.ts`);
  const options = ["--project=domain", "--bail=1", "--reporter=json", `--outputFile.json=${output}`];
  spawnSync(process.execPath, [vitest, "run", ...options, ...files], { cwd: copy, timeout: 300_000 });
  try {
    const Result = z.object({ numPassedTests: z.int(), numFailedTests: z.int() });
    const { numPassedTests, numFailedTests } = Result.parse(JSON.parse(readFileSync(output, "utf8")));
    return { passed: numPassedTests, failed: numFailedTests };
  } catch {
    return undefined;
  }
}

/** Returns why a mutation is a failure; undefined if the tests notice it. */
function problemOf({ file, from, to, tests }: Mutation): string | undefined {
  const target = path.join(copy, file);
  const source = readFileSync(target, "utf8");
  if (source.split(from).length !== 2) return `"${from}" does not occur once in ${file}.`;
  writeFileSync(
    target,
    source.replace(from, () => to),
  );
  const result = run(tests);
  writeFileSync(target, source);
  if (result === undefined) return "The tests did not run.";
  return result.failed > 0 ? undefined : `${result.passed} tests of ${tests.join(", ")} do not notice it.`;
}

const chosen = mutations.filter(({ name }) => name.includes(word));
const problems = new Map<string, string | undefined>();
const whole = run([...new Set(chosen.flatMap(({ tests }) => tests))]);
const isSound = whole !== undefined && whole.failed === 0 && whole.passed > 0;
problems.set("the tests pass without a mutation", isSound ? undefined : JSON.stringify(whole));
for (const mutation of chosen) {
  const problem = problemOf(mutation);
  problems.set(mutation.name, problem);
  process.stdout.write(`${problem === undefined ? "noticed" : `SURVIVES (${problem})`}: ${mutation.name}\n`);
}
rmSync(copy, { recursive: true, force: true });

const report = process.argv.find((each) => each.startsWith("--outputFile.junit="))?.split("=")[1];
if (report !== undefined) {
  const escaped = (text: string): string =>
    text.replaceAll(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
  const cases = [...problems].map(
    ([name, problem]) =>
      `<testcase classname="mutations" name="${escaped(name)}" time="1">` +
      (problem === undefined ? "" : `<failure message="${escaped(problem)}"/>`) +
      "</testcase>",
  );
  mkdirSync(path.dirname(report), { recursive: true });
  writeFileSync(report, `<testsuites><testsuite name="mutations">${cases.join("")}</testsuite></testsuites>`);
}
process.exitCode = [...problems.values()].every((each) => each === undefined) ? 0 : 1;
