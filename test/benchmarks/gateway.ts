import { localCredentials, localRegion } from "../../infra/local/connections.ts";
import { startLocalGateway, type LocalGateway, type LocalGatewayOptions } from "../../infra/local/gateway.ts";
import { synthesizeLocalStack } from "../../infra/local/synthesize.ts";
import { readStack, type StackDefinition } from "../../infra/local/template.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { assemblyWithVariables } from "../support/changed-assembly.ts";

let synthesized: ReturnType<typeof synthesizeLocalStack> | undefined;

/** The local stack, synthesized once for all suites of a run. It logs what a deployed stage logs. */
async function localStack(): ReturnType<typeof synthesizeLocalStack> {
  synthesized ??= synthesizeLocalStack().then(async (assembly) =>
    assemblyWithVariables(assembly, { [environmentNames.logSentMessages]: "false" }),
  );
  return synthesized;
}

/** Nothing listens there. */
const nowhere = "http://127.0.0.1:9";

/** The parts of the local stack, for a benchmark without a gateway. */
export async function readLocalStack(): Promise<StackDefinition> {
  const { assemblyFolder, stackName } = await localStack();
  return readStack(assemblyFolder, stackName, { aws: nowhere, api: nowhere });
}

/**
 * Starts a separate gateway for a benchmark, with its data in memory unless it has a folder. The project's own code and the
 * AWS SDK in the benchmark use this gateway's table and queues.
 */
export async function startBenchmarkGateway(
  options: Partial<Pick<LocalGatewayOptions, "dataFolder" | "interceptor" | "log">> = {},
): Promise<LocalGateway> {
  const assembly = await localStack();
  const gateway = await startLocalGateway({ log: () => undefined, ...options, ...assembly, port: 0 });
  process.env["AWS_REGION"] = localRegion;
  process.env["AWS_ACCESS_KEY_ID"] = localCredentials.accessKeyId;
  process.env["AWS_SECRET_ACCESS_KEY"] = localCredentials.secretAccessKey;
  process.env["AWS_ENDPOINT_URL_DYNAMODB"] = gateway.dynamodbEndpoint;
  process.env["AWS_ENDPOINT_URL_SQS"] = gateway.sqsEndpoint;
  process.env[environmentNames.tableName] = gateway.stack.table.name;
  return gateway;
}

/** Writes one line of a benchmark's results. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** The clock of a gateway's functions. */
export interface Clock {
  advance(ms: number): void;
  /** Advances to the start of a minute, so that the next calls are in the same minute in each run. */
  startMinute(): void;
  /** Returns a time that is this much later than its present. */
  later(ms: number): string;
}

/** The clock of a gateway whose clock no one else sets. */
export function clockOf(gateway: LocalGateway): Clock {
  let aheadMs = 0;
  const time = (): number => Date.now() + aheadMs;
  const advance = (ms: number): void => {
    aheadMs += ms;
    gateway.advanceClock(ms);
  };
  return {
    advance,
    startMinute: () => advance(minuteMs - (time() % minuteMs)),
    later: (ms) => new Date(time() + ms).toISOString(),
  };
}
