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
 * How long a queue hides a job that was not brought to its end. The queue counts in real time, where nobody wants to
 * wait for minutes; a job that comes back before a claim has lapsed is only told to come again.
 */
const hiddenSeconds = 4;

/** Nothing takes so long to come to rest, unless it never does. */
const restTimeoutMs = 180_000;
const restPollMs = 50;

interface WorldParts {
  readonly gateway: LocalGateway;
  readonly aws: UnreliableAws;
  readonly carriers: Carriers;
  readonly clock: { aheadMs: number };
  readonly assemblyFolder: string;
}

/** What a world takes over from gateways that ran before it. */
type Inheritance = Required<Pick<LocalGatewayOptions, "dataFolder" | "port">> & {
  readonly carriers: Carriers;
};

/** The synthesized stack, with queues that soon show an unfinished job again. The folder is the caller's to remove. */
export async function impatientAssembly(): ReturnType<typeof changedAssembly> {
  return changedAssembly(await synthesizeLocalStack(), ({ Type, Properties }) => {
    if (Type === "AWS::SQS::Queue" && "RedrivePolicy" in Properties) {
      Properties["VisibilityTimeout"] = hiddenSeconds;
    }
  });
}

/** A gateway on an unreliable AWS with unreliable carriers, and the clock that its functions go by. */
export class World {
  readonly gateway: LocalGateway;
  readonly aws: UnreliableAws;
  readonly carriers: Carriers;
  readonly #sqs: SQSClient;
  readonly #clock: { aheadMs: number };
  readonly #assemblyFolder: string;

  private constructor(parts: WorldParts) {
    this.gateway = parts.gateway;
    this.aws = parts.aws;
    this.carriers = parts.carriers;
    this.#clock = parts.clock;
    this.#assemblyFolder = parts.assemblyFolder;
    this.#sqs = new SQSClient({ endpoint: parts.gateway.sqsEndpoint, useQueueUrlAsEndpoint: false });
  }

  /** Starts it, and points the project's own code to its table. */
  static async start(log: (line: string) => void, inheritance?: Inheritance): Promise<World> {
    const assembly = await impatientAssembly();
    const { carriers: inherited, ...data } = inheritance ?? {};
    const clock = { aheadMs: 0 };
    const aws = new UnreliableAws(
      () => Date.now() + clock.aheadMs,
      async (functionName) => gateway.functions.get(functionName)?.kill(),
    );
    const { interceptor } = aws;
    const gateway = await startLocalGateway({ port: 0, ...data, ...assembly, log, interceptor });
    process.env["AWS_ENDPOINT_URL_DYNAMODB"] = gateway.dynamodbEndpoint;
    process.env[environmentNames.tableName] = gateway.stack.table.name;
    const carriers = inherited ?? (await Carriers.start());
    return new World({ gateway, aws, carriers, clock, assemblyFolder: assembly.assemblyFolder });
  }

  async stop(): Promise<void> {
    this.#sqs.destroy();
    await this.gateway.stop();
    await this.carriers.stop();
    await rm(this.#assemblyFolder, { recursive: true });
  }

  /** The functions' clock. */
  now(): Date {
    return new Date(Date.now() + this.#clock.aheadMs);
  }

  /**
   * Sets the clock forward when all is at rest, for a claim outlives whoever holds it; then puts the jobs onto their
   * queues whose time has come.
   * Jobs whose functions were ended are not waited for: their queues bring them back later.
   */
  async advance(ms: number): Promise<void> {
    await this.rest();
    this.gateway.advanceClock(ms);
    this.#clock.aheadMs += ms;
    this.aws.clockWasSet();
    await this.aws.releaseJobs();
  }

  /** Calls all functions that are called by the clock. One that fails has its next turn. */
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
   * Waits until no function is at work, nothing is on its way and no queue has a job to give out.
   * @throws Error when that takes too long
   */
  async rest(): Promise<void> {
    const deadline = Date.now() + restTimeoutMs;
    // A job that was just given out is not yet at its function, so it has to be seen twice.
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

  /** Jobs that were given out and have not been brought to their end. */
  async hiddenJobs(): Promise<number> {
    return this.#countJobs("ApproximateNumberOfMessagesNotVisible", false);
  }

  /** Jobs in the dead-letter queues. */
  async deadLetters(): Promise<number> {
    return this.#countJobs("ApproximateNumberOfMessages", true);
  }

  async #countJobs(
    attribute: "ApproximateNumberOfMessages" | "ApproximateNumberOfMessagesNotVisible",
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
