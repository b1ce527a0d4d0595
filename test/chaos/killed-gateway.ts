import { fork } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";

import * as z from "zod/mini";

import { projectRoot } from "../../infra/build/project-root.ts";
import type { LocalGatewayOptions } from "../../infra/local/gateway.ts";

/** The options of a gateway in its own process. */
export type KilledGatewayOptions = Pick<
  LocalGatewayOptions,
  "assemblyFolder" | "dataFolder" | "isSecret" | "port" | "stackName"
>;

/** A gateway in its own process. */
export interface KilledGateway {
  /** Kills the process without warning, and waits until it is gone. */
  kill(): Promise<void>;
}

const Manifest = z.object({ scripts: z.object({ start: z.string() }) });

/**
 * Starts a gateway in its own process, with the flags of `npm start`.
 * @param log receives each line that it logs
 * @throws Error when the process ends before it is ready
 */
export async function startKilledGateway(
  options: KilledGatewayOptions,
  log: (line: string) => void,
): Promise<KilledGateway> {
  const manifest: unknown = JSON.parse(await readFile(path.join(projectRoot, "package.json"), "utf8"));
  // Some flags have a value. The first word is the program, and the last one the file.
  const execArgv = Manifest.parse(manifest).scripts.start.split(" ").slice(1, -1);
  const child = fork(new URL("gateway-process.ts", import.meta.url), [JSON.stringify(options)], {
    execArgv,
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const exited = once(child, "exit");
  if (child.stdout !== null) createInterface({ input: child.stdout }).on("line", log);
  await Promise.race([
    once(child, "message"),
    exited.then(() => {
      throw new Error("the gateway ended before it was ready");
    }),
  ]);
  return {
    kill: async () => {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
