import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, open } from "node:fs/promises";
import path from "node:path";

import { projectRoot } from "../../infra/build/project-root.ts";
import { pythonPrograms } from "../../infra/build/python-programs.ts";
import { freePort, waitForPort } from "../support/ports.ts";
import { localhostNames } from "./program.ts";

/** The files of a run, for inspection. */
export const workFolder = path.join(projectRoot, ".build/deploy");

const startTimeoutMs = 60_000;

export interface Emulator {
  /** The environment variables that lead the AWS SDK and the CDK to it, as the root user of its account. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/**
 * Starts MiniStack, an AWS on this machine that runs functions as processes, and enforces permissions. `emulator.py` fixes
 * its differences from AWS, and has the reason of each fix.
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
      // The MCP server calls the API of its stage.
      NODE_OPTIONS: `--import ${localhostNames}`,
      // The quota of accounts that are not new. The tests of `infra/stack/account.ts` check lower quotas.
      LAMBDA_ACCOUNT_CONCURRENCY: "1000",
      // Calls that wait for a process occupy a thread, and running calls need more threads.
      MINISTACK_WORKER_THREADS: "512",
    },
    // It ends when its input ends, which happens even if this process is killed.
    stdio: ["pipe", log.fd, log.fd],
  });
  const ended = once(child, "exit");
  await log.close();
  await waitForPort(port, startTimeoutMs);
  const endpoint = `http://127.0.0.1:${port}`;
  return {
    environment: {
      AWS_ENDPOINT_URL: endpoint,
      // Otherwise the CDK calls S3 by a bucket's name in the host.
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
