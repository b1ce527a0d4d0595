import * as z from "zod/mini";

import { moneyText } from "../../shared/money/wallet/money.ts";
import { RejectedError } from "../../shared/platform/rejected-error.ts";
import {
  approve,
  finish,
  openApprovals,
  propose,
  readApproval,
  reject,
  withdraw,
  type Approval,
} from "../../shared/tenancy/approvals.ts";
import type { CheckedCommand } from "./command-line.ts";
import { command, part, RequiredText, type OperatorCommand } from "./command.ts";
import type { About, Context } from "./context.ts";
import { operatorIdentity } from "./identity.ts";
import { right } from "./output.ts";
import { endingOf } from "./record-of-command.ts";

const input = z.object({ id: part("<id>", "proposal, as shown by approvals list", RequiredText) });

/**
 * Stores a command that needs a second person.
 * @throws RejectedError in any case, so that the command ends without a change
 */
export async function proposeInstead(
  { name, inputs, stage }: CheckedCommand,
  what: string,
  { organizationId = "", movement }: About,
): Promise<never> {
  const { amountMicros = 0, input: fixed = {} } = movement ?? {};
  const { id } = await propose({
    command: name,
    input: { ...inputs, ...fixed },
    what,
    organizationId,
    amountMicros,
    proposedBy: await operatorIdentity(stage),
  });
  throw new RejectedError(
    `Nothing was changed yet: ${moneyText(amountMicros)} needs a second person. Within seven days, run approvals approve ${id}.`,
  );
}

const list = command({
  name: "approvals list",
  summary: "List the movements of money that wait for a second person, oldest first",
  examples: ["--stage prod"],
  // They have the owners of the wallets.
  discloses: true,
  input: z.object({}),
  run: async (_, { output }) => {
    const found = await openApprovals();
    output.table(found, {
      ID: "id",
      PROPOSED: "proposedAt",
      BY: "proposedBy",
      COMMAND: "command",
      ORGANIZATION: "organizationId",
      AMOUNT: ({ amountMicros }: Approval) => right(moneyText(amountMicros)),
      STATE: ({ approvedBy }: Approval) =>
        approvedBy === undefined ? "proposed" : `interrupted, approved by ${approvedBy}`,
    });
    output.note(`${found.length} proposals`);
  },
});

const rejectCommand = command({
  name: "approvals reject",
  summary: "Reject a movement of money that another operator proposed",
  examples: ["apr_01M7Y6EJCCCYF8FQN69JCEXBCE --stage prod"],
  asksFirst: true,
  input,
  run: async ({ id }, { stage, output, confirm, changed }) => {
    const identity = await operatorIdentity(stage);
    const { organizationId, what, proposedBy } = await readApproval(id, identity);
    await confirm(`reject: ${what}`, { organizationId, before: { proposedBy } });
    await reject(id, identity);
    changed({ rejectedBy: identity });
    output.result({ id, rejectedBy: identity }, `${id} is rejected`);
  },
});

/** The commands for proposals. @param movable the commands that can be proposed */
export function approvalCommands(movable: readonly OperatorCommand[]): OperatorCommand[] {
  const approveCommand = command({
    name: "approvals approve",
    summary: "Approve and make a movement of money that another operator proposed",
    details: "It is made once. Repeat an interrupted command.",
    examples: ["apr_01M7Y6EJCCCYF8FQN69JCEXBCE --stage prod"],
    asksFirst: true,
    input,
    run: async ({ id }, context) => {
      const identity = await operatorIdentity(context.stage);
      const proposal = await readApproval(id, identity);
      const { proposedBy } = proposal;
      const run = movable.find(({ name }) => name === proposal.command)?.work.safeParse(proposal.input);
      if (run?.success !== true) throw new RejectedError(`This release cannot make the proposal ${id}.`);
      let attempt: string | undefined;
      const confirm: Context["confirm"] = async (what, { organizationId, before, shown } = {}) => {
        const about = { organizationId, shown, before: { ...before, proposedBy } };
        await context.confirm(`${what}\nProposed by ${proposedBy}`, about);
        attempt = await approve(id, identity);
      };
      try {
        await run.data({ ...context, confirm });
      } catch (error) {
        if (attempt !== undefined && endingOf(error).outcome === "refused") await withdraw(id, attempt);
        throw error;
      }
      await finish(id);
    },
  });
  return [list, approveCommand, rejectCommand];
}
