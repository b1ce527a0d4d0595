import { once } from "node:events";
import { rm } from "node:fs/promises";
import { constants, setPriority } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

import * as z from "zod/mini";

import { startLocalGateway, type LocalGateway } from "../../infra/local/gateway.ts";
import { synthesizeLocalStack } from "../../infra/local/synthesize.ts";
import { createClient } from "../../shared/client.ts";
import { secondMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { changedAssembly } from "../support/changed-assembly.ts";
import { print } from "./gateway.ts";

// `npm run bench -- isolation`: what a customer notices of fifty clients of another organisation, which call without a pause:
// without a limit of requests, with one, and with one where the clients wait as they are told. There are no instances to
// be added here, as there are in AWS: what the clients' requests take of this machine they take of the customer's, refused
// ones too.

const runs = 3;
const clients = 50;
const requestsPerSecond = 20;
/** Requests of the customer, one after another. */
const samples = 100;
const pauseMs = 30;
/** Until all functions have started, and know whom they refuse. */
const warmUpMs = 4_000;

const Abuse = z.object({ url: z.string(), credential: z.string(), waitsAsTold: z.boolean() });
type Abuse = z.infer<typeof Abuse>;

const Counted = z.object({ requests: z.number(), refused: z.number(), tookSeconds: z.number() });

interface Way {
  readonly name: string;
  readonly limit?: number;
  readonly waitsAsTold?: boolean;
}

const ways: readonly Way[] = [
  { name: "no limit" },
  { name: "limit", limit: requestsPerSecond },
  { name: "limit, waits as told", limit: requestsPerSecond, waitsAsTold: true },
];

/** @returns whether no more of the clients' requests were let through than the limit and its bursts allow */
export async function benchmarkIsolation(): Promise<boolean> {
  print(columns(["", "p95 alone", "p95 beside", "times", "let through", "refused"]));
  let holds = true;
  for (const way of ways) {
    for (let run = 0; run < runs; run += 1) holds = (await measure(way)) && holds;
  }
  return holds;
}

function columns(cells: readonly (number | string)[]): string {
  return cells.map((cell, index) => String(cell).padEnd(index === 0 ? 22 : 12)).join("");
}

async function measure({ name, limit, waitsAsTold = false }: Way): Promise<boolean> {
  const { gateway, end } = await start(limit);
  try {
    const [customer, abusive] = [await register(gateway.url), await register(gateway.url)];
    await p95Of(gateway.url, customer);
    const alone = await p95Of(gateway.url, customer);
    const others = new Worker(new URL(import.meta.url), {
      workerData: { url: gateway.url, credential: abusive, waitsAsTold } satisfies Abuse,
    });
    const counted = once(others, "message");
    await delay(warmUpMs);
    const beside = await p95Of(gateway.url, customer);
    others.postMessage("end");
    const { requests, refused, tookSeconds } = Counted.parse((await counted)[0]);
    const letThrough = requests - refused;
    const milliseconds = [alone, beside].map((ms) => `${ms.toFixed(0)} ms`);
    print(columns([name, ...milliseconds, (beside / alone).toFixed(1), letThrough, refused]));
    if (limit === undefined) return true;
    // In each ten seconds the pace and its burst, and in each function that they call ten that it has not told of.
    const stretches = Math.ceil(tookSeconds / 10) + 1;
    return letThrough <= stretches * (12 * limit + 2 * 10) + clients;
  } finally {
    await end();
  }
}

/** A gateway whose functions have the limit. */
async function start(
  limit: number | undefined,
): Promise<{ gateway: LocalGateway; end: () => Promise<void> }> {
  const Environment = z.object({ Variables: z.record(z.string(), z.unknown()) });
  const limits = limit === undefined ? {} : { [environmentNames.requestsPerSecond]: String(limit) };
  const assembly = await changedAssembly(await synthesizeLocalStack(), ({ Type, Properties }) => {
    if (Type !== "AWS::Lambda::Function") return;
    const { Variables } = Environment.parse(Properties["Environment"]);
    Properties["Environment"] = { Variables: { ...Variables, ...limits } };
  });
  const gateway = await startLocalGateway({ ...assembly, port: 0, log: () => undefined });
  const end = async (): Promise<void> => {
    await gateway.stop();
    await rm(assembly.assemblyFolder, { recursive: true });
  };
  return { gateway, end };
}

/** @returns the API key of a customer who has money */
async function register(baseUrl: string): Promise<string> {
  const body = { email: `${crypto.randomUUID()}@example.com`, password: crypto.randomUUID() };
  const { token } = await createClient({ baseUrl }).register({ body });
  const client = createClient({ baseUrl, credential: token });
  await client.topUpWallet({ body: { amount: 100 } });
  return (await client.createApiKey({ body: {} })).secret;
}

/** How long 95 of a hundred requests of a customer take at the most: to look at the wallet, and to send. */
async function p95Of(baseUrl: string, credential: string): Promise<number> {
  const client = createClient({ baseUrl, credential });
  const tookMs: number[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    const startedAt = performance.now();
    if (sample % 2 === 0) await client.getWallet();
    else await client.sendSms({ body: { to: "15005550000", message: "hello", senderId: "ACME" } });
    tookMs.push(performance.now() - startedAt);
    await delay(pauseMs);
  }
  return tookMs.toSorted((a, b) => a - b)[Math.floor(samples * 0.95)] ?? 0;
}

/** What the other thread does: clients that call without a pause. */
async function abuse({ url, credential, waitsAsTold }: Abuse): Promise<void> {
  // They have machines of their own in truth: what the clients themselves need of this one comes last.
  setPriority(constants.priority.PRIORITY_LOW);
  const startedAt = performance.now();
  const over = new AbortController();
  parentPort?.once("message", () => over.abort());
  let requests = 0;
  let refused = 0;
  const client = async (index: number): Promise<void> => {
    const path = index % 2 === 0 ? "/v1/wallet" : "/v1/sms?limit=1";
    while (!over.signal.aborted) {
      const response = await fetch(url + path, { headers: { Authorization: `Bearer ${credential}` } });
      await response.text();
      requests += 1;
      if (response.status !== 429) continue;
      refused += 1;
      if (waitsAsTold) await delay(Number(response.headers.get("retry-after")) * secondMs);
    }
  };
  await Promise.all(Array.from({ length: clients }, async (_, index) => client(index)));
  const tookSeconds = (performance.now() - startedAt) / secondMs;
  parentPort?.postMessage({ requests, refused, tookSeconds });
}

if (!isMainThread) {
  await abuse(Abuse.parse(workerData));
}
