import { createInterface } from "node:readline/promises";

import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import { dataFolderSetting } from "@sms-gateway/build/project-root.ts";
import { localCredentials, localRegion, readConnections } from "@sms-gateway/local/connections.ts";
import { paymentSecretName } from "@sms-gateway/stack/constructs/names.ts";
import { outputNames, type StackOutput } from "@sms-gateway/stack/constructs/stack-outputs.ts";
import { localCarrier, type Stage } from "@sms-gateway/stack/stages/stage.ts";

import { defaultCurrency } from "../../shared/api/contract/currencies.ts";
import { microsOfText } from "../../shared/money/wallet/money.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { localOperator } from "./identity.ts";
import { printable, type Output } from "./output.ts";
import { useConfigurationOf } from "./sdk-configuration.ts";

/** The fields of a record that a command changes. */
type Facts = Readonly<Record<string, unknown>>;

/** The subject of a change. */
export interface About {
  /** The organization whose audit log gets the entry. Without it the entry goes to the stage's log. */
  readonly organizationId?: string | undefined;
  /** The state before the change, for the audit log. */
  readonly before?: Facts;
  /** Facts that may change until the operator confirms, such as a balance. The question ends with them. */
  readonly shown?: string | undefined;
  /**
   * The money that a command moves. Above the stage's amount it is only proposed, with these parts of the input: the ID of
   * the organization, the exact amount and a reference.
   */
  readonly movement?: { readonly amountMicros: number; readonly input: Facts };
}

/** The gateway that a command works on. */
export interface Connection {
  /** Returns an output of the gateway's stack. */
  readonly stackOutput: (name: string) => StackOutput;
  readonly stackName: string;
  /** The address of its API, without a trailing slash. */
  readonly apiUrl: string;
  /** The carrier that gets the messages without a route. */
  readonly stageCarrier: string;
  /** The share of a price that must remain after the carrier's cost. */
  readonly minimumMargin: number;
  /** How many days before a price rises its customers get a notice; undefined is none. */
  readonly priceNoticeDays: number | undefined;
  /** The largest movement of money that one operator may make alone. */
  readonly secondPersonAboveMicros: number;
}

export interface Context extends Connection {
  /** Undefined for the gateway on this machine. */
  readonly stage: Stage | undefined;
  readonly output: Output;
  /**
   * Writes an entry to the audit log, shows what will happen, and waits for the operator's consent if the stage keeps its
   * data. The operator types the organization's ID, or `yes` if there is none. Every command that changes something calls
   * it first.
   */
  readonly confirm: (what: string, about?: About) => Promise<void>;
  /** Writes an entry to the audit log without asking, for a command that discloses data or changes only its own. */
  readonly record: (about: About) => Promise<void>;
  /** Sets the state after the change, for the audit log. */
  readonly changed: (after: Facts) => void;
}

/** A change of a record, such as a wallet. */
export interface Change<State extends object> {
  readonly what: string;
  readonly organizationId?: string;
  readonly before: State;
  readonly apply: () => Promise<State>;
  /** Selects the fields that the audit log keeps. */
  readonly facts: (state: State) => Facts;
  /** The result in words. */
  readonly text: (after: State) => string;
}

/** Changes a record after the operator has confirmed, and shows it. The audit log gets the state before and after. */
export async function change<State extends object>(
  { what, organizationId, before, apply, facts, text }: Change<State>,
  { output, confirm, changed }: Context,
): Promise<void> {
  await confirm(what, { organizationId, before: facts(before) });
  const after = await apply();
  changed(facts(after));
  output.result(after, text(after));
}

