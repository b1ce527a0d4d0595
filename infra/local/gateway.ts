import http from "node:http";
import path from "node:path";

import * as z from "zod/mini";

import { findConnections, writeConnections } from "./connections.ts";
import { corsOf } from "./cors.ts";
import { deleteData, documentsFolder, lockDataFolder, makeDataPrivate } from "./data-folder.ts";
import { DataServices } from "./data-services.ts";
import { EventSources } from "./event-sources.ts";
import { FunctionHost, type FunctionsAws } from "./function-host.ts";
import { holdableAgent } from "./held-requests.ts";
import { HttpApi } from "./http-api.ts";
import { interceptedPort } from "./intercepted-port.ts";
import { LocalAws, type LocalAwsOptions } from "./local-aws.ts";
import { Mailbox, mailboxPathOf, type SentEmail } from "./mailbox.ts";
import { LocalObjects } from "./objects.ts";
import { recordsPermissions } from "./permission-records.ts";
import { LocalSecrets } from "./secrets.ts";
import { ServiceError } from "./store/service-error.ts";
import { storeStripeKeys, type StripeKeys } from "./stripe/keys.ts";
import { startStripe, type LocalStripe } from "./stripe/server.ts";
import { readStack, type StackDefinition } from "./template.ts";

export interface LocalGatewayOptions {
  /** The folder that the stack was synthesized into, and the stack's name. */
  readonly assemblyFolder: string;
  readonly stackName: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Where data stays between runs; without it the data is in memory. */
  readonly dataFolder?: string;
  /** Whether to delete the data of earlier runs first. */
  readonly isFresh?: boolean;
  /** Other names of this machine, in lower case, at which the API may be called. */
  readonly allowedHosts?: readonly string[];
  /** Receives each log line of a function or of the gateway itself. */
  readonly log: (line: string) => void;
  readonly interceptor?: LocalAwsOptions["interceptor"];
  /** False for a test whose intercepted requests reach the store over HTTP, as they reach AWS. */
  readonly usesPorts?: boolean;
  /** The keys of a test account at Stripe, which then replaces the local provider. */
  readonly stripeKeys?: StripeKeys | undefined;
  /**
   * Whether the store and the AWS endpoint have secret addresses. Functions of release 0.3.0 need others: their client of SQS
   * drops the path of an address.
   */
  readonly isSecret?: boolean;
  /** False for a test that calls the scheduled functions itself. */
  readonly runsSchedules?: boolean;
}

/** A running gateway. */
export interface LocalGateway {
  readonly url: string;
  /** The page of the sent emails. */
  readonly mailboxUrl: string;
  readonly dynamodbEndpoint: string;
  readonly sqsEndpoint: string;
  /** The local payment provider; absent with the keys of an account at Stripe. */
  readonly stripe: LocalStripe | undefined;
  readonly stack: StackDefinition;
  readonly functions: ReadonlyMap<string, FunctionHost>;
  /** The sent emails, the newest first. */
  readonly emails: readonly SentEmail[];
  /** Advances the functions' clock. Queues and schedules continue to use the real one. */
  advanceClock(ms: number): void;
  stop(): Promise<void>;
}

/** The time between the first calls of two scheduled functions. Threads that start together need much memory. */
const firstCallGapMs = 2_000;

/**
 * Runs a synthesized stack on this machine. Its table and queues are in the local store, its functions in worker threads.
 * An HTTP server has its routes. Event sources, schedules and permissions work as in AWS.
 */
