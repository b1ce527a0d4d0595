import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";

import * as z from "zod/mini";

import { projectRoot } from "../../infra/build/project-root.ts";
import { createClient, type Client } from "../../shared/api/client/client.ts";
import { newId } from "../../shared/platform/ids.ts";
import { freePort } from "../support/ports.ts";
import type { HttpCall } from "./http-load.ts";

/** A gateway as `npm start` runs it: in a separate process, with its data on the disk. */
export interface ServedGateway {
  readonly url: string;
  /** The CPU time and the memory of its processes. */
  usage(): Promise<ProcessUsage>;
  stop(): Promise<void>;
}

const Manifest = z.object({ scripts: z.object({ start: z.string().check(z.startsWith("node ")) }) });

/** @param folder the checkout that it is started from */
export async function serveGateway(folder = projectRoot): Promise<ServedGateway> {
  const port = await freePort();
  const dataFolder = await mkdtemp(path.join(tmpdir(), "sms-gateway-bench-"));
  const manifest = await readFile(path.join(folder, "package.json"), "utf8");
  const [, ...args] = Manifest.parse(JSON.parse(manifest)).scripts.start.split(" ");
  const server = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, PORT: String(port), DATA_DIR: dataFolder },
    stdio: ["ignore", "pipe", "inherit"],
  });
  // If a suite fails, the gateway may not remain.
  const killAtExit = (): void => void server.kill();
  process.once("exit", killAtExit);
  const exited = once(server, "exit");
  const lines = createInterface({ input: server.stdout });
  await new Promise<void>((resolve, reject) => {
    lines.on("line", (line) => line.includes("ready on") && resolve());
    exited.then(() => reject(new Error(`the gateway of ${folder} did not start`)), reject);
  });
  const { pid } = server;
  if (pid === undefined) throw new Error("the gateway has no process");
  return {
    url: `http://127.0.0.1:${port}`,
    usage: async () => usageOf(pid),
    stop: async () => {
      process.off("exit", killAtExit);
      server.kill("SIGINT");
      await exited;
      await rm(dataFolder, { recursive: true });
    },
  };
}

export interface ProcessUsage {
  /** CPU time. */
  readonly cpuMs: number;
  readonly memoryMegabytes: number;
}

/** Linux counts in hundredths of a second, in whatever unit a kernel counts by itself (proc(5)). */
const tickMs = 10;

/** Reads the usage of a process and its children, on Linux only. */
export async function usageOf(pid: number): Promise<ProcessUsage> {
  const folder = `/proc/${pid}`;
  const [stat, status, children] = await Promise.all(
    ["stat", "status", `task/${pid}/children`].map(async (name) =>
      readFile(path.join(folder, name), "utf8").catch(() => ""),
    ),
  );
  // After the name, which may contain blanks, the state follows, and the ticks as the 12th and 13th field.
  const fields = stat?.replace(/.*\) /s, "").split(" ").map(Number) ?? [];
  const kilobytes = Number(/^VmRSS:\s+(\d+)/m.exec(status ?? "")?.[1] ?? 0);
  const ofChildren = await Promise.all((children ?? "").split(" ").filter(Boolean).map(Number).map(usageOf));
  return [
    { cpuMs: ((fields[11] ?? 0) + (fields[12] ?? 0)) * tickMs, memoryMegabytes: kilobytes / 1_024 },
    ...ofChildren,
  ].reduce((sum, each) => ({
    cpuMs: sum.cpuMs + each.cpuMs,
    memoryMegabytes: sum.memoryMegabytes + each.memoryMegabytes,
  }));
}

/** A customer with money, who calls with an API key. */
export interface BenchmarkCustomer {
  readonly client: Client;
  readonly authorization: string;
}

const password = "correct horse battery";

export async function openCustomer(baseUrl: string): Promise<BenchmarkCustomer> {
  const body = { email: `${newId("usr")}@example.com`, password };
  const { token } = await createClient({ baseUrl }).register({ body });
  const { secret } = await createClient({ baseUrl, credential: token }).createApiKey();
  const client = createClient({ baseUrl, credential: secret });
  await client.topUpWallet({ body: { amount: 1_000 } });
  return { client, authorization: `Bearer ${secret}` };
}

/** The message that customers send. */
export const message = { to: "15005550000", message: "Your code is 123456", senderId: "ADASHOP" };

/** @param authorization of a customer */
export function sendCall({ url }: ServedGateway, authorization: string): HttpCall {
  return {
    method: "POST",
    url: `${url}/v1/sms/send`,
    headers: { authorization, "content-type": "application/json" },
    body: JSON.stringify(message),
  };
}
