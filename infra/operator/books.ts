import { setTimeout as delay } from "node:timers/promises";

import { outputNames } from "@sms-gateway/stack/constructs/stack-outputs.ts";
import * as z from "zod/mini";

import { Month } from "../../shared/api/contract/primitives.ts";
import { findClosing, problemOf, startClosing } from "../../shared/figures/books/closing.ts";
import { findBooksTotal, type BooksTotal } from "../../shared/figures/books/record.ts";
import { moneyText } from "../../shared/money/wallet/money.ts";
import { minuteMs, now } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { RejectedError } from "../../shared/platform/rejected-error.ts";
import { writeBooks } from "./books-files.ts";
import { command, count, part, RequiredText } from "./command.ts";
import type { Context } from "./context.ts";
import { operatorIdentity } from "./identity.ts";
import { listOf, right } from "./output.ts";

const MonthPart = part("<month>", "month (UTC) such as 2026-11", Month);

const Differences = z
  .string()
  .check(z.regex(/^org_\w+:\d+(,org_\w+:\d+)*$/, "must be like org_01M7Y6EGDXHA99AE471ACHQK57:12"));

/** How often the command reads how far the function is. */
const pollMs = 500;

/** The longest time without progress. A run takes less than two minutes. */
const patienceMs = 10 * minuteMs;

const close = command({
  name: "books close",
  summary: "Close the books of a month for ever",
  details:
    "Adds up the ledger of each organization by type and country, and compares it with the balances to the micro-unit. Adds " +
    "the provider's fees and the carriers' costs. A difference leaves the month open, and all other customers are closed. " +
    "--accept books it as a movement of its own, `unexplained`. A function does the work, and the command shows its progress: the " +
    "work continues after an interruption, and a repetition shows it again. A month can be closed 70 minutes after its end, and " +
    "never changes afterwards.",
  examples: [
    "2026-11 --stage prod",
    "2026-11 --accept org_01M7Y6EGDXHA99AE471ACHQK57:12 --reason 'Ticket 4711'",
  ],
  asksFirst: true,
  input: z.object({
    month: MonthPart,
    accept: part(
      "--accept <differences>",
      "differences to book as unexplained, as organization:seq, separated by commas",
      z.optional(Differences),
    ),
    reason: part("--reason <text>", "why they are accepted, kept in the books", z.optional(RequiredText)),
  }),
  run: async ({ month, accept, reason }, { output, stage, stackOutput, confirm, changed }) => {
    if (accept !== undefined && reason === undefined) throw new RejectedError("--accept needs a --reason.");
    await confirm(`close the books of ${month} for ever. Accepted differences: ${accept ?? "none"}`);
    process.env[environmentNames.queueUrl.books] = stackOutput(outputNames.queueUrl("books")).value;
    const closedBy = await operatorIdentity(stage);
    const { id } = await startClosing(month, { closedBy, accepted: accept?.split(","), reason });
    const total = await follow(month, id, output);
    changed({ closingMicros: total.closingMicros, liabilityMicros: total.liabilityMicros });
    output.result(total, totalText(total));
    if (total.openDays > 0) {
      output.note(
        `The costs of ${total.openDays} days of organizations are not final, because scheduled messages are still to be ` +
          "sent. Costs that follow are in the next month's books.",
      );
    }
    if (total.messagesWithoutCost > 0)
      output.note(`The costs of ${total.messagesWithoutCost} messages are unknown and not included.`);
  },
});

/**
 * Waits until a closing has ended.
 * @throws RejectedError when it has failed, or was replaced
 * @throws Error when the function makes no progress
 */
export async function follow(
  month: string,
  id: string,
  output: Pick<Context["output"], "progress">,
): Promise<BooksTotal> {
  let [runs, since] = [0, now()];
  for (;;) {
    const closing = await findClosing(month);
    if (closing?.id !== id)
      throw new RejectedError(`Another command closes ${month} now. Repeat the command.`);
    if (closing.status === "failed") throw new RejectedError(problemOf(closing));
    const total = closing.status === "closed" ? await findBooksTotal(month) : undefined;
    if (total !== undefined) return total;
    output.progress(`${closing.total.organizations} customers added up`);
    if (closing.runs !== runs) [runs, since] = [closing.runs, now()];
    if (now().getTime() - since.getTime() > patienceMs) {
      throw new Error(
        "The function has made no progress for ten minutes. See its alarms, and repeat the command.",
      );
    }
    await delay(pollMs);
  }
}

const list = command({
  name: "books list",
  summary: "List the months that are closed, or being closed, the newest first",
  examples: ["--stage prod", "--months 120 --json"],
  input: z.object({
    months: part("--months <number>", "number of past months; default: 36", z._default(count(600), 36)),
  }),
  run: async ({ months }, { output }) => {
    const today = now();
    const names = Array.from({ length: months }, (_, index) =>
      new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - 1 - index)).toISOString().slice(0, 7),
    );
    const rows = [];
    for (const month of names) {
      const [closed, closing] = await Promise.all([findBooksTotal(month), findClosing(month)]);
      const total = closed ?? closing?.total;
      if (total === undefined) continue;
      const status = closed === undefined ? (closing?.status ?? "") : "closed";
      rows.push({ ...total, closedAt: closed?.closedAt, status });
    }
    output.table(rows, {
      MONTH: "month",
      STATUS: "status",
      CUSTOMERS: "organizations",
      CLOSING: ({ closingMicros }) => right(moneyText(closingMicros)),
      REVENUE: ({ revenueMicros }) => right(moneyText(revenueMicros)),
      COST: ({ costMicros }) => right(moneyText(costMicros)),
      "CLOSED AT": "closedAt",
      BY: "closedBy",
    });
    output.note(`${rows.length} of ${months} months`);
  },
});

const exportBooks = command({
  name: "books export",
  summary: "Write the books of a closed month as CSV files",
  details:
    "Creates a folder with total.csv, customers.csv, countries.csv and payments.csv. Amounts are in the stage's currency, with " +
    "six decimals, and add up to the ledger exactly.",
  examples: ["2026-11 --to books-2026-11 --stage prod"],
  input: z.object({ month: MonthPart, to: part("--to <folder>", "new folder", RequiredText) }),
  run: async ({ month, to }, { output, record, changed }) => {
    const total = await findBooksTotal(month);
    if (total === undefined) {
      throw new RejectedError(`The books of ${month} are not closed. Run books close ${month} first.`);
    }
    await record({});
    const files = await writeBooks(total, to);
    changed({ organizations: total.organizations });
    output.result({ month, to, files }, `The books of ${month} are in ${to}: ${files.join(", ")}`);
  },
});

function totalText(total: BooksTotal): string {
  const movements = Object.entries(total.movements).map(([type, micros]) => [type, moneyText(micros)]);
  return listOf({
    Month: total.month,
    Customers: String(total.organizations),
    "Opening balances": moneyText(total.openingMicros),
    ...Object.fromEntries(movements),
    "Closing balances": moneyText(total.closingMicros),
    "Liability (prepaid balances)": moneyText(total.liabilityMicros),
    "Owed by customers": moneyText(total.owedMicros),
    Revenue: moneyText(total.revenueMicros),
    "Carrier cost": moneyText(total.costMicros),
    Margin: moneyText(total.revenueMicros - total.costMicros),
    "Provider fees": moneyText(total.feeMicros),
  });
}

export const booksCommands = [close, list, exportBooks];
