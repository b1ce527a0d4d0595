import { setTimeout as delay } from "node:timers/promises";

import { GetQueueAttributesCommand, SQSClient } from "@aws-sdk/client-sqs";
import * as z from "zod/mini";

import type { LocalGateway } from "../../infra/local/gateway.ts";
import type { AwsHandler, AwsRequest, AwsResponse } from "../../infra/local/local-aws.ts";
import { localAccountId } from "../../infra/local/references.ts";
import { keys } from "../../shared/platform/table/keys.ts";

/** The usage that AWS would charge for. */
export interface Usage {
  /** DynamoDB's request units. */
  readonly writeUnits: number;
  readonly readUnits: number;
  /** Requests to DynamoDB; a read of several items, and a transaction, is one. */
  readonly tableRequests: number;
  /** Requests of the functions, and a receive and a delete for each batch that a function was called with. */
  readonly queueRequests: number;
  readonly httpRequests: number;
  readonly lambdaCalls: number;
  /** The duration of the calls on this machine with its emulators: neither CPU time nor AWS's time. */
  readonly lambdaMs: number;
  readonly lambdaGigabyteSeconds: number;
}

export const noUsage: Usage = {
  writeUnits: 0,
  readUnits: 0,
  tableRequests: 0,
  queueRequests: 0,
  httpRequests: 0,
  lambdaCalls: 0,
  lambdaMs: 0,
  lambdaGigabyteSeconds: 0,
};

/** The usage of each function that took part, by its name. */
type UsageByFunction = ReadonlyMap<string, Usage>;

/** The log and the usage of functions. */
export interface Reading {
  readonly byFunction: UsageByFunction;
  readonly logBytes: number;
}

const settleTimeoutMs = 300_000;
const settlePollMs = 20;

/** How often in a row a gateway has to be idle, because a job may be between a queue and its function at one check. */
const settledLooks = 3;

const kilobyte = 1_024;

const reads = new Set(["dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:Query"]);

const Consumed = z.object({
  CapacityUnits: z.number(),
  ReadCapacityUnits: z.optional(z.number()),
  WriteCapacityUnits: z.optional(z.number()),
});
const Answer = z.object({ ConsumedCapacity: z.optional(z.union([Consumed, z.array(Consumed)])) });
const Refused = z.object({
  __type: z.string(),
  Item: z.unknown(),
  CancellationReasons: z.optional(z.array(z.object({ Item: z.unknown() }))),
});

/**
 * Measures the usage of a gateway's functions. The gateway is started with its `interceptor` and `log`, then passed to
 * `watch`. It leaves out scheduled calls, which `callScheduled` makes, and the writes of the sandbox carrier.
 */
export class Meter {
  #gateway: LocalGateway | undefined;
  readonly #scheduled = new Map<string, (event: unknown) => Promise<unknown>>();
  #byFunction = new Map<string, Usage>();
  #logBytes = 0;
  #callsUnderWay = 0;

  readonly log = (line: string): void => {
    this.#logBytes += Buffer.byteLength(line) + 1;
  };

  readonly interceptor = async (request: AwsRequest, next: AwsHandler): Promise<AwsResponse> => {
    const { functionName, operation } = request;
    if (operation.startsWith("sqs:")) this.#add(functionName, { queueRequests: 1 });
    if (!operation.startsWith("dynamodb:")) return next(request);
    const body = JSON.stringify({ ...JSON.parse(request.body), ReturnConsumedCapacity: "TOTAL" });
    const response = await next({ ...request, body });
    // A real carrier does not write into the table.
    if (body.includes(`"${keys.sandboxMessage("").pk}`)) return response;
    const units = response.status === 200 ? consumed(operation, response) : refused(response);
    this.#add(functionName, { tableRequests: 1, ...units });
    return response;
  };

