import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Worker } from "node:worker_threads";

import * as z from "zod";

import { findDynoxide } from "./dynoxide.ts";
import { freePort, waitForPort } from "./loopback.ts";

/** A service of AWS as it stands in on this machine. */
export interface Emulator {
  readonly endpoint: string;
  stop(): Promise<void>;
}

const startTimeoutMs = 10_000;
const stopTimeoutMs = 5_000;

/**
 * DynamoDB: the one at `DYNAMODB_ENDPOINT`, or an embedded one that keeps its data in the folder, if any.
 * @param log is told when the embedded one must be fetched first
 */
export async function startDynamoDb(
  dataFolder: string | undefined,
  log: (line: string) => void,
): Promise<Emulator> {
  const external = process.env["DYNAMODB_ENDPOINT"];
  if (external !== undefined) return externalEmulator(external);
  const port = await freePort();
  const storage = dataFolder === undefined ? [] : ["--db-path", path.join(dataFolder, "dynamodb.sqlite")];
  const server = spawn(await findDynoxide(log), ["serve", "--port", String(port), ...storage], {
    stdio: ["ignore", "ignore", "pipe"],
    // A signal to the terminal's process group must not end it before the gateway has let go of it.
    detached: true,
    windowsHide: true,
  });
  // Should this process end without stopping it, the emulator must not stay behind.
  const killAtExit = (): void => void server.kill();
  process.once("exit", killAtExit);
  let said = "";
  server.stderr.on("data", (text: Buffer) => {
    said = (said + text.toString()).slice(-1_000);
  });
  const exited = once(server, "exit");
  await Promise.race([
    waitForPort(port, startTimeoutMs),
    exited.then(() => {
      throw new Error(`the embedded DynamoDB ended while it started: ${said}`);
    }),
  ]);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    stop: async () => {
      process.off("exit", killAtExit);
      server.kill("SIGTERM");
      const hung = delay(stopTimeoutMs, "hung", { ref: false });
      if ((await Promise.race([exited, hung])) === "hung") server.kill("SIGKILL");
    },
  };
}

/** SQS: the one at `SQS_ENDPOINT`, or an embedded one that keeps its messages in the folder, if any. */
export async function startSqs(dataFolder: string | undefined): Promise<Emulator> {
  const external = process.env["SQS_ENDPOINT"];
  if (external !== undefined) return externalEmulator(external);
  const worker = new Worker(new URL("sqs/thread.ts", import.meta.url), { workerData: { dataFolder } });
  const [endpoint] = z.tuple([z.string()]).parse(await once(worker, "message"));
  return {
    endpoint,
    stop: async () => {
      worker.postMessage("stop");
      await once(worker, "exit");
    },
  };
}

function externalEmulator(endpoint: string): Emulator {
  return { endpoint, stop: async () => undefined };
}
