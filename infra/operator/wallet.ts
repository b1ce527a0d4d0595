import { randomUUID } from "node:crypto";

import * as z from "zod/mini";

import type { OrganizationRecord } from "../../shared/accounts/organization-record.ts";
import { readRights } from "../../shared/accounts/rights-record.ts";
import { findUser } from "../../shared/accounts/user-record.ts";
import { ApiError } from "../../shared/contract/errors.ts";
import { findKyc } from "../../shared/kyc/record.ts";
import {
  adjustWallet,
  capSpending,
  closeWallet,
  paceSends,
  reopenWallet,
} from "../../shared/wallet/adjust.ts";
import { microsOfText, moneyText } from "../../shared/wallet/money.ts";
import { readWallet, type WalletRecord } from "../../shared/wallet/record.ts";
import type { Movement } from "../../shared/wallet/reference.ts";
import { command, count, Organization, part, RequiredText, type OperatorCommand } from "./command.ts";
import type { Context } from "./context.ts";
import { ledgerColumns, LedgerLimit, readNewestEntries, walletText } from "./ledger.ts";
import { emailText, kycText, readOrganization } from "./organizations.ts";
import { listOf } from "./output.ts";

const amountRule = "must be a number above 0 with at most 6 decimals, for example 12.50";
const Amount = z
  .pipe(
    z.string(amountRule),
    z.transform((text) => microsOfText(text) ?? 0),
  )
  .check(z.refine((micros) => micros > 0, amountRule));

const Adjustment = z.object({
  organization: Organization,
  amount: part("<amount>", "in USD, above 0, with at most 6 decimals", Amount),
  reason: part("--reason <text>", "why; the customer reads it in the ledger", RequiredText),
  reference: part(
    "--reference <text>",
    "what the movement is known by, such as the number of an invoice or a bank transfer; the customer reads it in the ledger",
    z.optional(RequiredText),
  ),
});

type MovementType = Movement["type"];

/** Movements that have a cause outside of the gateway, which has a name there. */
const typesWithReference: ReadonlySet<MovementType> = new Set(["payment", "payment_refund", "chargeback"]);

const aboutReferences =
  "A reference is taken for ever and over all organizations: the same movement again changes nothing, and another one is " +
  "refused. Without --reference a credit or a correction makes one up and shows it first: should the answer be lost, " +
  "repeat the command with it.";

interface Direction<Type extends MovementType> extends Pick<
  OperatorCommand,
  "examples" | "name" | "summary"
> {
  readonly sign: -1 | 1;
  /** What --type can be, the one without it in front. */
  readonly types: readonly [Type, ...Type[]];
  /** What the types mean. */
  readonly typeHelp: string;
}

function adjustment<Type extends MovementType>({
  sign,
  types,
  typeHelp,
  ...description
}: Direction<Type>): OperatorCommand {
  const Type = z._default(z.enum(types, `must be one of ${types.join(", ")}`), types[0]);
  return command({
    ...description,
    details: aboutReferences,
    asksFirst: true,
    input: z.extend(Adjustment, { type: part("--type <type>", typeHelp, Type) }).check(
      z.refine(({ type, reference }) => reference !== undefined || !typesWithReference.has(type), {
        path: ["reference"],
        error: "is missing: it names the payment, the refund or the chargeback where it happened",
      }),
    ),
    run: async (input, context) => adjust({ ...input, amountMicros: sign * input.amount }, context),
  });
}

async function adjust(
  input: Omit<z.infer<typeof Adjustment>, "amount"> & Pick<Movement, "amountMicros" | "type">,
  { output, confirm, changed }: Context,
): Promise<void> {
  const organization = await readOrganization(input.organization);
  const organizationId = organization.id;
  const { type, amountMicros, reason } = input;
  const { balanceMicros } = await readWallet(organizationId);
  const change = `change this wallet by ${moneyText(amountMicros)} (${type}), from ${moneyText(balanceMicros)}: ${reason}`;
  await confirm(`${change}\n${await ownerText(organization)}`, { organizationId, before: { balanceMicros } });
  const reference = input.reference ?? randomUUID();
  if (input.reference === undefined) {
    output.aside(`Should the answer be lost, repeat the command with --reference ${reference}`);
  }
  const movement = { organizationId, type, amountMicros, reason, reference };
  const { balanceMicros: after, wasDoneBefore } = await adjustWallet(movement).catch((error: unknown) => {
    const isTooMuch = error instanceof ApiError && error.code === "INSUFFICIENT_BALANCE";
    throw isTooMuch ? new Error("The wallet has less than that.", { cause: error }) : error;
  });
  changed({ balanceMicros: after });
  output.result(
    { organizationId, type, amountMicros, balanceMicros: after, reference, wasDoneBefore },
    wasDoneBefore
      ? `This was done before, and nothing was changed now. The balance after it was ${moneyText(after)}.`
      : `${organizationId} changed by ${moneyText(amountMicros)} (${type}), the balance is ${moneyText(after)}`,
  );
}

/** Whose wallet it is, for whoever knows a customer by another way: anybody can register with any name and email. */
async function ownerText(organization: OrganizationRecord): Promise<string> {
  const { id, name } = organization;
  const rights = await readRights(id, { consistent: true });
  const { ownerId } = rights;
  const [user, kyc] = await Promise.all([ownerId === undefined ? undefined : findUser(ownerId), findKyc(id)]);
  return listOf({
    Organisation: id,
    Name: name,
    User: user === undefined ? "not known" : `${user.email}, ${emailText(rights)}`,
    KYC: kycText(kyc, rights),
  });
}

