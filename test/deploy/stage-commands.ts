import { DescribeTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { vi } from "vitest";
import * as z from "zod/mini";

import { connect } from "../../infra/operator/context.ts";
import { stageNamed } from "../../infra/stack/stages/stage.ts";
import type { Client } from "../../shared/api/client/client.ts";
import { patience } from "../support/patience.ts";
import { localhostNames, mustRun, run, type Ended } from "./program.ts";

/** A deployment takes half a minute where two cores do all that an AWS does, and eight times as long on a busy machine. */
export const deploymentTimeoutMs = 480_000;

/** Runs a command of the operator, which must succeed. */
export async function operator(stage: string, ...args: readonly string[]): Promise<Ended> {
  return mustRun(process.execPath, ["infra/operator/main.ts", ...args, "--stage", stage]);
}

/** The objects that a command of the operator prints. */
export async function rowsOf<Row>(
  schema: z.ZodMiniType<Row>,
  stage: string,
  ...args: readonly string[]
): Promise<Row[]> {
  const { out } = await operator(stage, ...args, "--json");
  return out
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => schema.parse(JSON.parse(line)));
}

/** An output of the stack of a stage, such as the URL of its API. */
export async function outputOf(stage: string, name: string): Promise<string> {
  return (await connect(stageNamed(stage))).stackOutput(name).value;
}

/** The arguments before the assembly of the stage that `cdk destroy` removes. */
export const destroy = ["destroy", "--all", "--force", "--app"];

/** The status of a table, or undefined where AWS gives none. */
export async function statusOf(TableName: string): Promise<string | undefined> {
  const { Table } = await new DynamoDBClient().send(new DescribeTableCommand({ TableName }));
  return Table?.TableStatus;
}

/** Runs the smoke test on a stage. */
export async function smoke(stage: string): Promise<Ended> {
  const options = { environment: { NODE_OPTIONS: `--import ${localhostNames}` } };
  return run(process.execPath, ["infra/operator/main.ts", "smoke-test", "--stage", stage], options);
}

/** Waits until something is so. */
export async function until(
  what: string,
  isSo: () => Promise<boolean>,
  { timeout }: { timeout: number } = patience,
): Promise<void> {
  await vi.waitFor(
    async () => {
      if (!(await isSo())) throw new Error(`it has not come about that ${what}`);
    },
    { timeout, interval: 250 },
  );
}

/** How long a test waits for a message that a pause of sending has held back. The gateway sends it within three minutes. */
export const patienceAfterPause = { timeout: 3 * patience.timeout };

/** Waits until a message is sent, or failed. */
export async function ending(
  client: Client,
  id: string,
  status: "failed" | "sent",
  { timeout }: { timeout: number } = patience,
): Promise<void> {
  const isSo = async (): Promise<boolean> => (await client.getSms({ params: { id } })).status === status;
  await until(`${id} is ${status}`, isSo, { timeout });
}

/** A message that any carrier of a test takes, but for its recipient. */
export const message = { message: "hello", senderId: "ACME" };

/** The output of `wallets verify --json` for an organization. */
export const Organizations = z.object({ organizationId: z.string(), findings: z.array(z.string()) });
