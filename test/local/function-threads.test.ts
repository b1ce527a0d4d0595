import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { DataServices } from "../../infra/local/data-services.ts";
import { FunctionHost, maxIdleMs, type FunctionsAws } from "../../infra/local/function-host.ts";
import { patience } from "../support/patience.ts";

const portName = 'Symbol.for("sms-gateway.aws-port")';

let folder: string;
let log: string[];
const cleanUps: (() => Promise<void>)[] = [];

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "sms-gateway-"));
  log = [];
});
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
  await rm(folder, { recursive: true });
});

/** A function whose handler has this body, which shares `state` with its other calls. */
async function functionOf(
  body: string,
  aws: FunctionsAws = { endpoint: "http://127.0.0.1:1" },
): Promise<FunctionHost> {
  const bundleFile = path.join(folder, "index.mjs");
  await writeFile(bundleFile, `const state = {}; export async function handler(event) { ${body} }`);
  const definition = {
    name: "Example",
    description: "Permissions: an example",
    bundleFile,
    environment: {},
    timeoutSeconds: 900,
    memoryMegabytes: 128,
    queuesForItself: false,
    statements: [],
  };
  const host = new FunctionHost(definition, aws, new Float64Array(1), (line) => log.push(line));
  cleanUps.push(async () => host.kill());
  return host;
}

it("lines are logged as they were written, in their order and before the result", async () => {
  const host = await functionOf(`
    process.stdout.write("one\\ntw");
    process.stdout.write(Buffer.from("o é\\n"));
    console.error("three");
    await new Promise((resolve) => process.stdout.write("four\\n", resolve));`);
  await host.invoke({});
  expect(log).toEqual(["one", "two é", "three", "four"]);
});

it.each([
  [
    "an error that nothing catches",
    'setImmediate(() => { console.log("last"); throw new Error("crash"); });',
  ],
  ["its exit", 'console.log("last"); process.exit(1);'],
])("lines that a function wrote before %s are not lost", async (_, crash) => {
  const host = await functionOf(`console.log("first"); ${crash} await new Promise(() => {});`);
  await expect(host.invoke({})).rejects.toThrow(/crash|Example ended/);
  await vi.waitFor(() => expect(log).toEqual(["first", "last"]), patience);
});

it("a function finds its port to the local store, which checks its role", async () => {
  const services = await DataServices.start();
  cleanUps.push(async () => services.stop());
  const ask = `const { services, send } = globalThis[${portName}];
    const answer = await globalThis[${portName}].send("sqs", "SendMessage", '{"QueueUrl":"/Sends"}', undefined);
    return [[...services], answer];`;
  const openPort = services.openPort.bind(services);
  const host = await functionOf(ask, { endpoint: "http://127.0.0.1:1", openPort });
  expect(await host.invoke({})).toEqual([
    ["dynamodb", "sqs"],
    { status: 400, body: expect.stringContaining("sqs:SendMessage on Sends. Permissions: an example") },
  ]);
});

it("a function has no port where all requests go to the endpoint", async () => {
  const host = await functionOf(`return ${portName} in globalThis;`);
  expect(await host.invoke({})).toBe(false);
});

it("calls that one instance serves at the same time are separate", async () => {
  // Each call responds once both have arrived, with the header that the SDK would send.
  const host = await functionOf(`
    state.both ??= Promise.withResolvers();
    state.calls = (state.calls ?? 0) + 1;
    if (state.calls === 2) state.both.resolve();
    await state.both.promise;
    return globalThis.awslambda.InvokeStore.getXRayTraceId();`);
  const calls = ["Lineage=A:1", "Lineage=B:2"].map(async (chain) => host.invoke({}, chain));
  expect(await Promise.all(calls)).toEqual(["Lineage=A:1", "Lineage=B:2"]);
});

it("a thread ends when its function is not called for a while, and never during a call", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  cleanUps.push(async () => void vi.useRealTimers());
  const host = await functionOf(`
    globalThis.calls = (globalThis.calls ?? 0) + 1;
    if (event.waits) await new Promise((resolve) => { globalThis.end = resolve; });
    else globalThis.end?.();
    return globalThis.calls;`);
  expect(await host.invoke({})).toBe(1);
  vi.advanceTimersByTime(maxIdleMs - 1);
  expect(await host.invoke({})).toBe(2);
  vi.advanceTimersByTime(maxIdleMs - 1);
  await host.endIfIdle();
  expect(await host.invoke({})).toBe(1);
  vi.advanceTimersByTime(maxIdleMs - 1);
  expect(await host.invoke({})).toBe(2);
  vi.advanceTimersByTime(maxIdleMs);
  expect(await host.invoke({})).toBe(1);
  const waiting = host.invoke({ waits: true });
  vi.advanceTimersByTime(maxIdleMs);
  await host.endIfIdle();
  expect(await host.invoke({})).toBe(3);
  expect(await waiting).toBe(3);
});

it("a result that is not JSON fails its call only", async () => {
  const host = await functionOf('return event.isBad ? 1n : "good";');
  const [bad, good] = await Promise.allSettled([host.invoke({ isBad: true }), host.invoke({})]);
  expect([bad.status, good]).toEqual(["rejected", { status: "fulfilled", value: "good" }]);
});
