import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import path from "node:path";

import {
  CloudFormationClient,
  DeleteChangeSetCommand,
  paginateDescribeChangeSet,
  type ResourceChange,
} from "@aws-sdk/client-cloudformation";
import { projectRoot } from "@sms-gateway/build/project-root.ts";
import { CloudAssembly } from "aws-cdk-lib/cx-api";

import { deployArguments, weakTlsWarning } from "./deploy-arguments.ts";
import { failedCreation, removeFailedCreation, stateOf } from "./failed-creation.ts";
import { stopReason } from "./replacements.ts";

// `npm run deploy -- -c stage=NAME`: runs `cdk deploy`, with or without a terminal. It stops before it changes a living stack
// if the table, a key or a bucket would be lost. Only the stack's protection from deletion already follows the stage's file
// then, because the CDK sets it when it creates a change set.

/** Lets a new stack adopt resources that have the names of its own. */
const adoption = "--import-existing-resources";

const cdk = path.join(projectRoot, "node_modules/aws-cdk/bin/cdk");
let child: ChildProcess | undefined;
// The terminal sends Ctrl-C to both processes, and the CDK handles it.
process.on("SIGINT", () => child ?? process.exit(130));
process.on("SIGTERM", () => child?.kill("SIGTERM") ?? process.exit(143));

/** Runs the CDK. If it fails, this process ends too. */
async function runCdk(...args: readonly string[]): Promise<void> {
  child = spawn(process.execPath, [cdk, ...args], { cwd: projectRoot, stdio: "inherit" });
  const [code] = await once(child, "exit");
  child = undefined;
  if (code !== 0) process.exit(typeof code === "number" ? code : 1);
}

function report(text: string): void {
  process.stderr.write(`${text}\n`);
}

try {
  const steps = deployArguments(process.argv.slice(2), process.stdin.isTTY);
  // The SDK needs the account and the region of the CDK.
  const region = steps.region ?? (process.env["AWS_REGION"] || process.env["AWS_DEFAULT_REGION"]);
  if (region !== undefined) process.env["AWS_REGION"] = region;
  if (steps.profile !== undefined) process.env["AWS_PROFILE"] = steps.profile;
  await runCdk(...steps.synthesize);
  const { stacks } = new CloudAssembly(path.resolve(projectRoot, steps.assembly));
  for (const { entry } of stacks.flatMap(({ messages }) => messages))
    if (typeof entry.data === "string" && entry.data.includes(weakTlsWarning)) throw new Error(entry.data);
  const living = new Map<string, CloudFormationClient>();
  const missing: string[] = [];
  let adopting: readonly string[] = [];
  for (const { stackName, environment } of stacks) {
    const isAnywhere = environment.region === "unknown-region";
    const client = new CloudFormationClient(isAnywhere ? {} : { region: environment.region });
    const state = await stateOf(stackName, client);
    if (state !== undefined && failedCreation.test(state)) {
      await removeFailedCreation(stackName, client, report);
      // Its rollback may have left log groups, whose names are the same.
      if (!steps.deploy.includes(adoption)) adopting = [adoption];
    }
    if (state !== undefined && /^(CREATE|DELETE|ROLLBACK)_IN_PROGRESS$/.test(state))
      throw new Error(`The stack ${stackName} is in ${state}. Wait until that ends, then deploy again.`);
    // A stack in review has no resources yet.
    if (state === undefined || /^(REVIEW|ROLLBACK)_/.test(state)) missing.push(stackName);
    else living.set(stackName, client);
  }
  if (living.size > 0) {
    // The change set of a living stack may refer to a missing one.
    if (missing.length > 0) await runCdk(...steps.deploy, ...adopting, "--exclusively", ...missing);
    report("Preparing change sets, to check what the deployment would replace:");
    await runCdk(...steps.prepare, ...living.keys());
    const changes: ResourceChange[] = [];
    for (const [StackName, client] of living) {
      const changeSet = { StackName, ChangeSetName: steps.changeSet };
      for await (const { Changes = [] } of paginateDescribeChangeSet({ client }, changeSet)) {
        changes.push(...Changes.flatMap(({ ResourceChange = [] }) => ResourceChange));
      }
      await client.send(new DeleteChangeSetCommand(changeSet));
    }
    const reason = stopReason(changes, steps.allowed);
    if (reason !== undefined) throw new Error(reason);
  }
  // A living stack is deployed as its change set was checked.
  await runCdk(...steps.deploy, ...(living.size > 0 ? [] : adopting), ...missing, ...living.keys());
} catch (error) {
  report(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