  /** Counts the calls of a gateway's functions from now on. The scheduled calls of its start have ended. */
  async watch(gateway: LocalGateway): Promise<void> {
    this.#gateway = gateway;
    const scheduled = new Set(gateway.stack.schedules.map(({ functionName }) => functionName));
    const behindRoutes = new Set(gateway.stack.routes.map(({ functionName }) => functionName));
    for (const { name, memoryMegabytes } of gateway.stack.functions) {
      const host = gateway.functions.get(name);
      if (host === undefined) throw new Error(`the gateway does not run ${name}`);
      const invoke = host.invoke.bind(host);
      const counted = async (event: unknown, traceId?: string): Promise<unknown> => {
        const startedAt = performance.now();
        this.#callsUnderWay += 1;
        try {
          return await invoke(event, traceId);
        } finally {
          this.#callsUnderWay -= 1;
          const lambdaMs = performance.now() - startedAt;
          this.#add(name, {
            lambdaCalls: 1,
            lambdaMs,
            lambdaGigabyteSeconds: (lambdaMs / 1_000) * (memoryMegabytes / kilobyte),
            httpRequests: behindRoutes.has(name) ? 1 : 0,
            queueRequests: isBatch(event) ? 2 : 0,
          });
        }
      };
      if (scheduled.has(name)) {
        this.#scheduled.set(name, counted);
        host.invoke = async () => undefined;
        await host.kill();
      } else {
        host.invoke = counted;
      }
    }
  }

  get schedules(): LocalGateway["stack"]["schedules"] {
    return this.#watched().stack.schedules;
  }

  /** Makes the calls of the schedules whose function has this in its name, each with its input. */
  async callScheduled(part: string): Promise<void> {
    for (const schedule of this.schedules) {
      if (!schedule.functionName.includes(part)) continue;
      await this.#scheduled.get(schedule.functionName)?.(schedule.input ?? {});
    }
  }

  /** Waits until no function is at work and no queue has a job, also not one for later. */
  async settle(): Promise<void> {
    const deadline = Date.now() + settleTimeoutMs;
    let idleLooks = 0;
    while (idleLooks < settledLooks) {
      if (Date.now() > deadline) throw new Error("the gateway does not come to rest");
      const isAtWork = this.#callsUnderWay > 0 || (await this.#countJobs()) > 0;
      idleLooks = isAtWork ? 0 : idleLooks + 1;
      await delay(settlePollMs);
    }
  }

  /** The usage since the last reading. */
  take(): Reading {
    const reading = { byFunction: this.#byFunction, logBytes: this.#logBytes };
    this.#byFunction = new Map();
    this.#logBytes = 0;
    return reading;
  }

  #watched(): LocalGateway {
    if (this.#gateway === undefined) throw new Error("the meter watches no gateway");
    return this.#gateway;
  }

  #add(functionName: string, usage: Partial<Usage>): void {
    this.#byFunction.set(
      functionName,
      sumOf([this.#byFunction.get(functionName) ?? noUsage, { ...noUsage, ...usage }]),
    );
  }

  async #countJobs(): Promise<number> {
    const { sqsEndpoint, stack } = this.#watched();
    const sqs = new SQSClient({ endpoint: sqsEndpoint });
    const counts = await Promise.all(
      stack.queues.map(async ({ name }) => {
        const { Attributes = {} } = await sqs.send(
          new GetQueueAttributesCommand({
            QueueUrl: `${sqsEndpoint}/${localAccountId}/${name}`,
            AttributeNames: [
              "ApproximateNumberOfMessages",
              "ApproximateNumberOfMessagesDelayed",
              "ApproximateNumberOfMessagesNotVisible",
            ],
          }),
        );
        return Object.values(Attributes).reduce((sum, count) => sum + Number(count), 0);
      }),
    );
    sqs.destroy();
    return counts.reduce((sum, count) => sum + count, 0);
  }
}

/** Several usages as one. */
export function sumOf(usages: readonly Usage[]): Usage {
  const sum = (field: keyof Usage): number => usages.reduce((total, usage) => total + usage[field], 0);
  return mapFields(sum);
}

/** The difference of two usages, divided by a number. */
export function shareOf(usage: Usage, without: Usage, count: number): Usage {
  return mapFields((field) => (usage[field] - without[field]) / count);
}

function mapFields(valueOf: (field: keyof Usage) => number): Usage {
  return {
    writeUnits: valueOf("writeUnits"),
    readUnits: valueOf("readUnits"),
    tableRequests: valueOf("tableRequests"),
    queueRequests: valueOf("queueRequests"),
    httpRequests: valueOf("httpRequests"),
    lambdaCalls: valueOf("lambdaCalls"),
    lambdaMs: valueOf("lambdaMs"),
    lambdaGigabyteSeconds: valueOf("lambdaGigabyteSeconds"),
  };
}

/** The units in a response, which DynamoDB reports for one table, or for each table of a transaction. */
function consumed(operation: string, { body }: AwsResponse): Partial<Usage> {
  const { ConsumedCapacity = [] } = Answer.parse(JSON.parse(body));
  const tables = [ConsumedCapacity].flat();
  const sum = (of: (table: z.infer<typeof Consumed>) => number): number =>
    tables.reduce((units, table) => units + of(table), 0);
  if (reads.has(operation)) return { readUnits: sum(({ CapacityUnits }) => CapacityUnits) };
  if (!operation.endsWith("TransactWriteItems")) {
    return { writeUnits: sum(({ CapacityUnits }) => CapacityUnits) };
  }
  return {
    writeUnits: sum(({ WriteCapacityUnits = 0 }) => WriteCapacityUnits),
    readUnits: sum(({ ReadCapacityUnits = 0 }) => ReadCapacityUnits),
  };
}

/**
 * The units of a write whose condition did not hold. DynamoDB charges for it and does not report how much. It
 * charges for the size of the existing item, which is in the response, and one unit without one.
 */
function refused({ body }: AwsResponse): Partial<Usage> {
  const { __type: type, Item, CancellationReasons = [] } = Refused.parse(JSON.parse(body));
  if (type.includes("ConditionalCheckFailed")) return { writeUnits: unitsOf(Item) };
  return {
    writeUnits: CancellationReasons.reduce((units, reason) => units + 2 * unitsOf(reason.Item), 0),
  };
}

/** As JSON an item is somewhat longer than DynamoDB counts it. */
function unitsOf(item: unknown): number {
  return item === undefined ? 1 : Math.ceil(Buffer.byteLength(JSON.stringify(item)) / kilobyte);
}

function isBatch(event: unknown): boolean {
  return typeof event === "object" && event !== null && "Records" in event;
}

/** The name that a function has in the tables of routes and workers: `ApiSendSmsFunction1A2B3C4D` is `SendSms`. */
export function shortName(functionName: string): string {
  return functionName.replace(/^Api(?=[A-Z])/, "").replace(/Function[0-9A-F]{8}$/, "");
}