const close = command({
  name: "wallets close",
  summary: "Keep a wallet from being used",
  details:
    "Sends and top-ups are refused; refunds and the operator's movements still arrive, and what was paid before is still " +
    "sent. A customer who must be stopped at once is suspended.",
  examples: ["ada@example.com --reason 'Left us, invoice 118 is the last' --stage prod"],
  asksFirst: true,
  input: z.object({
    organization: Organization,
    reason: part("--reason <text>", "why; kept for the next operator, not shown to customers", RequiredText),
  }),
  run: async ({ organization, reason }, { output, confirm, changed }) => {
    const { id, name } = await readOrganization(organization);
    const before = closingOf(await readWallet(id));
    const what = `close the wallet of ${name} (${id}): its messages will be refused`;
    await confirm(what, { organizationId: id, before });
    const wallet = await closeWallet(id, reason);
    changed(closingOf(wallet));
    output.result(wallet, `${id}: ${walletText(wallet)}`);
  },
});

const reopen = command({
  name: "wallets reopen",
  summary: "Let a closed wallet be used again",
  examples: ["ada@example.com --stage prod"],
  asksFirst: true,
  input: z.object({ organization: Organization }),
  run: async ({ organization }, { output, confirm, changed }) => {
    const { id, name } = await readOrganization(organization);
    const before = closingOf(await readWallet(id));
    await confirm(`reopen the wallet of ${name} (${id})`, { organizationId: id, before });
    const wallet = await reopenWallet(id);
    changed(closingOf(wallet));
    output.result(wallet, `${id}: ${walletText(wallet)}`);
  },
});

function closingOf({ closedAt, closedReason }: WalletRecord): Record<string, unknown> {
  return { closedAt, closedReason };
}

const limitHelp = "none, or default for what the stage says";
const ownLimit = <Value>(
  given: z.ZodMiniType<Value>,
  rule: string,
): z.ZodMiniType<Value | "none" | undefined> =>
  z.union(
    [
      z.literal("none"),
      z.pipe(
        z.literal("default"),
        z.transform(() => undefined),
      ),
      given,
    ],
    rule,
  );

const cap = command({
  name: "wallets set-daily-cap",
  summary: "Say what an organisation may spend in a day",
  details: "A day begins at midnight UTC. It holds from the next message on; the customer can go below it.",
  examples: ["ada@example.com 50.00 --stage prod", "ada@example.com none", "ada@example.com default"],
  asksFirst: true,
  input: z.object({
    organization: Organization,
    amount: part("<amount>", `in USD, above 0; ${limitHelp}`, ownLimit(Amount, amountRule)),
  }),
  run: async ({ organization, amount }, { output, confirm, changed }) => {
    const { id, name } = await readOrganization(organization);
    const text = limitText(typeof amount === "number" ? moneyText(amount) : amount, "a day");
    const before = limitsOf(await readWallet(id));
    await confirm(`let ${name} (${id}) spend ${text}`, { organizationId: id, before });
    const wallet = await capSpending(id, amount);
    changed(limitsOf(wallet));
    output.result(wallet, `${id} may spend ${text}`);
  },
});

const pace = command({
  name: "wallets set-rate-limit",
  summary: "Say how many messages an organisation may send in a second",
  details: "Campaigns do not count. It holds from the next message on.",
  examples: ["ada@example.com 50 --stage prod", "ada@example.com none", "ada@example.com default"],
  asksFirst: true,
  input: z.object({
    organization: Organization,
    sends: part(
      "<messages>",
      `from 1 to 10000; ${limitHelp}`,
      ownLimit(count(10_000), "must be a number from 1 to 10000"),
    ),
  }),
  run: async ({ organization, sends }, { output, confirm, changed }) => {
    const { id, name } = await readOrganization(organization);
    const text = limitText(sends, "messages a second");
    const before = limitsOf(await readWallet(id));
    await confirm(`let ${name} (${id}) send ${text}`, { organizationId: id, before });
    const wallet = await paceSends(id, sends);
    changed(limitsOf(wallet));
    output.result(wallet, `${id} may send ${text}`);
  },
});

function limitsOf({ operatorDailyCap, operatorSendsPerSecond }: WalletRecord): Record<string, unknown> {
  return { operatorDailyCap, operatorSendsPerSecond };
}

function limitText(limit: number | string | undefined, unit: string): string {
  if (limit === undefined) return "what the stage says";
  return limit === "none" ? "without a limit" : `${limit} ${unit}`;
}

const ledger = command({
  name: "wallets list-entries",
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
  adjustment({
    name: "wallets credit",
    summary: "Add money to a wallet",
    sign: 1,
    types: ["credit", "payment", "correction"],
    typeHelp:
      "payment is money that the customer paid, credit is goodwill, correction puts a mistake right; credit where nothing " +
      "is said",
    examples: [
      "ada@example.com 250 --type payment --reason 'Invoice 117' --reference inv-117",
      "ada@example.com 5 --reason 'Sorry for the delay' --stage prod",
    ],
  }),
  adjustment({
    name: "wallets debit",
    summary: "Take money from a wallet, never more than it has unless a bank took it back",
    sign: -1,
    types: ["correction", "payment_refund", "chargeback"],
    typeHelp:
      "payment_refund is a payment that you pay back, chargeback one that the customer's bank took back, correction puts a " +
      "mistake right; correction where nothing is said",
    examples: [
      "ada@example.com 12.50 --reason 'Credited twice' --stage prod",
      "ada@example.com 250 --type chargeback --reason 'Invoice 117' --reference dispute-88",
    ],
  }),
  close,
  reopen,
  cap,
  pace,
  ledger,
];
