import { CommanderError } from "commander";

import { rolesOf } from "../operator-roles.ts";
import { commandLine, type Order } from "./command-line.ts";
import type { Context } from "./context.ts";
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

/** Returns the ID of an organization that was typed, if any. */
async function idOf(typed: unknown): Promise<string | undefined> {
  const { readOrganization } = await import("./organization.ts");
  return typeof typed === "string" ? (await readOrganization(typed)).id : undefined;
}

async function carryOut(order: Order): Promise<void> {
  const { agrees, connect } = await import("./context.ts");
  const { RecordOfCommand } = await import("./record-of-command.ts");
  const { proposeInstead } = await import("./approvals.ts");
  const { withoutHiddenFields } = await import("./hidden-fields.ts");
  const { name, run, stage, isJson, mustAsk, discloses, organization } = order;
  const output = new Output(isJson);
  const record = new RecordOfCommand(order);
  try {
    const connection = await connect(stage);
    const context: Context = {
      output,
      stage,
      ...connection,
      confirm: async (what, about = {}) => {
        const answer = about.organizationId ?? "yes";
        const isAgreed = !mustAsk || (await agrees(`On stage ${stage?.name}: ${what}`, answer));
        if (!isAgreed) throw new Error("Nothing was changed.");
        await record.begin(about);
        const { amountMicros = 0 } = about.movement ?? {};
        if (Math.abs(amountMicros) > connection.secondPersonAboveMicros) {
          await proposeInstead(order, what, about);
        }
      },
      record: async (about) => record.begin(about),
      changed: (after) => record.changed(after),
    };
    const work = async (): Promise<void> => {
      if (discloses) await record.begin({ organizationId: await idOf(organization) });
      await run(context);
    };
    await (rolesOf(name).length > 1 ? withoutHiddenFields(work) : work());
    await record.end();
  } catch (error) {
    await record.end(error);
    throw error;
  } finally {
    output.endProgress();
  }
}
