import * as z from "zod/mini";

import {
  closeWallet,
  limitDailySpend,
  limitSendRate,
  reopenWallet,
} from "../../shared/money/wallet/adjust.ts";
import { moneyText } from "../../shared/money/wallet/money.ts";
import { readWallet, type WalletRecord } from "../../shared/money/wallet/record.ts";
import { command, count, Organization, part, Reason } from "./command.ts";
import { change, type Change, type Context } from "./context.ts";
import { ledgerColumns, LedgerLimit, readNewestEntries, walletText } from "./ledger.ts";
import { readOrganization } from "./organization.ts";
import { Amount, amountRule } from "./wallet-movements.ts";

interface WalletChange extends Pick<Change<WalletRecord>, "facts" | "text"> {
  readonly what: (owner: string) => string;
  readonly apply: (organizationId: string) => Promise<WalletRecord>;
}

async function changeWallet(
  organization: string,
  { what, apply, facts, text }: WalletChange,
  context: Context,
): Promise<void> {
  const { id, name } = await readOrganization(organization);
  await change(
    {
      what: what(`${name} (${id})`),
      organizationId: id,
      before: await readWallet(id),
      apply: async () => apply(id),
      facts,
      text: (wallet) => `${id}: ${text(wallet)}`,
    },
    context,
  );
}

const closing = {
  facts: ({ closedAt, closedReason }: WalletRecord) => ({ closedAt, closedReason }),
  text: walletText,
};

const close = command({
  name: "wallets close",
  summary: "Close a wallet",
  details:
    "Sends and top-ups are rejected. Refunds, credits and debits still work, and messages that are already paid are sent. To " +
    "stop a customer immediately, use organizations suspend.",
  examples: ["ada@example.com --reason 'Account closed, last invoice 118' --stage prod"],
  asksFirst: true,
  input: z.object({ organization: Organization, reason: Reason }),
  run: async ({ organization, reason }, context) => {
    const what = (owner: string): string => `close the wallet of ${owner}, so that its sends are rejected`;
    const apply = async (id: string): Promise<WalletRecord> => closeWallet(id, reason);
    await changeWallet(organization, { what, apply, ...closing }, context);
  },
});

const reopen = command({
  name: "wallets reopen",
  summary: "Reopen a closed wallet",
  examples: ["ada@example.com --stage prod"],
  asksFirst: true,
  input: z.object({ organization: Organization }),
  run: async ({ organization }, context) => {
    const what = (owner: string): string => `reopen the wallet of ${owner}`;
    await changeWallet(organization, { what, apply: reopenWallet, ...closing }, context);
  },
});

const limitFacts = ({ operatorDailyCap, operatorSendsPerSecond }: WalletRecord): Record<string, unknown> => ({
  operatorDailyCap,
  operatorSendsPerSecond,
});

const limitHelp = "none for no limit, or default for the stage's limit";

/** A limit, `none`, or `default`, which becomes undefined. */
function ownLimit<Value>(
  given: z.ZodMiniType<Value>,
  rule: string,
): z.ZodMiniType<Value | "none" | undefined> {
  const stageLimit = z.pipe(
    z.literal("default"),
    z.transform(() => undefined),
  );
  return z.union([z.literal("none"), stageLimit, given], rule);
}

function limitText(limit: string | undefined): string {
  return limit === "none" ? "no limit" : (limit ?? "the stage's limit");
}

const setDailyCap = command({
  name: "wallets set-daily-cap",
  summary: "Set the amount that an organization can spend in a day",
  details:
    "A day begins at midnight UTC. The cap applies from the next message on. The customer can set a lower one.",
  examples: ["ada@example.com 50.00 --stage prod", "ada@example.com none", "ada@example.com default"],
  asksFirst: true,
  input: z.object({
    organization: Organization,
    amount: part("<amount>", `amount above 0; ${limitHelp}`, ownLimit(Amount, amountRule)),
  }),
  run: async ({ organization, amount }, context) => {
    const cap = limitText(typeof amount === "number" ? `${moneyText(amount)} a day` : amount);
    const what = (owner: string): string => `set the daily cap of ${owner} to ${cap}`;
    const apply = async (id: string): Promise<WalletRecord> => limitDailySpend(id, amount);
    await changeWallet(
      organization,
      { what, apply, facts: limitFacts, text: () => `daily cap: ${cap}` },
      context,
    );
  },
});

const maxRate = 10_000;

const setRateLimit = command({
  name: "wallets set-rate-limit",
  summary: "Set how many messages an organization can send in a second",
  details:
    "Campaigns are not limited, and a batch counts as one message. The limit applies from the next message on.",
  examples: ["ada@example.com 50 --stage prod", "ada@example.com none", "ada@example.com default"],
  asksFirst: true,
  input: z.object({
    organization: Organization,
    messages: part(
      "<messages>",
      `messages a second, from 1 to ${maxRate}; ${limitHelp}`,
      ownLimit(count(maxRate), `must be a number from 1 to ${maxRate}`),
    ),
  }),
  run: async ({ organization, messages }, context) => {
    const rate = limitText(typeof messages === "number" ? `${messages} messages a second` : messages);
    const what = (owner: string): string => `set the rate limit of ${owner} to ${rate}`;
    const apply = async (id: string): Promise<WalletRecord> => limitSendRate(id, messages);
    await changeWallet(
      organization,
      { what, apply, facts: limitFacts, text: () => `rate limit: ${rate}` },
      context,
    );
  },
});

const listEntries = command({
  name: "wallets list-entries",
  summary: "List the newest ledger entries of a wallet",
  examples: ["ada@example.com", "org_01M7Y6EGDXHA99AE471ACHQK57 --limit 1000 --json --stage prod"],
  discloses: true,
  input: z.object({ organization: Organization, limit: LedgerLimit }),
  run: async ({ organization, limit }, { output }) => {
    const wallet = await readWallet((await readOrganization(organization)).id);
    output.table(await readNewestEntries(wallet, limit), ledgerColumns);
    output.note(`${wallet.seq} entries in total; ${walletText(wallet)}`);
  },
});

export const walletCommands = [close, reopen, setDailyCap, setRateLimit, listEntries];
