import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

import { projectRoot } from "../../infra/build/project-root.ts";

/** The file that a process loads to reach the names that the emulator gives APIs. */
export const localhostNames = pathToFileURL(path.join(projectRoot, "test/deploy/localhost-names.ts")).href;

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Where a program runs. */
export interface Surroundings {
  /** The folder that it runs in, the project's where none is named. */
  readonly folder?: string;
  /** Environment variables besides this process's. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Runs a program as a person would who is not at a terminal, and waits for its end. */
export async function run(
  program: string,
  args: readonly string[],
  { folder = projectRoot, environment = {} }: Surroundings = {},
): Promise<Ended> {
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close");
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code]: (number | null)[] = await ended;
  return { code: code ?? 1, out, err };
}

/**
 * The same for a program that must succeed.
 * @throws Error with its output
 */
export async function mustRun(
  program: string,
  args: readonly string[],
  surroundings: Surroundings = {},
): Promise<Ended> {
  const ended = await run(program, args, surroundings);
  if (ended.code === 0) return ended;
  throw new Error(`${program} ${args.join(" ")} failed:\n${ended.out}\n${ended.err}`);
}
