import * as z from "zod/mini";

import { paymentsCompared, readNotices } from "../../shared/figures/operators/record.ts";
import { findDifferences } from "../../shared/money/payments/compare.ts";
import { paymentSettings } from "../../shared/money/payments/settings.ts";
import { RejectedError } from "../../shared/platform/rejected-error.ts";
import { command, count, daysAgo, part } from "./command.ts";
import { daysBefore } from "./margins.ts";

const compare = command({
  name: "payments compare",
  summary: "Compare the provider's payments with the gateway's, in both directions",
  details:
    "Changes nothing. `lost` is a payment of this stage that the table has lost: see payments adopt. `foreign` is one that this " +
    "stage did not make. `other account` is one of another account than that of the keys. `no organization` is one of a release before 0.4.0 whose organization is gone. `differs` has another " +
    "total or currency. `not credited` has not reached the wallet. `missing` was credited, and did not succeed at the " +
    "provider. A difference exits with 1.",
  examples: ["--stage prod", "--days 30 --stage prod --json"],
  input: z.object({
    days: part("--days <days>", "number of past days; default: 7", z._default(count(90), 7)),
  }),
  run: async ({ days }, { output }) => {
    if (paymentSettings().cards === "none") throw new RejectedError("The stage accepts no cards.");
    const differences = await findDifferences(daysAgo(days));
    output.table(differences, {
      DIFFERENCE: "difference",
      "PROVIDER'S ID": "providerPaymentId",
      PAYMENT: "paymentId",
      ORGANIZATION: "organizationId",
    });
    output.note(`${differences.length} differences`);
    if (differences.length > 0) process.exitCode = 1;
  },
});

const listComparisons = command({
  name: "payments list-comparisons",
  summary: "List the daily comparisons with the payment provider, and their differences",
  details:
    "The gateway compares the payments of seven days each day. This command needs no key of the provider. A past day without a " +
    "comparison, or a difference, exits with 1. See payments compare for the differences.",
  examples: ["--stage prod", "--days 31 --stage prod --json"],
  input: z.object({
    days: part("--days <days>", "number of past days; default: 7", z._default(count(39), 7)),
  }),
  run: async ({ days }, { output }) => {
    if (paymentSettings().cards === "none") throw new RejectedError("The stage accepts no cards.");
    const notices = await readNotices(days);
    const compared = new Set(notices.flatMap(({ what, day }) => (what === paymentsCompared ? day : [])));
    const differences = notices.filter(({ what }) => what.startsWith("payment "));
    output.table(differences, {
      DAY: "day",
      DIFFERENCE: ({ what }) => what.slice("payment ".length),
      PAYMENT: "paymentId",
      ORGANIZATION: "organizationId",
    });
    const without = daysBefore(days, false).filter((day) => !compared.has(day));
    output.note(`${compared.size} comparisons, ${differences.length} differences`);
    if (without.length > 0) output.aside(`Warning: days without a comparison: ${without.join(", ")}`);
    if (without.length + differences.length > 0) process.exitCode = 1;
  },
});

export const paymentComparisonCommands = [compare, listComparisons];
