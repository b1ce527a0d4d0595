import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

import {
  CloudFormationClient,
  DescribeStacksCommand,
  ListChangeSetsCommand,
  UpdateTerminationProtectionCommand,
} from "@aws-sdk/client-cloudformation";
import {
  LambdaClient,
  paginateListEventSourceMappings,
  UpdateEventSourceMappingCommand,
} from "@aws-sdk/client-lambda";
import { expect } from "vitest";

import { destroy } from "./stage-commands.ts";
import { assemblyOf, mustRunCdk } from "./stages.ts";

/** Returns the state of the stack of a stage, with the change sets that could be executed. */
export async function stackOf(stage: string): Promise<object> {
  const StackName = `sms-gateway-${stage}`;
  const cloudFormation = new CloudFormationClient();
  const { Stacks } = await cloudFormation.send(new DescribeStacksCommand({ StackName }));
  const { Summaries } = await cloudFormation.send(new ListChangeSetsCommand({ StackName }));
  return { Stacks, changeSets: Summaries?.filter(({ ExecutionStatus }) => ExecutionStatus === "AVAILABLE") };
}

/** Destroys the stack of a stage that is protected from that. The table and the keys of a stage that keeps its data stay. */
export async function destroyStack(stage: string): Promise<void> {
  const StackName = `sms-gateway-${stage}`;
  const cloudFormation = new CloudFormationClient();
  await cloudFormation.send(
    new UpdateTerminationProtectionCommand({ StackName, EnableTerminationProtection: false }),
  );
  await mustRunCdk([...destroy, assemblyOf(stage)]);
  await expect(cloudFormation.send(new DescribeStacksCommand({ StackName }))).rejects.toThrow(
    "does not exist",
  );
}

/** Changes the file of a stage. */
export async function changeStage(stage: string, changed: object): Promise<void> {
  const file = path.join(process.env["STAGES_FOLDER"] ?? "", `${stage}.json`);
  const settings: object = JSON.parse(await readFile(file, "utf8"));
  await writeFile(file, JSON.stringify({ ...settings, ...changed }));
}

/** Stops or continues sending: the first and the last but one step of a restore in the runbook. */
export async function letSend(stage: string, Enabled: boolean): Promise<void> {
  const lambda = new LambdaClient();
  const senders = new RegExp(`:sms-gateway-${stage}-(SendMessage|RunCampaign)`);
  for await (const { EventSourceMappings = [] } of paginateListEventSourceMappings({ client: lambda }, {})) {
    for (const { UUID, FunctionArn = "" } of EventSourceMappings) {
      if (senders.test(FunctionArn))
        await lambda.send(new UpdateEventSourceMappingCommand({ UUID, Enabled }));
    }
  }
}
