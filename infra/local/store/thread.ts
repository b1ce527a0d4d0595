import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import path from "node:path";
import { text } from "node:stream/consumers";
import { parentPort, workerData, type MessagePort } from "node:worker_threads";

import { accessDenied, rejectionOfStranger, withTrace, type Permissions } from "../aws-requests.ts";
import { storeFile } from "../data-folder.ts";
import { listenOnLoopback, newSecretPath } from "../loopback.ts";
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
 * The thread of the local store: DynamoDB and SQS over one database. The gateway and its functions reach it through
 * message ports, other programs at an HTTP address.
 */

/** The data with which the thread starts. */
export interface StoreThreadData {
  /** Where data stays between runs; without it the data is in memory. */
  readonly dataFolder: string | undefined;
  /** How many milliseconds the functions' clock is ahead. */
  readonly clock: Float64Array;
  /** Whether only programs that know the address may use the store. */
  readonly isSecret: boolean;
}

/** A command to the thread: to serve a port with these permissions (by default all), or to end. */
export type StoreThreadMessage =
  | { readonly port: MessagePort; readonly permissions: Permissions | undefined }
  | "stop";

/** The most expired items to remove without a pause, so that requests need not wait long. */
const maxExpiredAtOnce = 500;
const expiryPauseMs = 200;
const expiryIntervalMs = 30_000;

if (parentPort === null) throw new Error("this file runs in a worker thread");
const main = parentPort;
const { dataFolder, clock, isSecret }: StoreThreadData = workerData;

// Only the client closes an idle connection: otherwise a request could arrive as the server closes it.
const server = createServer(
  { keepAliveTimeout: 0 },
  (request, response) => void serveHttp(request, response),
);
const secretPath = isSecret ? newSecretPath() : "";
const url = `http://127.0.0.1:${await listenOnLoopback(server)}${secretPath}`;
const database = new Database(dataFolder === undefined ? undefined : path.join(dataFolder, storeFile));
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
  // The next commit also writes the pending changes of the queues.
  database.beginWrite();
  database.close();
  process.exit();
}

function servePort(port: MessagePort, permissions: Permissions | undefined): void {
  const outbox = new Outbox<PortResponse>(port);
  const inFlight = new Map<number, AbortController>();
  const report = (group: number): void => {
    database.whenKept(group, () => outbox.post({ keptGroup: database.keptGroup }));
  };
  const serve = async (id: number, request: ServiceRequest): Promise<void> => {
    const cancelled = new AbortController();
    inFlight.set(id, cancelled);
    const response = await execute(request, permissions, cancelled.signal);
    const group = database.unkeptGroup;
    // A function's thread itself waits for the disk, before anything leaves it. A deletion of messages shows nothing.
    if (permissions === undefined && request.operation !== "DeleteMessageBatch") await kept();
    // Mostly a function waits for the disk right after it has queued a job.
    const isReported = request.service === "sqs" && permissions !== undefined && group !== undefined;
    outbox.post({ id, ...response, group, isReported, keptGroup: database.keptGroup });
    if (isReported) report(group);
    inFlight.delete(id);
  };
  port.on("message", (messages: readonly PortRequest[]) => {
    for (const message of messages) {
      if ("isCancelled" in message) inFlight.get(message.id)?.abort();
      else if ("group" in message) report(message.group);
      else void serve(message.id, message);
    }
  });
  port.on("close", () => {
    for (const cancelled of inFlight.values()) cancelled.abort();
  });
}

async function serveHttp(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  try {
    const [target, operation = ""] = String(request.headers["x-amz-target"]).split(".");
    const service = target === "AmazonSQS" ? "sqs" : "dynamodb";
    const body = await text(request);
    const result =
      rejectionOfStranger(request, secretPath) ??
      (await execute({ service, operation, body }, undefined, gone.signal));
    await kept();
    const headers = { "content-type": "application/x-amz-json-1.0" };
    response.writeHead(result.status, headers).end(result.body);
  } catch {
    // The client has closed the connection before its request was complete.
    response.destroy();
  }
}

/** Executes a request. The response may show writes that the disk does not have yet. */
async function execute(
  { service, operation, body, traceId }: ServiceRequest,
  permissions: Permissions | undefined,
  signal: AbortSignal,
): Promise<ServiceResponse> {
  try {
    const input: object = JSON.parse(body);
    const denied = permissions && accessDenied(permissions, `${service}:${operation}`, input);
    if (denied !== undefined) return { status: denied.status, body: denied.body };
    const isTraced = service === "sqs" && traceId !== undefined;
    const output =
      service === "sqs"
        ? await queues.execute(operation, isTraced ? withTrace(input, traceId) : input, signal)
        : tables.execute(operation, input);
    return { status: 200, body: JSON.stringify(output) };
  } catch (error) {
    // After a failed write the thread ends with the cause, and the gateway with it.
    const cause = database.failure;
    if (cause !== undefined) {
      setImmediate(() => {
        throw cause;
      });
    }
    return failure(service, error);
  }
}

/** Resolves when the disk has all writes so far. */
async function kept(): Promise<void> {
  const group = database.unkeptGroup;
  if (group === undefined) return;
  await new Promise<void>((resolve) => {
    database.whenKept(group, resolve);
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
