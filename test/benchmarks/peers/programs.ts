import { execFile, spawn, type ChildProcess, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";

import { usageOf, type ProcessUsage } from "../served-gateway.ts";
import { MissingProgramError } from "./peer.ts";

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
    // Should a suite fail, nothing must stay behind.
    process.once("exit", this.#endAtExit);
  }

  /** @returns the process, to which nobody listens */
  start(program: string, args: readonly string[], options: SpawnOptions = {}): ChildProcess {
    const env = { ...process.env, ...options.env, PATH: `${process.env["PATH"] ?? ""}:/usr/sbin` };
    // What is a script has started the program itself: both are ended as one group.
    const child = spawn(program, args, { stdio: "ignore", detached: true, ...options, env });
    this.#running.unshift(child);
    return child;
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
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const exited = once(child, "exit");
      end(child);
      await exited;
    }
  }
}

function end({ pid }: ChildProcess): void {
  if (pid !== undefined) process.kill(-pid, "SIGTERM");
}