export async function startLocalGateway(options: LocalGatewayOptions): Promise<LocalGateway> {
  const { dataFolder, interceptor, isFresh = false, isSecret = true, log } = options;
  const { allowedHosts = [], runsSchedules = true, usesPorts = true } = options;
  // Stops the started parts in the opposite order, also when a later part fails to start.
  const running: { stop(): Promise<void> }[] = [];
  const started = <Part extends { stop(): Promise<void> }>(part: Part): Part => {
    running.unshift(part);
    return part;
  };
  const stop = async (): Promise<void> => {
    for (const part of running.splice(0)) await part.stop();
  };
  holdableAgent(http);
  // They come first: a second gateway must not open or delete the data of a running one.
  const lock = dataFolder === undefined ? undefined : started(await lockDataFolder(dataFolder));
  const api = await HttpApi.start(options.port, log).catch(async (error: unknown) => {
    await lock?.stop();
    throw error;
  });
  try {
    if (dataFolder !== undefined) {
      if (isFresh) await deleteData(dataFolder);
      await makeDataPrivate(dataFolder);
    }
    const clock = new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT));
    const dataServices = started(await DataServices.start(dataFolder, clock, isSecret));
    const { dynamodbEndpoint, sqsEndpoint } = dataServices;
    const mailbox = new Mailbox();
    const earlier = dataFolder === undefined ? undefined : await findConnections(dataFolder);
    const mailboxPath = mailboxPathOf(earlier?.mailbox);
    const mailboxUrl = api.url + mailboxPath;
    const secrets = await LocalSecrets.open(dataFolder);
    const aws = started(
      await LocalAws.start({
        dataServices,
        isSecret,
        mailbox,
        secrets,
        objects: new LocalObjects(dataFolder && path.join(dataFolder, documentsFolder)),
        ...(interceptor === undefined ? {} : { interceptor }),
      }),
    );
    const stack = await readStack(options.assemblyFolder, options.stackName, { aws: aws.url, api: api.url });
    await createTable(stack, dataServices);
    const queueUrls = await createQueues(stack, dataServices);
    await secrets.generate(stack);
    for (const id of stack.signingKeyIds) aws.addSigningKey(id, secrets.generated(id));
    const keys = await storeStripeKeys(secrets, options.stackName, options.stripeKeys);
    const stripe =
      options.stripeKeys === undefined
        ? await startStripe({
            dataFolder,
            webhookUrl: `${api.url}/v1/payments/events/stripe`,
            webhookSecret: keys.webhookSecret,
            now: () => Date.now() + (clock[0] ?? 0),
            log,
          })
        : undefined;
    if (stripe !== undefined) started(stripe);

    const functionsAws: FunctionsAws = {
      endpoint: aws.url,
      openPort: (definition) => {
        if (!usesPorts) return undefined;
        const port = dataServices.openPort(definition);
        return port && interceptor ? interceptedPort(port, definition.name, interceptor) : port;
      },
    };
    for (const policy of stack.policies) aws.allow(policy);
    const functions = new Map<string, FunctionHost>();
    for (const definition of stack.functions) {
      aws.allow(definition);
      const environment = {
        ...definition.environment,
        ...(recordsPermissions ? allQueueUrls(stack) : {}),
        ...(stripe === undefined ? {} : { STRIPE_API_URL: stripe.url }),
      };
      functions.set(
        definition.name,
        new FunctionHost({ ...definition, environment }, functionsAws, clock, log),
      );
    }
    started({
      stop: async () => {
        for (const each of functions.values()) await each.kill();
      },
    });
    const invoke = (functionName: string) => {
      const host = functions.get(functionName);
      if (host === undefined) throw new Error(`the stack has no function ${functionName}`);
      return async (event: unknown, traceId?: string): Promise<unknown> => host.invoke(event, traceId);
    };

    const eventSources = started(new EventSources(dataServices, log));
    for (const { queueArn, functionName, batchSize, maxConcurrency } of stack.eventSources) {
      const queueUrl = queueUrls.get(queueArn);
      if (queueUrl === undefined) throw new Error(`the stack has no queue ${queueArn}`);
      const deadLettersArn = stack.queues.find(({ arn }) => arn === queueArn)?.deadLettersArn;
      const deadLettersUrl = deadLettersArn === undefined ? undefined : queueUrls.get(deadLettersArn);
      const queuesForItself =
        stack.functions.find(({ name }) => name === functionName)?.queuesForItself === true;
      eventSources.poll({
        queueUrl,
        queueArn,
        deadLettersUrl,
        batchSize,
        maxConcurrency,
        functionName,
        queuesForItself,
        invoke: invoke(functionName),
      });
    }
    for (const [index, schedule] of runsSchedules ? stack.schedules.entries() : []) {
      const call = invoke(schedule.functionName);
      eventSources.schedule(schedule, index * firstCallGapMs, async (event) => {
        try {
          await call(event);
        } finally {
          await functions.get(schedule.functionName)?.endIfIdle();
        }
      });
    }

    if (dataFolder !== undefined) {
      await writeConnections(dataFolder, {
        url: api.url,
        mailbox: mailboxUrl,
        dynamodb: dynamodbEndpoint,
        aws: aws.url,
        stripe: stripe?.url,
        stackName: options.stackName,
        outputs: stack.outputs,
      });
    }
    // It is the first to stop, so that requests in flight still get their responses.
    started(api).serve(
      stack.routes.map(({ routeKey, functionName }) => ({ routeKey, invoke: invoke(functionName) })),
      { cors: corsOf(stack), hosts: allowedHosts, pages: mailbox.pages(mailboxPath) },
    );
    return {
      url: api.url,
      mailboxUrl,
      dynamodbEndpoint,
      sqsEndpoint,
      stripe,
      stack,
      functions,
      emails: mailbox.emails,
      advanceClock: (ms) => {
        clock[0] = (clock[0] ?? 0) + ms;
      },
      stop,
    };
  } catch (error) {
    await stop();
    await api.stop();
    throw error;
  }
}

