import { once } from "node:events";
import { MessageChannel, Worker, type MessagePort } from "node:worker_threads";

import * as z from "zod/mini";

import { withTrace, type Permissions } from "./aws-requests.ts";
import { localCredentials, localRegion } from "./connections.ts";
import { StorePort, type Service, type ServiceResponse } from "./store/port.ts";
import { ServiceError } from "./store/service-error.ts";
import type { StoreThreadData, StoreThreadMessage } from "./store/thread.ts";
import { buildThreads, storeThreadFile } from "./threads.ts";

const targets = { dynamodb: "DynamoDB_20120810", sqs: "AmazonSQS" };

const Failure = z.object({ __type: z.string(), message: z._default(z.string(), "") });

/** A port to the store for a function, to be passed to the function's thread. */
export interface FunctionPort {
  readonly port: MessagePort;
  readonly services: ReadonlySet<Service>;
}

/** DynamoDB and SQS: at `DYNAMODB_ENDPOINT` and `SQS_ENDPOINT`, otherwise in the local store's thread. */
export class DataServices {
  readonly dynamodbEndpoint: string;
  readonly sqsEndpoint: string;
  /** The services that the local store emulates. */
  readonly #services: ReadonlySet<Service>;
  readonly #thread: Worker | undefined;
  readonly #port: StorePort | undefined;
  readonly #ended: Promise<unknown>;

  private constructor(external: Partial<Record<Service, string>>, store?: { thread: Worker; url: string }) {
    this.dynamodbEndpoint = external.dynamodb ?? store?.url ?? "";
    this.sqsEndpoint = external.sqs ?? store?.url ?? "";
    this.#services = embedded(external);
    this.#thread = store?.thread;
    this.#ended = store === undefined ? Promise.resolve() : once(store.thread, "exit");
    const port = this.#openPort();
    this.#port = port && new StorePort(port, this.#services);
  }

  /**
   * @param dataFolder where data stays between runs; without it the data is in memory
   * @param clock how many milliseconds the functions' clock is ahead: items expire by that clock
   * @param isSecret whether only programs that know the address may use the store
   */
  static async start(
    dataFolder?: string,
    clock: Float64Array = new Float64Array(1),
    isSecret = true,
  ): Promise<DataServices> {
    const { DYNAMODB_ENDPOINT: dynamodb, SQS_ENDPOINT: sqs } = process.env;
    const external = {
      ...(dynamodb === undefined ? {} : { dynamodb }),
      ...(sqs === undefined ? {} : { sqs }),
    };
    await buildThreads();
    if (embedded(external).size === 0) return new DataServices(external);
    const workerData: StoreThreadData = { dataFolder, clock, isSecret };
    // With the variable of watch mode, Node would report the files that the thread loads as its first messages.
    const { WATCH_REPORT_DEPENDENCIES: _, ...env } = process.env;
    const thread = new Worker(storeThreadFile, { workerData, env });
    const [url] = z.tuple([z.string()]).parse(await once(thread, "message"));
    return new DataServices(external, { thread, url });
  }

  /** Opens a port for a function; undefined where both services are external. */
  openPort(permissions: Permissions): FunctionPort | undefined {
    const port = this.#openPort(permissions);
    return port && { port, services: this.#services };
  }

  /**
   * Sends a request with all permissions. An error of the service is a response too.
   * @param signal ends a wait for messages
   * @throws Error when the service cannot be reached
   */
  async send(
    service: Service,
    operation: string,
    body: string,
    traceId?: string,
    signal?: AbortSignal,
  ): Promise<ServiceResponse> {
    if (this.#port?.services.has(service) === true) {
      return this.#port.send(service, operation, body, traceId, signal);
    }
    const endpoint = service === "sqs" ? this.sqsEndpoint : this.dynamodbEndpoint;
    const isTraced = service === "sqs" && traceId !== undefined;
    const response = await fetch(endpoint, {
      method: "POST",
      headers: headersOf(service, operation),
      body: isTraced ? JSON.stringify(withTrace(JSON.parse(body), traceId)) : body,
      ...(signal === undefined ? {} : { signal }),
    });
    return { status: response.status, body: await response.text() };
  }

  /**
   * Sends a request of the gateway itself.
   * @returns the operation's output
   * @throws ServiceError with the service's own error
   */
  async request(service: Service, operation: string, input: object, signal?: AbortSignal): Promise<unknown> {
    const { status, body } = await this.send(service, operation, JSON.stringify(input), undefined, signal);
    if (status === 200) return JSON.parse(body);
    const { __type: type, message } = Failure.parse(JSON.parse(body));
    throw new ServiceError(type.replace(/^.*#/, ""), message);
  }

  async stop(): Promise<void> {
    this.#thread?.postMessage("stop" satisfies StoreThreadMessage);
    await this.#ended;
  }

  #openPort(permissions?: Permissions): MessagePort | undefined {
    if (this.#thread === undefined) return undefined;
    const { port1, port2 } = new MessageChannel();
    const message: StoreThreadMessage = { port: port1, permissions };
    this.#thread.postMessage(message, [port1]);
    return port2;
  }
}

/** Returns the services without an external address. */
function embedded(external: Partial<Record<Service, string>>): ReadonlySet<Service> {
  const services: Service[] = ["dynamodb", "sqs"];
  return new Set(services.filter((service) => external[service] === undefined));
}

/**
 * Returns headers with one access key for all requests, as a plain DynamoDB Local keeps a database for each key. The
 * signature is a dummy: emulators of AWS do not check it.
 */
function headersOf(service: Service, operation: string): Record<string, string> {
  const time = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const scope = `${time.slice(0, 8)}/${localRegion}/${service}/aws4_request`;
  return {
    "content-type": "application/x-amz-json-1.0",
    "x-amz-target": `${targets[service]}.${operation}`,
    "x-amz-date": time,
    authorization:
      `AWS4-HMAC-SHA256 Credential=${localCredentials.accessKeyId}/${scope}, ` +
      `SignedHeaders=host;x-amz-date;x-amz-target, Signature=${"0".repeat(64)}`,
  };
}
