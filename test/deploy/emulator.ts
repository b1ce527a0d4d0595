import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, open } from "node:fs/promises";
import path from "node:path";

import { projectRoot } from "../../infra/project-root.ts";
import { freePort, waitForPort } from "../support/ports.ts";
import { pythonPrograms } from "../support/python.ts";

/** What a run leaves behind, to be looked at. */
export const workFolder = path.join(projectRoot, ".build/deploy");

const startTimeoutMs = 60_000;

export interface Emulator {
  /** The environment variables that lead the AWS SDK and the CDK to it, as the root user of its account. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/**
 * Starts MiniStack, an AWS on this machine that runs functions as processes, and enforces permissions. What it does
 * otherwise than AWS is put right in `emulator.py`, where each mend has its reason.
 */
export async function startEmulator(): Promise<Emulator> {
  await mkdir(workFolder, { recursive: true });
  const python = path.join(await pythonPrograms("test/deploy/requirements.txt"), "python");
  const port = await freePort();
  const log = await open(path.join(workFolder, "emulator.log"), "w");
  const child = spawn(python, [path.join(projectRoot, "test/deploy/emulator.py")], {
    env: {
      PATH: process.env["PATH"],
      AUTH: "true",
      BIND_HOST: "127.0.0.1",
      GATEWAY_PORT: String(port),
      LOG_LEVEL: "WARNING",
      LAMBDA_EXECUTOR: "local",
      // As accounts have that are not new. What becomes of those that have less is in the tests of `infra/account.ts`.
      LAMBDA_ACCOUNT_CONCURRENCY: "1000",
      // Calls that wait for a process keep a thread, and those that have one ask for more.
      MINISTACK_WORKER_THREADS: "512",
    },
    // It ends when its input does, which happens whatever becomes of this process.
    stdio: ["pipe", log.fd, log.fd],
  });
  const ended = once(child, "exit");
  await log.close();
  await waitForPort(port, startTimeoutMs);
  const endpoint = `http://127.0.0.1:${port}`;
  return {
    environment: {
      AWS_ENDPOINT_URL: endpoint,
      // The CDK asks for S3 by a bucket's name in the host otherwise.
      AWS_ENDPOINT_URL_S3: endpoint,
      AWS_ACCESS_KEY_ID: "test",
      AWS_SECRET_ACCESS_KEY: "test",
      AWS_REGION: "us-east-1",
    },
    stop: async () => {
      child.stdin?.end();
      await ended;
    },
  };
}
