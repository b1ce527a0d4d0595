import * as z from "zod/mini";

import { auditWallet, type Audit } from "../../shared/reconciliation/audit.ts";
import { rebuildAgenda } from "../../shared/reconciliation/rebuild-agenda.ts";
import { moneyText } from "../../shared/wallet/money.ts";
import { listWallets } from "../../shared/wallet/record.ts";
import { command, part } from "./command.ts";
import { readOrganization } from "./organizations.ts";

const audit = command({
  name: "wallets verify",
  summary: "Prove that wallets are in order",
  details:
    "Every seq of the ledger has its entry, each balance follows from the one before, the last is the wallet's, " +
    "and every paid message exists at that price. What a send or a refund may still be at work on is pending. " +
    "Exits with 1 when anything is wrong.",
  examples: ["", "ada@example.com", "--stage prod --json"],
  input: z.object({
    organizations: part(
      "[organisation...]",
      "ids, or emails of users; without any, all that have a wallet",
      z.array(z.string()),
    ),
  }),
  run: async ({ organizations }, { output }) => {
    let wallets = 0;
    let wrong = 0;
    let pending = 0;
    for await (const organizationId of organizations.length > 0 ? idsOf(organizations) : listWallets()) {
      const result = await auditWallet(organizationId);
      wallets += 1;
      if (result.findings.length > 0) wrong += 1;
      else if (result.pending.length > 0) pending += 1;
      output.result(result, describe(result));
      output.progress(`${wallets} wallets audited, ${wrong} not in order`);
    }
    output.note(`${wallets} wallets audited, ${wrong} not in order, ${pending} pending`);
    if (wrong > 0) process.exitCode = 1;
  },
});

const agenda = command({
  name: "agenda",
  summary: "Put what an older release left open on the agenda of background work",
  details:
    "The reconciler and the closing of days look at what is on the agenda alone. What was changed last by release 0.2 or " +
    "an older one is not on it: run this once after the upgrade. Running it again changes nothing.",
  examples: ["", "--stage prod"],
  input: z.object({}),
  run: async (_, { output, confirm }) => {
    await confirm("put what is open on the agenda of background work");
    let wallets = 0;
    let added = 0;
    for await (const organizationId of listWallets()) {
      added += await rebuildAgenda(organizationId);
      wallets += 1;
      output.progress(`${wallets} wallets looked at`);
    }
    output.result({ wallets, added }, `${wallets} wallets looked at, ${added} items put on the agenda`);
  },
});

async function* idsOf(organizations: readonly string[]): AsyncGenerator<string> {
  for (const each of organizations) yield (await readOrganization(each)).id;
}

function describe({ organizationId, balanceMicros, entries, findings, pending }: Audit): string {
  const state = findings.length > 0 ? "NOT IN ORDER" : pending.length > 0 ? "pending" : "in order";
  const lines = [...findings, ...pending.map((finding) => `pending: ${finding}`)];
  const summary = `${organizationId}  ${moneyText(balanceMicros)}  ${entries} entries  ${state}`;
  return [summary, ...lines.map((line) => `    ${line}`)].join("\n");
}

export const auditCommands = [audit, agenda];
