import { randomUUID } from "node:crypto";

import * as z from "zod";

import { ApiError } from "../../shared/contract/errors.ts";
import {
  adjustWallet,
  capSpending,
  closeWallet,
  paceSends,
  reopenWallet,
} from "../../shared/wallet/adjust.ts";
import { microsOf, microsOfText, moneyText } from "../../shared/wallet/money.ts";
import { readWallet } from "../../shared/wallet/record.ts";
import { command, count, Organization, part, RequiredText, type OperatorCommand } from "./command.ts";
import type { Context } from "./context.ts";
import { ledgerColumns, LedgerLimit, readNewestEntries, walletText } from "./ledger.ts";
import { readOrganization } from "./organizations.ts";

const amountRule = "must be a number above 0 with at most 6 decimals, for example 12.50";
const Amount = z
  .string(amountRule)
  .transform((text) => microsOfText(text) ?? 0)
  .refine((micros) => micros > 0, amountRule);

const Adjustment = z.object({
  organization: Organization,
  amount: part("<amount>", "in USD, above 0, with at most 6 decimals", Amount),
  reason: part("--reason <text>", "why; the customer reads it in the ledger", RequiredText),
  reference: part(
    "--reference <text>",
    "names this adjustment for 24 hours: the same command again changes nothing",
    RequiredText.optional(),
  ),
});

function adjustment(
  name: string,
  summary: string,
  direction: -1 | 1,
  examples: readonly string[],
): OperatorCommand {
  return command({
    name,
    summary,
    details:
      "Without --reference it makes one up and shows it first: should the answer be lost, repeat the command with it.",
    examples,
    asksFirst: true,
    input: Adjustment,
    run: async (input, context) => adjust({ ...input, amountMicros: direction * input.amount }, context),
  });
}

async function adjust(
  input: Omit<z.infer<typeof Adjustment>, "amount"> & { readonly amountMicros: number },
  { output, confirm }: Context,
): Promise<void> {
  const { id: organizationId, name } = await readOrganization(input.organization);
  const { amountMicros, reason } = input;
  const { balanceMicros } = await readWallet(organizationId);
  await confirm(
    `change the wallet of ${name} (${organizationId}) by ${moneyText(amountMicros)}, ` +
      `from ${moneyText(balanceMicros)}: ${reason}`,
    organizationId,
  );
  const reference = input.reference ?? randomUUID();
  if (input.reference === undefined) {
    output.aside(`Should the answer be lost, repeat the command with --reference ${reference}`);
  }
  const { balance, replayed } = await adjustWallet({ organizationId, amountMicros, reason, reference }).catch(
    (error: unknown) => {
      const code = error instanceof ApiError ? error.code : undefined;
      const words = {
        IDEMPOTENCY_KEY_REUSED: `The reference ${reference} belongs to another adjustment.`,
        INSUFFICIENT_BALANCE: "The wallet has less than that.",
      }[String(code)];
      throw words === undefined ? error : new Error(words, { cause: error });
    },
  );
  const after = microsOf(balance);
  output.result(
    { organizationId, amountMicros, balanceMicros: after, reference, wasDoneBefore: replayed },
    replayed
      ? `This was done before, and nothing was changed now. The balance after it was ${moneyText(after)}.`
      : `${organizationId} changed by ${moneyText(amountMicros)}, the balance is ${moneyText(after)}`,
  );
}

const close = command({
  name: "wallet close",
  summary: "Keep a wallet from being used",
  details: "Sends and top-ups are refused; refunds and the operator's adjustments still arrive.",
  examples: ["ada@example.com --reason 'Ticket 4711: fraud' --stage prod"],
  asksFirst: true,
  input: z.object({
    organization: Organization,
    reason: part("--reason <text>", "why; kept for the next operator, not shown to customers", RequiredText),
  }),
  run: async ({ organization, reason }, { output, confirm }) => {
    const { id, name } = await readOrganization(organization);
    await confirm(`close the wallet of ${name} (${id}): its messages will be refused`, id);
    const wallet = await closeWallet(id, reason);
    output.result(wallet, `${id}: ${walletText(wallet)}`);
  },
});