/** Finds a deployed stage by its stack's outputs, or the gateway on this machine, and configures the shared code for it. */
export async function connect(stage: Stage | undefined): Promise<Connection> {
  const { outputs, stackName } = stage === undefined ? await localGateway() : await deployedStage(stage);
  const find = (name: string): StackOutput | undefined => outputs.find((each) => each.name === name);
  const stackOutput = (name: string): StackOutput => {
    const output = find(name);
    if (output === undefined) {
      throw new Error(
        `The stack has no output ${name}. Deploy the stage again, or restart the local gateway.`,
      );
    }
    return output;
  };
  process.env[environmentNames.stage] =
    find(outputNames.stageName)?.value ?? stackName.slice("sms-gateway-".length);
  process.env[environmentNames.tableName] = stackOutput(outputNames.tableName).value;
  process.env[environmentNames.currency] = find(outputNames.currency)?.value ?? defaultCurrency;
  process.env[environmentNames.payments] = find(outputNames.paymentSettings)?.value ?? "{}";
  process.env[environmentNames.paymentSecretId] = paymentSecretName(stackName);
  const noticeDays = find(outputNames.priceNoticeDays)?.value;
  const retention = find(outputNames.messageRetentionDays)?.value;
  if (retention !== undefined) process.env[environmentNames.messageRetentionDays] = retention;
  return {
    stackOutput,
    stackName,
    apiUrl: stackOutput(outputNames.apiUrl).value.replace(/\/$/, ""),
    stageCarrier: stage?.carrier ?? localCarrier,
    minimumMargin: Number(find(outputNames.minimumMargin)?.value ?? 0),
    priceNoticeDays: noticeDays === undefined ? undefined : Number(noticeDays),
    secondPersonAboveMicros: aloneMicros(find(outputNames.secondPersonAbove)?.value),
  };
}

/** Without the setting there is no limit. With one that cannot be read, every movement needs a second person. */
function aloneMicros(setting: string | undefined): number {
  return setting === undefined ? Infinity : (microsOfText(setting) ?? 0);
}

interface Found {
  readonly outputs: readonly StackOutput[];
  readonly stackName: string;
}

async function localGateway(): Promise<Found> {
  const { dynamodb, aws, stripe, stackName, outputs } = await readConnections(dataFolderSetting());
  if (stripe !== undefined) process.env[environmentNames.stripeApiUrl] ??= stripe;
  // With a role, all requests go to the endpoint that checks them against the role's policy.
  const role = process.env["OPERATOR_ROLE"];
  process.env["AWS_ENDPOINT_URL_DYNAMODB"] = role === undefined ? dynamodb : aws;
  for (const service of ["S3", "SECRETS_MANAGER", "SQS"]) process.env[`AWS_ENDPOINT_URL_${service}`] = aws;
  process.env["AWS_REGION"] = localRegion;
  process.env["AWS_ACCESS_KEY_ID"] =
    role === undefined ? localCredentials.accessKeyId : `${stackName}-${role}`;
  process.env["AWS_SECRET_ACCESS_KEY"] = localCredentials.secretAccessKey;
  process.env["AWS_SESSION_TOKEN"] = localOperator();
  // A profile in the shell's environment would take precedence over these credentials.
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

/** Sets the region: the stage's, or the one that the AWS CLI would use. The SDK does not read AWS_DEFAULT_REGION. */
function useRegion(ofStage: string | undefined): void {
  const region = ofStage ?? (process.env["AWS_REGION"] || process.env["AWS_DEFAULT_REGION"]);
  if (region !== undefined) process.env["AWS_REGION"] = region;
}

interface Streams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** Prompts the operator. @returns the line that they typed; undefined at the end of the input */
export async function readLine(
  question: string,
  streams: Streams = { input: process.stdin, output: process.stderr },
): Promise<string | undefined> {
  const lines = createInterface(streams);
  const ended = new AbortController();
  lines.once("close", () => ended.abort());
  try {
    return await lines.question(printable(question), { signal: ended.signal });
  } catch (error) {
    if (ended.signal.aborted) return undefined;
    throw error;
  } finally {
    lines.close();
  }
}

/** Asks the operator to type a given text. @returns whether they did; the end of the input counts as no */
export async function agrees(what: string, answer: string, streams?: Streams): Promise<boolean> {
  return (await readLine(`${what}\nType ${answer} to continue: `, streams))?.trim() === answer;
}
