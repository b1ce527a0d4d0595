import { AsyncLocalStorage } from "node:async_hooks";
import { parentPort, workerData } from "node:worker_threads";

import { askEmulatorsDirectly } from "./direct-requests.ts";
import type { FunctionThreadData, Invocation, InvocationResult } from "./function-host.ts";

/*
 * The inside of a function's worker thread: what the Lambda runtime is in AWS. It loads the bundle once and
 * calls its handler for each event. Each thread loads anew what it imports, so that this is no more than it needs.
 */

if (parentPort === null) throw new Error("this file runs in a worker thread");
const port = parentPort;

const { bundleUrl, clock, directAccess }: FunctionThreadData = workerData;

const realNow = Date.now.bind(Date);
const now = (): number => realNow() + (clock[0] ?? 0);

/** The functions' clock, which a test can set forward while they run. */
globalThis.Date = new Proxy(Date, {
  construct: (target, args) => Reflect.construct(target, args.length === 0 ? [now()] : args),
  get: (target, property) => (property === "now" ? now : Reflect.get(target, property)),
});

const traceIds = new AsyncLocalStorage<string | undefined>();

/** Where the SDK, since a runtime may serve calls side by side, asks for what belongs to the call that it is used in. */
Object.assign(globalThis, { awslambda: { InvokeStore: { getXRayTraceId: () => traceIds.getStore() } } });

// Here AWS is reached over plain HTTP, for which the SDK imports node:http. Such an import reads all that the module has,
// and these, which no function uses, load another HTTP client: as much work as all else that a thread begins with.
const http = process.getBuiltinModule("node:http");
for (const name of ["CloseEvent", "MessageEvent", "WebSocket"]) Reflect.deleteProperty(http, name);
if (directAccess !== undefined) askEmulatorsDirectly(http, directAccess);

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
    reply({ id, value: await traceIds.run(traceId, async () => handler(event, context)) });
  } catch (error) {
    reply({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

function reply(result: InvocationResult): void {
  port.postMessage(result);
}
