import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";

import { projectRoot } from "../../infra/build/project-root.ts";
import { pythonPrograms } from "../../infra/build/python-programs.ts";
import { startLocalGateway } from "../../infra/local/gateway.ts";
import { synthesizeLocalStack } from "../../infra/local/synthesize.ts";
import { createClient } from "../../shared/api/client/client.ts";
import { changedAssembly } from "../support/changed-assembly.ts";

// `npm run test:fuzz`: Schemathesis, a Python program, calls the local gateway with requests from the OpenAPI document,
// and compares the responses with the document. `-- --seed N` repeats a run. `NIGHTLY=1` sends four times as many, and all
// boundary values of each field.

const { values: flags } = parseArgs({
  options: { seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 32)) } },
});

const folder = path.join(projectRoot, ".build/fuzz");
const configuration = path.join(projectRoot, "test/fuzz/schemathesis.toml");
const report = path.join(projectRoot, ".build/reports/fuzz.xml");

/** Runs a program with our output. @returns its exit code */
async function run(program: string, ...args: string[]): Promise<number> {
  const env = { ...process.env, PYTHONPATH: path.join(projectRoot, "test/fuzz") };
  const child = spawn(program, args, { cwd: folder, env, stdio: "inherit" });
  const [code]: (number | null)[] = await once(child, "exit");
  return code ?? 1;
}

await mkdir(folder, { recursive: true });
await mkdir(path.dirname(report), { recursive: true });
const programs = await pythonPrograms("test/fuzz/requirements.txt");

// No worker dispatches webhooks, because some of the random endpoints might exist.
const assembly = await changedAssembly(await synthesizeLocalStack(), (resource) => {
  const { FunctionName } = resource.Properties;
  const isDispatcher = JSON.stringify(FunctionName ?? "").includes("DispatchWebhook");
  if (resource.Type === "AWS::Lambda::EventSourceMapping" && isDispatcher) resource.Type = "left out";
});
const gateway = await startLocalGateway({
  ...assembly,
  port: 0,
  log: (line) => {
    if (line.includes('"level":"error"')) process.stdout.write(`${line}\n`);
  },
});
try {
  const account = { email: "fuzz@example.com", password: "correct horse" };
  const { token } = await createClient({ baseUrl: gateway.url }).register({ body: account });
  // The run would revoke an API key.
  const client = createClient({ baseUrl: gateway.url, credential: token });
  await client.topUpWallet({ body: { amount: 1_000 } });
  // The test of a webhook waits for the endpoint, for at most twelve seconds.
  const isNightly = process.env["NIGHTLY"] !== undefined;
  const options = [
    "--request-timeout",
    "20",
    "--header",
    `Authorization: Bearer ${token}`,
    "--seed",
    flags.seed,
    "--max-examples",
    isNightly ? "20" : "5",
    "--phases",
    isNightly ? "examples,coverage,fuzzing,stateful" : "examples,fuzzing,stateful",
  ];
  const reportOptions = ["--report", "junit", "--report-junit-path", report];
  process.exitCode = await run(
    path.join(programs, "schemathesis"),
    "--config-file",
    configuration,
    "run",
    `${gateway.url}/openapi.json`,
    ...options,
    ...reportOptions,
  );
  process.stdout.write(`The seed was ${flags.seed}.\n`);
} finally {
  await gateway.stop();
  await rm(assembly.assemblyFolder, { recursive: true });
}
