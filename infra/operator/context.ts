import path from "node:path";
import { createInterface } from "node:readline/promises";

import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";

import { environmentNames } from "../../shared/platform/config.ts";
import { outputNames, type StackOutput } from "../constructs/stack-outputs.ts";
import { localCredentials, readConnections } from "../local/connections.ts";
import { localRegion } from "../local/references.ts";
import { projectRoot } from "../project-root.ts";
import { localCarrier, type Stage } from "../stages/stage.ts";
import { printable, type Output } from "./output.ts";
import { useConfigurationOf } from "./sdk-configuration.ts";

/** The state of something, as far as it was changed. */
type Facts = Readonly<Record<string, unknown>>;

/** What a command is about to change. */
export interface About {
  /** The organisation in whose audit log it stands; without one it stands in the log of the stage. */
  readonly organizationId?: string | undefined;
  /** How what will be changed is now, for the audit log. */
  readonly before?: Facts;
}

/** The gateway that a command is about. */
export interface Connection {
  /** An output of the gateway's stack. */
  readonly stackOutput: (name: string) => StackOutput;
  readonly stackName: string;
  /** The address of its API, without a slash at the end. */
  readonly apiUrl: string;
  /** The carrier that takes everything while there is no route. */
  readonly stageCarrier: string;
  /** The share of a price that must be left after what a carrier takes. */
  readonly minimumMargin: number;
}

/** What a command works with. */
export interface Context extends Connection {
  readonly output: Output;
  /**
   * Shows what will be done and, where the data of real customers is kept, waits for the answer that allows it: the id of
   * the organisation, or `yes` where it is about none. Then it is written into the audit log. Every command that changes
   * something begins with it.
   */
  readonly confirm: (what: string, about?: About) => Promise<void>;
  /** Writes into the audit log what is handed out, of a command that changes nothing and asks nobody. */
  readonly record: (about: About) => Promise<void>;
  /** Notes for the audit log how it is after the change. */
  readonly changed: (after: Facts) => void;
}

/** Finds a deployed stage by its stack's outputs, or the gateway on this machine, and points the shared code at it. */
export async function connect(stage: Stage | undefined): Promise<Connection> {
  const { outputs, stackName } = stage === undefined ? await localGateway() : await deployedStage(stage);
  const stackOutput = (name: string): StackOutput => {
    const output = outputs.find((each) => each.name === name);
    if (output === undefined) {
      throw new Error(`The stack has no output ${name}: deploy it again, or run the gateway again.`);
    }
    return output;
  };
  process.env[environmentNames.tableName] = stackOutput(outputNames.tableName).value;
  const retention = outputs.find(({ name }) => name === outputNames.messageRetentionDays)?.value;
  if (retention !== undefined) process.env[environmentNames.messageRetentionDays] = retention;
  const apiUrl = stackOutput(outputNames.apiUrl).value.replace(/\/$/, "");
  return {
    stackOutput,
    stackName,
    apiUrl,
    stageCarrier: stage?.carrier ?? localCarrier,
    minimumMargin: Number(outputs.find(({ name }) => name === outputNames.minimumMargin)?.value ?? 0),
  };
}

interface Found {
  readonly outputs: readonly StackOutput[];
  readonly stackName: string;
}

async function localGateway(): Promise<Found> {
  const dataFolder = path.resolve(projectRoot, process.env["DATA_DIR"] ?? ".local");
  const { dynamodb, sqs, secretsManager, stackName, outputs } = await readConnections(dataFolder);
  process.env["AWS_ENDPOINT_URL_DYNAMODB"] = dynamodb;
  process.env["AWS_ENDPOINT_URL_SQS"] = sqs;
  process.env["AWS_ENDPOINT_URL_SECRETS_MANAGER"] = secretsManager;
  process.env["AWS_REGION"] = localRegion;
  process.env["AWS_ACCESS_KEY_ID"] = localCredentials.accessKeyId;
  process.env["AWS_SECRET_ACCESS_KEY"] = localCredentials.secretAccessKey;
  // A profile that the shell names would come before these credentials.
  delete process.env["AWS_PROFILE"];
  return { outputs, stackName };
}

async function deployedStage({ name, region }: Stage): Promise<Found> {
  useRegion(region);
  const stackName = `sms-gateway-${name}`;
  const describe = new DescribeStacksCommand({ StackName: stackName });
  const client = new CloudFormationClient({});
  const { Stacks } = await client.send(describe);
  await useConfigurationOf(client);
  const outputs = (Stacks?.[0]?.Outputs ?? []).map(({ OutputKey = "", OutputValue = "", Description }) => ({
    name: OutputKey,
    value: OutputValue,
    description: Description,
  }));
  return { outputs, stackName };
}

/**
 * Asks AWS in the region that a stage names, or else in the one that the AWS CLI would ask in. The SDK does not know
 * AWS_DEFAULT_REGION.
 */
function useRegion(ofStage: string | undefined): void {
  const region = ofStage ?? (process.env["AWS_REGION"] || process.env["AWS_DEFAULT_REGION"]);
  if (region !== undefined) process.env["AWS_REGION"] = region;
}

interface Streams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** Asks a person to type an answer. @returns whether they did; the end of the input is a no */
export async function agrees(
  what: string,
  answer: string,
  streams: Streams = { input: process.stdin, output: process.stderr },
): Promise<boolean> {
  const lines = createInterface(streams);
  const ended = new AbortController();
  lines.once("close", () => ended.abort());
  try {
    const question = printable(`${what}\nType ${answer} to go on: `);
    const typed = await lines.question(question, { signal: ended.signal });
    return typed.trim() === answer;
  } catch (error) {
    if (ended.signal.aborted) return false;
    throw error;
  } finally {
    lines.close();
  }
}
