import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";

import { freePort } from "../../infra/local/loopback.ts";
import { projectRoot } from "../../infra/project-root.ts";
import { createClient, type Client } from "../../shared/client.ts";
import { newId } from "../../shared/platform/ids.ts";

/** A gateway as `npm start` runs it: in a process of its own, with its data on the disk. */
export interface ServedGateway {
  readonly url: string;
  stop(): Promise<void>;
}

/** @param folder the checkout that it is started from */
export async function serveGateway(folder = projectRoot): Promise<ServedGateway> {
  const port = await freePort();
  const dataFolder = await mkdtemp(path.join(tmpdir(), "sms-gateway-bench-"));
  const server = spawn(process.execPath, ["--optimize-for-size", "infra/local/start.ts"], {
    cwd: folder,
    env: { ...process.env, PORT: String(port), DATA_DIR: dataFolder },
    stdio: ["ignore", "pipe", "inherit"],
  });
  // Should a suite fail, the gateway must not stay behind.
  const killAtExit = (): void => void server.kill();
  process.once("exit", killAtExit);
  const exited = once(server, "exit");
  const lines = createInterface({ input: server.stdout });
  await new Promise<void>((resolve, reject) => {
    lines.on("line", (line) => line.includes("ready on") && resolve());
    exited.then(() => reject(new Error(`the gateway of ${folder} did not start`)), reject);
  });
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      process.off("exit", killAtExit);
      server.kill("SIGINT");
      await exited;
      await rm(dataFolder, { recursive: true });
    },
  };
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
