import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import path from "node:path";
import { text } from "node:stream/consumers";
import { parentPort, workerData, type MessagePort } from "node:worker_threads";

import { accessDenied, withTrace, type Permissions } from "../aws-requests.ts";
import { listenOnLoopback } from "../loopback.ts";
import { Database } from "./database.ts";
import { Messages } from "./messages.ts";
import {
  Outbox,
  type PortResponse,
  type PortRequest,
  type ServiceResponse,
  type ServiceRequest,
} from "./port.ts";
import { Queues } from "./queues.ts";
import { ServiceError } from "./service-error.ts";
import { Tables } from "./tables.ts";

/*
 * The thread of the local store: DynamoDB and SQS over one database. The gateway and its functions ask it through message
 * ports, all others at an HTTP address.
 */

/** What the thread is started with. */
export interface StoreThreadData {
  /** Where the data stays between runs, if anywhere. */
  readonly dataFolder: string | undefined;
  /** How many milliseconds the functions are ahead of the time. */
  readonly clock: Float64Array;
}

/** The thread's instructions: open a port with these permissions (all of them if none are given), or end. */
export type StoreThreadMessage =
  | { readonly port: MessagePort; readonly permissions: Permissions | undefined }
  | "stop";

/** Expired items are removed so many at once, so that requests do not wait for it, with pauses between. */
const maxExpiredAtOnce = 500;
const expiryPauseMs = 200;
const expiryIntervalMs = 30_000;

if (parentPort === null) throw new Error("this file runs in a worker thread");
const main = parentPort;
const { dataFolder, clock }: StoreThreadData = workerData;

// A connection that is kept is closed by the client alone: a request must not cross with its end.
const server = createServer(
  { keepAliveTimeout: 0 },
  (request, response) => void serveHttp(request, response),
);
const url = `http://127.0.0.1:${await listenOnLoopback(server)}`;
const database = new Database(dataFolder === undefined ? undefined : path.join(dataFolder, "aws.sqlite"));
const tables = new Tables(database);
const queues = new Queues(new Messages(database), url);
let expiry = setTimeout(removeExpired);

main.on("message", (message: StoreThreadMessage) => {
  if (message === "stop") stop();
  else servePort(message.port, message.permissions);
});
main.postMessage(url);

function removeExpired(): void {
  const nowSeconds = Math.floor((Date.now() + (clock[0] ?? 0)) / 1_000);
  const removed = tables.removeExpired(nowSeconds, maxExpiredAtOnce);
  expiry = setTimeout(removeExpired, removed < maxExpiredAtOnce ? expiryIntervalMs : expiryPauseMs);
}

function stop(): void {
  clearTimeout(expiry);
  queues.close();
  server.close();
  server.closeAllConnections();
  // What the queues have not written yet is a change too.
  database.beginWrite();
  database.commit();
  database.close();
  process.exit();
}

function servePort(port: MessagePort, permissions: Permissions | undefined): void {
  const outbox = new Outbox<PortResponse>(port);
  const underWay = new Map<number, AbortController>();
  const serve = async (id: number, request: ServiceRequest): Promise<void> => {
    const cancelled = new AbortController();
    underWay.set(id, cancelled);
    outbox.post({ id, ...(await execute(request, permissions, cancelled.signal)) });
    underWay.delete(id);
  };
  port.on("message", (messages: readonly PortRequest[]) => {
    for (const message of messages) {
      if ("isCancelled" in message) underWay.get(message.id)?.abort();
      else void serve(message.id, message);
    }
  });
  port.on("close", () => {
    for (const cancelled of underWay.values()) cancelled.abort();
  });
}

async function serveHttp(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  try {
    const [target, operation = ""] = String(request.headers["x-amz-target"]).split(".");
    const service = target === "AmazonSQS" ? "sqs" : "dynamodb";
    const body = await text(request);
    const answered = await execute({ service, operation, body }, undefined, gone.signal);
    const headers = { "content-type": "application/x-amz-json-1.0" };
    response.writeHead(answered.status, headers).end(answered.body);
  } catch {
    // The client has gone before its request was complete.
    response.destroy();
  }
}

/** Carries out a request, and answers when what it has changed, or has seen of others' changes, is on the disk. */
async function execute(
  { service, operation, body, traceId }: ServiceRequest,
  permissions: Permissions | undefined,
  signal: AbortSignal,
): Promise<ServiceResponse> {
  let answered: ServiceResponse;
  try {
    const input: object = JSON.parse(body);
    const refusal = permissions && accessDenied(permissions, `${service}:${operation}`, input);
    if (refusal !== undefined) return { status: refusal.status, body: refusal.body };
    const isTraced = service === "sqs" && traceId !== undefined;
    const output =
      service === "sqs"
        ? await queues.execute(operation, isTraced ? withTrace(input, traceId) : input, signal)
        : tables.execute(operation, input);
    answered = { status: 200, body: JSON.stringify(output) };
  } catch (error) {
    // After a write has failed the store answers nothing: the thread ends with the cause, and the gateway with it.
    const cause = database.failure;
    if (cause !== undefined) {
      setImmediate(() => {
        throw cause;
      });
    }
    answered = failure(service, error);
  }
  if (service === "dynamodb") await committed();
  return answered;
}

async function committed(): Promise<void> {
  return new Promise((resolve) => {
    database.whenCommitted(resolve);
  });
}

const namespaces = { dynamodb: "com.amazonaws.dynamodb.v20120810", sqs: "com.amazonaws.sqs" };

function failure(service: ServiceRequest["service"], error: unknown): ServiceResponse {
  if (!(error instanceof ServiceError)) {
    return { status: 500, body: JSON.stringify({ __type: "InternalServerError", message: String(error) }) };
  }
  const { type, message, details } = error;
  return {
    status: 400,
    body: JSON.stringify({ __type: `${namespaces[service]}#${type}`, message, ...details }),
  };
}
