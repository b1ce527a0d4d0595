import { parentPort, workerData } from "node:worker_threads";

import * as z from "zod";

import type { Invocation, InvocationResult } from "./function-host.ts";

/*
 * The inside of a function's worker thread: what the Lambda runtime is in AWS. It loads the bundle once and
 * calls its handler for each event.
 */

if (parentPort === null) throw new Error("this file runs in a worker thread");
const port = parentPort;

const { bundleUrl, clock } = z
  .object({ bundleUrl: z.string(), clock: z.instanceof(Float64Array) })
  .parse(workerData);

const realNow = Date.now.bind(Date);
const now = (): number => realNow() + (clock[0] ?? 0);

/** The functions' clock, which a test can set forward while they run. */
globalThis.Date = new Proxy(Date, {
  construct: (target, args) => Reflect.construct(target, args.length === 0 ? [now()] : args),
  get: (target, property) => (property === "now" ? now : Reflect.get(target, property)),
});

const { handler } = z
  .object({ handler: z.custom<(event: unknown, context: unknown) => Promise<unknown>>(isFunction) })
  .parse(await import(bundleUrl));

port.on("message", (invocation: Invocation) => void invoke(invocation));

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

async function invoke({ id, event, deadline }: Invocation): Promise<void> {
  const context = {
    awsRequestId: id,
    functionName: process.env["AWS_LAMBDA_FUNCTION_NAME"],
    memoryLimitInMB: process.env["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"],
    getRemainingTimeInMillis: () => Math.max(0, deadline - realNow()),
  };
  try {
    reply({ id, value: await handler(event, context) });
  } catch (error) {
    reply({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

function reply(result: InvocationResult): void {
  port.postMessage(result);
}
