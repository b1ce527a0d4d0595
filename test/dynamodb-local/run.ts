import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import path from "node:path";

import { projectRoot } from "../../infra/build/project-root.ts";
import { freePort, waitForPort } from "../support/ports.ts";
import { endpointTestsOf } from "../support/second-opinions.ts";
import { compareWith } from "./compare.ts";

// `npm run test:dynamodb-local` compares the responses of AWS's own DynamoDB Local with those of the local store. Then it
// runs endpoint tests on it: those that `second-opinions.ts` names, or all with `NIGHTLY=1`. It needs Java 17 or newer, and
// Maven for the download. The arguments after `--` are vitest's. `COMPARE_SEED` repeats the same requests, and
// `COMPARE_RUNS` sets their number.

const startTimeoutMs = 60_000;
const libraries = path.join(projectRoot, ".build/dynamodb-local");

/** Runs a program with our output. @returns its exit code */
async function run(program: string, args: readonly string[], env = process.env): Promise<number> {
  const [code]: (number | null)[] = await once(start(program, args, env), "exit");
  return code ?? 1;
}

function start(program: string, args: readonly string[], env = process.env): ChildProcess {
  return spawn(program, args, { cwd: projectRoot, env, stdio: "inherit" });
}

const pom = path.join(projectRoot, "test/dynamodb-local/pom.xml");
const copying = ["--batch-mode", "--quiet", "--file", pom, "dependency:copy-dependencies"];
const copied = await run("mvn", [...copying, `-DoutputDirectory=${libraries}`]).catch(() => "no program");
if (copied !== 0) throw new Error(`Maven (mvn) could not get DynamoDB Local: ${copied}`);

const port = await freePort();
const dynamodb = start("java", [
  "-classpath",
  path.join(libraries, "*"),
  "software.amazon.dynamodb.services.local.main.ServerRunner",
  "-disableTelemetry",
  "-inMemory",
  // Without -sharedDb it keeps a database for each access key, which is its default.
  "-port",
  String(port),
]);
try {
  await waitForPort(port, startTimeoutMs);
  await compareWith(`http://127.0.0.1:${port}`);
  const vitest = path.join(projectRoot, "node_modules/vitest/vitest.mjs");
  const tests = ["run", "--project=gateway", ...endpointTestsOf("dynamodbLocal"), ...process.argv.slice(2)];
  process.exitCode = await run(process.execPath, [vitest, ...tests], {
    ...process.env,
    DYNAMODB_ENDPOINT: `http://127.0.0.1:${port}`,
  });
} finally {
  dynamodb.kill();
}