const reopen = command({
  name: "wallet reopen",
  summary: "Let a closed wallet be used again",
  examples: ["ada@example.com --stage prod"],
  asksFirst: true,
  input: z.object({ organization: Organization }),
  run: async ({ organization }, { output, confirm }) => {
    const { id, name } = await readOrganization(organization);
    await confirm(`reopen the wallet of ${name} (${id})`, id);
    const wallet = await reopenWallet(id);
    output.result(wallet, `${id}: ${walletText(wallet)}`);
  },
});

const limitHelp = "none, or default for what the stage says";
const ownLimit = <Value>(given: z.ZodType<Value>): z.ZodType<Value | "none" | undefined> =>
  z.union([z.literal("none"), z.literal("default").transform(() => undefined), given]);

const cap = command({
  name: "wallet cap",
  summary: "Say what an organisation may spend in a day",
  details: "A day begins at midnight UTC. It holds from the next message on; the customer can go below it.",
  examples: ["ada@example.com 50.00 --stage prod", "ada@example.com none", "ada@example.com default"],
  asksFirst: true,
  input: z.object({
    organization: Organization,
    amount: part("<amount>", `in USD, above 0; ${limitHelp}`, ownLimit(Amount)),
  }),
  run: async ({ organization, amount }, { output, confirm }) => {
    const { id, name } = await readOrganization(organization);
    const text = limitText(typeof amount === "number" ? moneyText(amount) : amount, "a day");
    await confirm(`let ${name} (${id}) spend ${text}`, id);
    const wallet = await capSpending(id, amount);
    output.result(wallet, `${id} may spend ${text}`);
  },
});

const pace = command({
  name: "wallet pace",
  summary: "Say how many messages an organisation may send in a second",
  details: "Campaigns do not count. It holds from the next message on.",
  examples: ["ada@example.com 50 --stage prod", "ada@example.com none", "ada@example.com default"],
  asksFirst: true,
  input: z.object({
    organization: Organization,
    sends: part("<messages>", `from 1 to 10000; ${limitHelp}`, ownLimit(count(10_000))),
  }),
  run: async ({ organization, sends }, { output, confirm }) => {
    const { id, name } = await readOrganization(organization);
    const text = limitText(sends, "messages a second");
    await confirm(`let ${name} (${id}) send ${text}`, id);
    const wallet = await paceSends(id, sends);
    output.result(wallet, `${id} may send ${text}`);
  },
});

function limitText(limit: number | string | undefined, unit: string): string {
  if (limit === undefined) return "what the stage says";
  return limit === "none" ? "without a limit" : `${limit} ${unit}`;
}

const ledger = command({
  name: "wallet ledger",
  summary: "Show the newest entries of a wallet's ledger",
  examples: ["ada@example.com", "org_01M7Y6EGDXHA99AE471ACHQK57 --limit 1000 --json --stage prod"],
  input: z.object({ organization: Organization, limit: LedgerLimit }),
  run: async ({ organization, limit }, { output }) => {
    const wallet = await readWallet((await readOrganization(organization)).id);
    output.table(await readNewestEntries(wallet, limit), ledgerColumns);
    output.note(`${wallet.seq} entries in all; ${walletText(wallet)}`);
  },
});

export const walletCommands = [
  adjustment("wallet credit", "Add money to a wallet", 1, [
    "ada@example.com 250 --reason 'Invoice 117' --reference invoice-117 --stage prod",
  ]),
  adjustment("wallet debit", "Take money from a wallet, never more than it has", -1, [
    "ada@example.com 12.50 --reason 'Credited twice' --stage prod",
  ]),
  close,
  reopen,
  cap,
  pace,
  ledger,
];
