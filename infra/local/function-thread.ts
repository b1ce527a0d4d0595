import { AsyncLocalStorage } from "node:async_hooks";
import { parentPort, workerData } from "node:worker_threads";

import type { FunctionMessage, FunctionThreadData, Invocation } from "./function-host.ts";
import { holdRequests } from "./held-requests.ts";
import { StorePort } from "./store/port.ts";

/*
 * The code inside a function's worker thread, in place of AWS's Lambda runtime. It loads the bundle once and calls its
 * handler for each event. Each thread loads its own copy of all imports, so this file imports little.
 */

if (parentPort === null) throw new Error("this file runs in a worker thread");
const port = parentPort;

const { bundleUrl, clock, store }: FunctionThreadData = workerData;

const realNow = Date.now.bind(Date);
const now = (): number => realNow() + (clock[0] ?? 0);

/** The functions' clock, which a test can advance while they run. */
globalThis.Date = new Proxy(Date, {
  construct: (target, args) => Reflect.construct(target, args.length === 0 ? [now()] : args),
  get: (target, property) => (property === "now" ? now : Reflect.get(target, property)),
});

const traceIds = new AsyncLocalStorage<string | undefined>();

/** Holds the trace of the current call for the functions' AWS client, as Lambda's runtime does. */
Object.assign(globalThis, { awslambda: { InvokeStore: { getXRayTraceId: () => traceIds.getStore() } } });

// For AWS over plain HTTP, the client imports node:http. That reads all properties of the module. These properties, which no function uses, load another HTTP client, which doubles the time to start a thread.
const http = process.getBuiltinModule("node:http");
for (const name of ["CloseEvent", "MessageEvent", "WebSocket"]) Reflect.deleteProperty(http, name);

/** Gives the functions' AWS client a way to the local store without HTTP. */
const storePort = store && new StorePort(store.port, store.services);
if (storePort !== undefined) {
  Object.assign(globalThis, { [Symbol.for("sms-gateway.aws-port")]: storePort });
  holdRequests(http, storePort);
}

/** Messages that wait until the disk has what they may show, and the group of writes that each waits for. */
const held: { readonly group: number; readonly message: FunctionMessage; readonly isUrgent: boolean }[] = [];

/** Lines that the function has written and the thread has not sent yet. */
let lines: string[] = [];
/** The unfinished last line of each stream. */
const beginnings = new Map([process.stdout, process.stderr].map((stream) => [stream, ""]));

for (const stream of beginnings.keys()) {
  const decoder = new TextDecoder();
  const write = (chunk: Uint8Array | string, ...more: unknown[]): boolean => {
    const text = typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    const whole = `${beginnings.get(stream)}${text}`.split("\n");
    beginnings.set(stream, whole.pop() ?? "");
    if (lines.length === 0) queueMicrotask(sendLines);
    lines.push(...whole);
    const written = more.at(-1);
    if (typeof written === "function") queueMicrotask(() => written());
    return true;
  };
  Object.assign(stream, { write });
}
// An uncaught error ends the thread before the microtasks run. Its last lines do not wait for the disk.
process.once("exit", () => {
  sendLines();
  port.postMessage(held.flatMap(({ message }) => ("lines" in message ? message : [])));
});

function sendLines(): void {
  if (lines.length > 0) post({ lines }, { isUrgent: false });
  lines = [];
}

const { handler }: { handler: (event: unknown, context: unknown) => Promise<unknown> } = await import(
  bundleUrl
);

port.on("message", (invocation: Invocation) => void invoke(invocation));

async function invoke({ id, event, traceId, deadline }: Invocation): Promise<void> {
  const context = {
    awsRequestId: id,
    functionName: process.env["AWS_LAMBDA_FUNCTION_NAME"],
    memoryLimitInMB: process.env["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"],
    getRemainingTimeInMillis: () => Math.max(0, deadline - realNow()),
  };
  try {
    const value = await traceIds.run(traceId, async () => handler(JSON.parse(event), context));
    // Only a call with messages of a queue has a trace. Its result lets the gateway delete them, and no person waits for that.
    post({ id, value: JSON.stringify(value) }, { isUrgent: traceId === undefined });
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    post({ id, error: text }, { isUrgent: true });
  }
}

/** Posts a message after all earlier ones, when the disk has what it may show. */
function post(message: FunctionMessage, { isUrgent }: { readonly isUrgent: boolean }): void {
  if (storePort === undefined || (held.length === 0 && storePort.isKept())) {
    port.postMessage([message]);
    return;
  }
  held.push({ group: storePort.seenGroup, message, isUrgent });
  if (held.length === 1) void postHeld(storePort);
  // The disk need not wait until the earlier messages have left.
  else if (isUrgent) void storePort.kept();
}

async function postHeld(heldBy: StorePort): Promise<void> {
  for (let [first] = held; first !== undefined; [first] = held) {
    await (first.isUrgent ? heldBy.kept(first.group) : heldBy.keptSoon(first.group));
    const waiting = held.findIndex(({ group }) => !heldBy.isKept(group));
    const ready = held.splice(0, waiting === -1 ? held.length : waiting).map(({ message }) => message);
    port.postMessage(ready);
  }
}
