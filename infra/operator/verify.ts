import * as z from "zod/mini";

import { verifyWallet, type Verification } from "../../shared/messages/reconciliation/verify.ts";
import { moneyText } from "../../shared/money/wallet/money.ts";
import { command, Organizations } from "./command.ts";
import { organizationIds } from "./organization.ts";

export const verifyWallets = command({
  name: "wallets verify",
  summary: "Verify wallets against their ledgers and messages",
  details:
    "The ledger must have no gaps, and each balance must follow from the one before. The last one must be the wallet's. Every " +
    "paid message must exist at its price. Work in progress is reported as pending. An error exits with 1.",
  examples: ["", "ada@example.com", "--stage prod --json"],
  input: z.object({ organizations: Organizations }),
  run: async ({ organizations }, { output }) => {
    let [wallets, wrong, pending] = [0, 0, 0];
    for await (const organizationId of await organizationIds(organizations)) {
      const result = await verifyWallet(organizationId);
      wallets += 1;
      if (result.findings.length > 0) wrong += 1;
      else if (result.pending.length > 0) pending += 1;
      output.result(result, describe(result));
      output.progress(`${wallets} wallets verified, ${wrong} wrong`);
    }
    output.note(`${wallets} wallets verified, ${wrong} wrong, ${pending} pending`);
    if (wrong > 0) process.exitCode = 1;
  },
});

function describe({ organizationId, balanceMicros, entries, findings, pending }: Verification): string {
  const state = findings.length > 0 ? "WRONG" : pending.length > 0 ? "pending" : "ok";
  const lines = [...findings, ...pending.map((finding) => `pending: ${finding}`)];
  const summary = `${organizationId}  ${moneyText(balanceMicros)}  ${entries} entries  ${state}`;
  return [summary, ...lines.map((line) => `    ${line}`)].join("\n");
}
