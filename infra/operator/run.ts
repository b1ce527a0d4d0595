import { rolesOf } from "@sms-gateway/stack/operator-roles.ts";
import { CommanderError } from "commander";

import { RejectedError } from "../../shared/platform/rejected-error.ts";
import { commandLine, type CheckedCommand, type Order } from "./command-line.ts";
import type { Connection, Context } from "./context.ts";
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
  const { stage, isJson, mustAsk } = order;
  await execute(order, await connect(stage), new Output(isJson), async (what, typed) => {
    const isAgreed = !mustAsk || (await agrees(`On stage ${stage?.name}: ${what}`, typed));
    if (!isAgreed) throw new RejectedError("Nothing was changed.");
  });
}

/**
 * Executes a command, with an entry in the audit log if it changes something or shows personal data.
 * @param consent returns when the operator agrees to a change, and otherwise throws. It receives the question, the text that
 * the operator has to type, and the question without the facts that may change until then.
 */
export async function execute(
  command: CheckedCommand,
  connection: Connection,
  output: Output,
  consent: (question: string, typed: string, what: string) => Promise<void>,
): Promise<void> {
  const { RecordOfCommand } = await import("./record-of-command.ts");
  const { proposeInstead } = await import("./approvals.ts");
  const { hidingFields } = await import("./hidden-fields.ts");
  const { name, run, stage, discloses, inputs } = command;
  const record = new RecordOfCommand(command, connection);
  try {
    const context: Context = {
      ...connection,
      output,
      stage,
      confirm: async (what, about = {}) => {
        const question = about.shown === undefined ? what : `${what}\n${about.shown}`;
        // The question may have personal data.
        await record.begin(about);
        await consent(question, about.organizationId ?? "yes", what);
        const { amountMicros = 0 } = about.movement ?? {};
        if (Math.abs(amountMicros) > connection.secondPersonAboveMicros) {
          await proposeInstead(command, what, about);
        }
      },
      record: async (about) => record.begin(about),
      changed: (after) => record.changed(after),
    };
    const work = async (): Promise<void> => {
      if (discloses) await record.begin({ organizationId: await idOf(inputs["organization"]) });
      await run(context);
    };
    await hidingFields(rolesOf(name).length > 1, work);
    await record.end();
  } catch (error) {
    await record.end(error);
    throw error;
  } finally {
    output.endProgress();
  }
}
