import { readCommandLine } from "./command-line.ts";
import { UsageError } from "./command.ts";
import { agrees, connect } from "./context.ts";
import { oneLine, Output, printable } from "./output.ts";

// `npm run operator -- <command>`: what only the operator of a gateway may do.

// Whoever reads the results may have had enough of them.
process.stdout.on("error", (error) => {
  if ("code" in error && error.code === "EPIPE") process.exit();
  throw error;
});

try {
  await main();
} catch (error) {
  const isUsage = error instanceof UsageError;
  process.stderr.write(`${printable(isUsage ? error.message : messageOf(error))}\n`);
  process.exitCode = isUsage ? 2 : 1;
}

async function main(): Promise<void> {
  const order = readCommandLine(process.argv.slice(2), process.stdin.isTTY);
  if ("help" in order) {
    process.stdout.write(`${order.help}\n`);
    return;
  }
  const { run, stage, isJson, mustAsk } = order;
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
