import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

import * as z from "zod/mini";

import { projectRoot } from "../../infra/build/project-root.ts";
import { mutations, type Mutation } from "./guards.ts";

/*
 * `npm run test:mutations`: breaks the guards of `guards.ts` one at a time, and runs the tests that have to notice. A mutation
 * that no test notices is a failure. `-- WORD` runs those with the word in their names.
 */

const output = path.join(projectRoot, ".build/mutation.json");
const word = process.argv.slice(2).find((each) => !each.startsWith("--")) ?? "";

/** Runs test files. @returns the numbers of tests that passed and failed; undefined if the run itself failed */
function run(
  tests: readonly string[],
  name = "",
): { readonly passed: number; readonly failed: number } | undefined {
  rmSync(output, { force: true });
  const vitest = path.join(projectRoot, "node_modules/vitest/vitest.mjs");
  const files = tests.map((each) => `test/domain/${each}.test.ts`);
  const options = [
    "--project=domain",
    "--bail=1",
    "--fsModuleCache=false",
    "--reporter=json",
    `--outputFile.json=${output}`,
  ];
  const env = { ...process.env, MUTATION: name };
  spawnSync(process.execPath, [vitest, "run", ...options, ...files], { cwd: projectRoot, env });
  try {
    const Result = z.object({ numPassedTests: z.int(), numFailedTests: z.int() });
    const result = Result.parse(JSON.parse(readFileSync(output, "utf8")));
    return { passed: result.numPassedTests, failed: result.numFailedTests };
  } catch {
    return undefined;
  }
}

/** Returns why a mutation is a failure; undefined if the tests notice it. */
function problemOf({ name, tests }: Mutation): string | undefined {
  const result = run(tests, name);
  if (result === undefined) return "the tests did not run";
  return result.failed > 0 ? undefined : `${result.passed} tests of ${tests.join(", ")} do not notice it`;
}

const chosen = mutations.filter(({ name }) => name.includes(word));
const problems = new Map<string, string | undefined>();
const whole = run([...new Set(chosen.flatMap(({ tests }) => tests))]);
const isSound = whole !== undefined && whole.failed === 0 && whole.passed > 0;
problems.set("the tests pass without a mutation", isSound ? undefined : JSON.stringify(whole ?? null));
for (const mutation of chosen) problems.set(mutation.name, problemOf(mutation));
for (const [name, problem] of problems) process.stdout.write(`${problem ?? "as expected"}: ${name}\n`);

const report = process.argv.find((each) => each.startsWith("--outputFile.junit="))?.split("=")[1];
if (report !== undefined) {
  const escaped = (text: string): string =>
    text.replaceAll(/[&<>"]/g, (character) => `&#${character.codePointAt(0)};`);
  // `.ci/run` counts a test without a time as not run.
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
