import { execFile } from "node:child_process";

import { CommanderError } from "commander";
import { vi } from "vitest";
import type * as z from "zod/mini";

import { commandLine, type Order } from "../../infra/operator/command-line.ts";
import { runCommandLine } from "../../infra/operator/run.ts";

/** The result of a command. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs an operator command without a process for it, whose start would take longer than most commands. */
export async function operator(args: readonly string[]): Promise<Ended> {
  const { stdout, stderr } = await captured(async () => runCommandLine(args, false));
  const code = Number(process.exitCode ?? 0);
  process.exitCode = undefined;
  return { code, out: stdout, err: stderr };
}

/** Captures the output of this process while a function runs. */
export async function captured(work: () => Promise<void>): Promise<{ stdout: string; stderr: string }> {
  const texts = { stdout: "", stderr: "" };
  const spies = (["stdout", "stderr"] as const).map((stream) =>
    vi.spyOn(process[stream], "write").mockImplementation((text) => {
      texts[stream] += String(text);
      return true;
    }),
  );
  try {
    await work();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return texts;
}

/** Runs an operator command as a person would, on the gateway of a folder, and waits for its end. */
export async function operatorProcess(
  dataFolder: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const env = { PATH: process.env["PATH"], DATA_DIR: dataFolder, ...environment };
    const file = "infra/operator/main.ts";
    const child = execFile(process.execPath, [file, ...args], { env }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err });
    });
    child.stdin?.end();
  });
}

/** The objects that a command with --json wrote, checked. */
export function objectsOf<Row>({ out }: Ended, schema: z.ZodMiniType<Row>): Row[] {
  return out
    .trimEnd()
    .split("\n")
    .map((line) => schema.parse(JSON.parse(line)));
}

interface Understood {
  /** The command that would have run. */
  readonly order: Order | undefined;
  readonly out: string;
  readonly err: string;
}

/** Parses a command line without a process and without a gateway. */
export async function understand(line: string, canAsk = false): Promise<Understood> {
  const carryOut = vi.fn<(order: Order) => Promise<void>>();
  const { stdout, stderr } = await captured(async () => {
    try {
      await commandLine(canAsk, carryOut).parseAsync(line.split(" "), { from: "user" });
    } catch (error) {
      if (!(error instanceof CommanderError)) throw error;
    }
  });
  return { order: carryOut.mock.lastCall?.[0], out: stdout, err: stderr };
}

/** Text without the line breaks that fit it to a terminal. */
export function unwrapped(text: string): string {
  return text.replace(/\s+/g, " ");
}
