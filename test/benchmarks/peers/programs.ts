import { execFile, spawn, type ChildProcess, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

import { usageOf, type ProcessUsage } from "../served-gateway.ts";
import { MissingProgramError } from "./peer.ts";

/** RabbitMQ needs some seconds to end. */
const stopTimeoutMs = 20_000;

/**
 * Looks for programs, also where Debian has those of an administrator.
 * @throws MissingProgramError that names the first that is missing
 */
export async function requirePrograms(...names: readonly string[]): Promise<void> {
  const env = { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin` };
  for (const name of names) {
    await promisify(execFile)("which", [name], { env }).catch(() => {
      throw new MissingProgramError(`there is no ${name} here`);
    });
  }
}

/** The processes that a peer consists of. */
export class Programs {
  readonly #running: ChildProcess[] = [];
  readonly #endAtExit = (): void => {
    for (const child of this.#running) end(child);
  };

  constructor() {
    // If a suite fails, no process may remain.
    process.once("exit", this.#endAtExit);
  }

  start(program: string, args: readonly string[], { env: added }: Pick<SpawnOptions, "env"> = {}): void {
    const env = { ...process.env, ...added, PATH: `${process.env["PATH"] ?? ""}:/usr/sbin` };
    // A script starts the program itself: both are ended as one group.
    this.#running.unshift(spawn(program, args, { stdio: "ignore", detached: true, env }));
  }

  async usage(): Promise<ProcessUsage> {
    const usages = await Promise.all(this.#running.map(async ({ pid }) => usageOf(pid ?? 0)));
    return {
      cpuMs: usages.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
      memoryMegabytes: usages.reduce((sum, { memoryMegabytes }) => sum + memoryMegabytes, 0),
    };
  }

  /** Ends them in the opposite order. */
  async stop(): Promise<void> {
    process.off("exit", this.#endAtExit);
    for (const child of this.#running.splice(0)) {
      if (hasEnded(child)) continue;
      const exited = once(child, "exit");
      end(child);
      const hung = delay(stopTimeoutMs, "hung", { ref: false });
      if ((await Promise.race([exited, hung])) === "hung") end(child, "SIGKILL");
    }
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

function end(child: ChildProcess, signal: NodeJS.Signals = "SIGTERM"): void {
  if (child.pid !== undefined && !hasEnded(child)) process.kill(-child.pid, signal);
}
