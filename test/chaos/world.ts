import { rm } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

import { GetQueueAttributesCommand, SQSClient } from "@aws-sdk/client-sqs";

import { startLocalGateway, type LocalGateway, type LocalGatewayOptions } from "../../infra/local/gateway.ts";
import { localAccountId } from "../../infra/local/references.ts";
import { synthesizeLocalStack } from "../../infra/local/synthesize.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { changedAssembly } from "../support/changed-assembly.ts";
import { Carriers } from "./carriers.ts";
import { UnreliableAws } from "./unreliable-aws.ts";

/**
 * How long a queue hides a job that was not finished. The queue counts in real time, so the time is short. A job that comes
 * back before its lease has lapsed is only delayed again.
 */
const hiddenSeconds = 4;

/** The longest time until all work has ended. Work that takes longer is lost. */
const restTimeoutMs = 180_000;
const restPollMs = 50;

interface WorldParts {
  readonly gateway: LocalGateway;
  readonly aws: UnreliableAws;
  readonly carriers: Carriers;
  readonly clock: { aheadMs: number };
  readonly assemblyFolder: string;
}

/** The parts that a world takes over from earlier gateways. It has its own in place of the others. */
interface Inheritance extends Pick<LocalGatewayOptions, "dataFolder" | "isSecret" | "usesPorts"> {
  readonly port?: number;
  readonly carriers?: Carriers;
  readonly aws?: UnreliableAws;
  readonly clock?: { aheadMs: number };
  /** Another stack than the present one. */
  readonly assembly?: Assembly;
}

type Assembly = Awaited<ReturnType<typeof synthesizeLocalStack>>;

/** A synthesized stack, with queues that soon deliver an unfinished job again. The caller removes the folder. */
export async function impatientAssembly(assembly?: Assembly): Promise<Assembly> {
  return changedAssembly(assembly ?? (await synthesizeLocalStack()), ({ Type, Properties }) => {
    if (Type === "AWS::SQS::Queue" && "RedrivePolicy" in Properties) {
      Properties["VisibilityTimeout"] = hiddenSeconds;
    }
  });
}

/** A gateway on an unreliable AWS with unreliable carriers, and its functions' clock. */
export class World {
  readonly gateway: LocalGateway;
  readonly aws: UnreliableAws;
  readonly carriers: Carriers;
  readonly clock: { aheadMs: number };
  readonly #sqs: SQSClient;
  readonly #assemblyFolder: string;

  private constructor(parts: WorldParts) {
    this.gateway = parts.gateway;
    this.aws = parts.aws;
    this.carriers = parts.carriers;
    this.clock = parts.clock;
    this.#assemblyFolder = parts.assemblyFolder;
    this.#sqs = new SQSClient({ endpoint: parts.gateway.sqsEndpoint, useQueueUrlAsEndpoint: false });
  }

  /** Starts a world, and configures the project's own code to use its table. */
  static async start(log: (line: string) => void, inheritance: Inheritance = {}): Promise<World> {
    const { assembly: synthesized, carriers, clock = { aheadMs: 0 }, port = 0, ...others } = inheritance;
    const assembly = await impatientAssembly(synthesized);
    const aws =
      others.aws ??
      new UnreliableAws(
        () => Date.now() + clock.aheadMs,
        async (functionName) => gateway.functions.get(functionName)?.kill(),
      );
    const { interceptor } = aws;
    const gateway = await startLocalGateway({ port, ...others, ...assembly, log, interceptor });
    gateway.advanceClock(clock.aheadMs);
    process.env["AWS_ENDPOINT_URL_DYNAMODB"] = gateway.dynamodbEndpoint;
    process.env[environmentNames.tableName] = gateway.stack.table.name;
    const { assemblyFolder } = assembly;
    return new World({ gateway, aws, carriers: carriers ?? (await Carriers.start()), clock, assemblyFolder });
  }

  async stop(): Promise<void> {
    await this.stopGateway();
    await this.carriers.stop();
  }

  /** Stops this world for another one that takes over its parts. */
  async stopGateway(): Promise<void> {
    this.#sqs.destroy();
    await this.gateway.stop();
    await rm(this.#assemblyFolder, { recursive: true });
  }

  /** The functions' clock. */
  now(): Date {
    return new Date(Date.now() + this.clock.aheadMs);
  }

  /**
   * Sets the clock forward when all work is at rest, because leases must outlive their holders. Then puts the due jobs onto
   * their queues. Does not wait for the jobs of killed functions: their queues deliver them again later.
   */
  async advance(ms: number): Promise<void> {
    await this.rest();
    this.gateway.advanceClock(ms);
    this.clock.aheadMs += ms;
    this.aws.clockWasSet();
    await this.aws.releaseJobs();
  }

  /** Calls all scheduled functions. A failed one runs again the next time. */
  async runSchedules(): Promise<void> {
    await Promise.all(
      this.gateway.stack.schedules.map(async (schedule) => {
        await this.gateway.functions
          .get(schedule.functionName)
          ?.invoke(schedule.input ?? {})
          .catch(() => undefined);
      }),
    );
  }

  /**
   * Waits until no function works, no request is on its way and no queue has a job ready.
   * @throws Error on timeout
   */
  async rest(): Promise<void> {
    const deadline = Date.now() + restTimeoutMs;
    // A job that was just received is not yet at its function, so the state must be seen twice.
    for (let seen = 0; seen < 2;) {
      seen = (await this.#isAtRest()) ? seen + 1 : 0;
      if (Date.now() > deadline) throw new Error("the gateway does not come to rest");
      await delay(restPollMs);
    }
  }

  async #isAtRest(): Promise<boolean> {
    const isIdle = [...this.gateway.functions.values()].every(({ inFlightCalls }) => inFlightCalls === 0);
    if (!isIdle || !this.aws.isQuiet) return false;
    return (await this.#countJobs("ApproximateNumberOfMessages", false)) === 0;
  }

  /**
   * Waits until the queues have no delayed job. Only gateways that were killed leave such jobs: a world's own wait in
   * {@link UnreliableAws}. Setting the clock forward does not hasten them, because queues count in real time.
   * @throws Error on timeout
   */
  async waitForDelays(): Promise<void> {
    const deadline = Date.now() + restTimeoutMs;
    while ((await this.#countJobs("ApproximateNumberOfMessagesDelayed", false)) > 0) {
      if (Date.now() > deadline) throw new Error("delayed jobs stay in the queues");
      await delay(restPollMs);
    }
  }

  /** The number of jobs that were received and not finished. */
  async hiddenJobs(): Promise<number> {
    return this.#countJobs("ApproximateNumberOfMessagesNotVisible", false);
  }

  /** The number of jobs in the dead-letter queues. */
  async deadLetters(): Promise<number> {
    return this.#countJobs("ApproximateNumberOfMessages", true);
  }

  async #countJobs(
    attribute: `ApproximateNumberOfMessages${"" | "Delayed" | "NotVisible"}`,
    isParked: boolean,
  ): Promise<number> {
    const queues = this.gateway.stack.queues.filter(
      ({ attributes }) => "RedrivePolicy" in attributes !== isParked,
    );
    const counts = await Promise.all(
      queues.map(async ({ name }) => {
        const QueueUrl = `${this.gateway.sqsEndpoint}/${localAccountId}/${name}`;
        const { Attributes } = await this.#sqs.send(
          new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [attribute] }),
        );
        return Number(Attributes?.[attribute]);
      }),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }
}
