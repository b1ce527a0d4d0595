import { AsyncLocalStorage } from "node:async_hooks";
import { parentPort, workerData } from "node:worker_threads";

import type { FunctionMessage, FunctionThreadData, Invocation } from "./function-host.ts";
import { StorePort } from "./store/port.ts";

/*
 * The inside of a function's worker thread: what the Lambda runtime is in AWS. It loads the bundle once and
 * calls its handler for each event. Each thread loads anew what it imports, so that this is no more than it needs.
 */

if (parentPort === null) throw new Error("this file runs in a worker thread");
const port = parentPort;

const { bundleUrl, clock, store }: FunctionThreadData = workerData;

const realNow = Date.now.bind(Date);
const now = (): number => realNow() + (clock[0] ?? 0);

/** The functions' clock, which a test can set forward while they run. */
globalThis.Date = new Proxy(Date, {
  construct: (target, args) => Reflect.construct(target, args.length === 0 ? [now()] : args),
  get: (target, property) => (property === "now" ? now : Reflect.get(target, property)),
});

const traceIds = new AsyncLocalStorage<string | undefined>();

/** Where the functions' AWS client reads the trace of the present call, as in Lambda's own runtime. */
Object.assign(globalThis, { awslambda: { InvokeStore: { getXRayTraceId: () => traceIds.getStore() } } });

// Where AWS is reached over plain HTTP, the client imports node:http. Such an import reads all that the module has,
// and these, which no function uses, load another HTTP client: as much work as all else that a thread begins with.
const http = process.getBuiltinModule("node:http");
for (const name of ["CloseEvent", "MessageEvent", "WebSocket"]) Reflect.deleteProperty(http, name);

/** How the functions' AWS client asks the local store past any HTTP. */
if (store !== undefined) {
  Object.assign(globalThis, {
    [Symbol.for("sms-gateway.aws-port")]: new StorePort(store.port, store.services),
  });
}

/** The lines that the function has written and its host has not been sent, and the beginning of the next on each stream. */
let lines: string[] = [];
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
// An error that nothing has caught ends the thread before the microtasks run.
process.once("exit", sendLines);

function sendLines(): void {
  if (lines.length > 0) post({ lines });
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
    post({ id, value: await traceIds.run(traceId, async () => handler(event, context)) });
  } catch (error) {
    post({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

function post(message: FunctionMessage): void {
  port.postMessage(message);
}