/** Returns the variables with the addresses of all queues. */
function allQueueUrls({ functions }: StackDefinition): Record<string, string> {
  const variables = functions.flatMap(({ environment }) => Object.entries(environment));
  return Object.fromEntries(variables.filter(([name]) => name.endsWith("_QUEUE_URL")));
}

async function createTable({ table, expiry }: StackDefinition, dataServices: DataServices): Promise<void> {
  const { name: TableName, ...properties } = table;
  const input = { TableName, ...properties, BillingMode: "PAY_PER_REQUEST" };
  try {
    await dataServices.request("dynamodb", "CreateTable", input);
  } catch (error) {
    if (!(error instanceof ServiceError && error.type === "ResourceInUseException")) throw error;
    await addIndexes(table, dataServices);
  }
  if (expiry.TimeToLiveSpecification === undefined) return;
  try {
    await dataServices.request("dynamodb", "UpdateTimeToLive", { TableName, ...expiry });
  } catch (error) {
    // Expiry is on already, or this DynamoDB does not support it. Readers of expiring items check the time themselves.
    if (!(error instanceof ServiceError)) throw error;
  }
}

const Indexes = z.object({
  Table: z.object({ GlobalSecondaryIndexes: z._default(z.array(z.object({ IndexName: z.string() })), []) }),
});

/** Adds the indexes that a table of an earlier run does not have yet, as a deployment would. */
async function addIndexes(
  { name: TableName, AttributeDefinitions, GlobalSecondaryIndexes }: StackDefinition["table"],
  dataServices: DataServices,
): Promise<void> {
  const described = await dataServices.request("dynamodb", "DescribeTable", { TableName });
  const present = new Set(
    Indexes.parse(described).Table.GlobalSecondaryIndexes.map(({ IndexName }) => IndexName),
  );
  for (const Create of GlobalSecondaryIndexes.filter(({ IndexName }) => !present.has(IndexName))) {
    const GlobalSecondaryIndexUpdates = [{ Create }];
    const input = { TableName, AttributeDefinitions, GlobalSecondaryIndexUpdates };
    await dataServices.request("dynamodb", "UpdateTable", input);
  }
}

const CreatedQueue = z.object({ QueueUrl: z.string() });

/** Creates the missing queues. @returns the URL of each queue by its ARN */
async function createQueues(
  stack: StackDefinition,
  dataServices: DataServices,
): Promise<Map<string, string>> {
  const urls = new Map<string, string>();
  for (const { name, arn, attributes } of stack.queues) {
    const input = { QueueName: name, Attributes: attributes };
    const created = await dataServices.request("sqs", "CreateQueue", input);
    urls.set(arn, CreatedQueue.parse(created).QueueUrl);
  }
  return urls;
}
