import { CommanderError } from "commander";

import { commandLine, type Order } from "./command-line.ts";
import { errorText } from "./error-text.ts";
import { Output, printable } from "./output.ts";

/**
 * Executes a command line, and sets the exit code of the process: 1 for a failure or a finding, 2 for invalid usage.
 * @param canAsk whether a person can confirm on a terminal
 */
export async function runCommandLine(typed: readonly string[], canAsk: boolean): Promise<void> {
  try {
    await commandLine(canAsk, carryOut).parseAsync(typed, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : 2;
    } else {
      process.stderr.write(`${printable(errorText(error))}\n`);
      process.exitCode = 1;
    }
  }
}

async function carryOut(order: Order): Promise<void> {
  const { agrees, connect } = await import("./context.ts");
  const { RecordOfCommand } = await import("./record-of-command.ts");
  const { run, stage, isJson, mustAsk } = order;
  const output = new Output(isJson);
  const record = new RecordOfCommand(order);
  try {
    await run({
      output,
      stage,
      ...(await connect(stage)),
      confirm: async (what, about = {}) => {
        const answer = about.organizationId ?? "yes";
        const isAgreed = !mustAsk || (await agrees(`On stage ${stage?.name}: ${what}`, answer));
        if (!isAgreed) throw new Error("Nothing was changed.");
        await record.begin(about);
      },
      record: async (about) => record.begin(about),
      changed: (after) => record.changed(after),
    });
    await record.end();
  } catch (error) {
    await record.end(error);
    throw error;
  } finally {
    output.endProgress();
  }
}
