import { enableCompileCache } from "node:module";
import path from "node:path";

import { CommanderError } from "commander";

import { projectRoot } from "../project-root.ts";
import type { Order } from "./command-line.ts";
import { oneLine, Output, printable } from "./output.ts";

// `npm run operator -- <command>`: what only the operator of a gateway may do.

// Whoever reads the results may have had enough of them.
process.stdout.on("error", (error) => {
  if ("code" in error && error.code === "EPIPE") process.exit();
  throw error;
});

// Most of a command's start is to compile TypeScript and the AWS SDK: what is imported from here on is kept compiled.
enableCompileCache(path.join(projectRoot, ".build/compile-cache"));

try {
  const { commandLine } = await import("./command-line.ts");
  await commandLine(process.stdin.isTTY, carryOut).parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  } else {
    process.stderr.write(`${printable(messageOf(error))}\n`);
    process.exitCode = 1;
  }
}

async function carryOut({ run, stage, isJson, mustAsk }: Order): Promise<void> {
  const { agrees, connect } = await import("./context.ts");
  const output = new Output(isJson);
  try {
    await run({
      output,
      stackOutput: await connect(stage),
      confirm: async (what, answer) => {
        if (!mustAsk || (await agrees(`On stage ${stage?.name}: ${what}`, answer))) return;
        throw new Error("Nothing was changed.");
      },
    });
  } finally {
    output.endProgress();
  }
}

/** What went wrong, in one line and without a stack. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isRefused = "code" in error && error.code === "ECONNREFUSED";
  return `${isRefused ? "Is the gateway running? " : ""}${oneLine(error.message)}`;
}
