import { vi } from "vitest";

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
