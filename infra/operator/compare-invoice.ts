import * as z from "zod/mini";

import { Month } from "../../shared/api/contract/primitives.ts";
import { CarrierName, readCarriers } from "../../shared/carriers/record.ts";
import { periodOf } from "../../shared/figures/books/closing.ts";
import { daysFrom } from "../../shared/figures/books/costs.ts";
import type { Period } from "../../shared/figures/books/movements.ts";
import { readMargins } from "../../shared/messages/counts/figures.ts";
import { maxScheduleAheadMs } from "../../shared/messages/message/schedule.ts";
import { messagesBetween } from "../../shared/messages/search/find.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { dayMs, now } from "../../shared/platform/clock.ts";
import { config } from "../../shared/platform/config.ts";
import { RejectedError } from "../../shared/platform/rejected-error.ts";
import { referencesOfTests } from "./carriers-test.ts";
import { command, flag, part, RequiredText } from "./command.ts";
import type { Context } from "./context.ts";
import { readCostList } from "./cost-list.ts";
import { Rate } from "./import-costs.ts";
import {
  compareSums,
  MessageComparison,
  type Comparison,
  type Difference,
  type SentSum,
} from "./invoice-differences.ts";
import { readInvoice } from "./invoice-lines.ts";
import { hasSentSince, maxReadUnits } from "./messages-find.ts";
import { searchOrganizations } from "./organization.ts";
import { right, type Columns } from "./output.ts";
import { amountText } from "./price-changes.ts";
import { showProblems } from "./rates-file.ts";
import { countingReadUnits } from "./read-units.ts";

/** `carriers compare-invoice` */
export const compareInvoice = command({
  name: "carriers compare-invoice",
  summary: "Compare a carrier's invoice of a month with the messages that it accepted",
  details:
    "Reads CSV or Excel as the carrier sends it. Lines with the reference of a message are compared with that message. Other lines are " +
    "compared by country, and by day if each line has one. Prices are compared with the recorded costs. With --price-list they are " +
    "compared with the list, by network, which is exact where the recorded cost is a mean. Exits with 1 if there is a difference.",
  examples: [
    "acme invoice-2026-11.csv --month 2026-11 --stage prod",
    "acme invoice.csv --month 2026-11 --price-list acme.csv --rate 1.0842",
  ],
  input: z.object({
    carrier: part("<carrier>", "name of the carrier", CarrierName),
    file: part("<file>", "invoice of the carrier", RequiredText),
    month: part("--month <month>", "month (UTC) such as 2026-11", Month),
    priceList: part("--price-list <file>", "price list of the carrier", z.optional(RequiredText)),
    rate: Rate,
    csv: flag("--csv", "print the differences as a CSV file"),
  }),
  run: async ({ carrier, file, month, priceList, rate, csv }, { output, stageCarrier }) => {
    const money = { rate, currency: config.currency() };
    const invoice = await readInvoice(file, money);
    if ("errors" in invoice) return showProblems(invoice.errors, output);
    const list = priceList === undefined ? undefined : await readCostList(priceList, money);
    if (list !== undefined && "errors" in list) return showProblems(list.errors, output);
    const { lines } = invoice;
    const hasReferences = lines.some(({ reference }) => reference !== undefined);
    if (!hasReferences && list !== undefined)
      throw new RejectedError("--price-list needs an invoice with a reference for each message.");
    if (carrier !== stageCarrier && !(await readCarriers()).carriers.has(carrier))
      throw new RejectedError(`There is no carrier ${carrier}. See carriers list.`);
    const period = periodOf(month);
    const { differences, matched, ...comparison } = hasReferences
      ? await compareMessages(
          new MessageComparison(lines, {
            carrier,
            period,
            list,
            tests: await referencesOfTests(carrier, period),
          }),
          period,
          output,
        )
      : compareSums(lines, await sumsOf(carrier, period));
    if (now().toISOString() < period.end) output.aside(`Warning: the month ${month} is not over.`);
    if (comparison.unlisted > 0) {
      output.aside(
        `Warning: the price list has no cost for ${comparison.unlisted} lines. The recorded cost was expected.`,
      );
    }
    if (csv) output.csv(differences, columns);
    else output.table(differences, columns);
    const total = (of: (difference: Difference) => number): string =>
      amountText(differences.reduce((sum, difference) => sum + of(difference), 0));
    const billed = amountText(lines.reduce((sum, { micros }) => sum + micros, 0));
    if (!csv) {
      output.note(
        `${matched} of ${lines.length} lines match, ${comparison.tests} are of carriers test, ${differences.length} differences. Billed ${billed} ${money.currency}; ` +
          `the differences are billed ${total(({ billedMicros }) => billedMicros)}, expected ${total(({ expectedMicros = 0 }) => expectedMicros)}.`,
      );
    }
    if (differences.length > 0) process.exitCode = 1;
  },
});

/** How far the clock and the time zone of a carrier may be away, so that a message of another month is on an invoice. */
const otherMonthMs = 2 * dayMs;

/** Compares all messages that may have been sent in the period, with those that were scheduled long before. */
async function compareMessages(
  comparison: MessageComparison,
  { start, end }: Period,
  output: Context["output"],
): Promise<Comparison> {
  const since = new Date(Date.parse(start) - maxScheduleAheadMs - otherMonthMs);
  const until = new Date(Date.parse(end) + otherMonthMs);
  return countingReadUnits(async (readUnits) => {
    const isEnough = (): boolean => readUnits() >= maxReadUnits;
    const search = async (organizationId: string): Promise<readonly never[]> => {
      const wallet = await readWallet(organizationId);
      if (!hasSentSince(wallet, since)) return [];
      for await (const message of messagesBetween(wallet, since, until)) {
        if (isEnough()) break;
        comparison.add(message);
      }
      return [];
    };
    const { isWhole } = await searchOrganizations(search, output, { isEnough, most: Infinity });
    if (isWhole && !isEnough()) return comparison.end();
    throw new RejectedError(
      `The month has more messages than ${maxReadUnits} read units. Compare an invoice with sums by country and day.`,
    );
  });
}

/** Returns what a carrier accepted in a period, by country and the day on which a message was accepted from a customer. */
async function sumsOf(carrier: string, { start, end }: Period): Promise<SentSum[]> {
  const sums: SentSum[] = [];
  for (const day of daysFrom(start, end)) {
    for await (const { margins } of readMargins(day)) {
      sums.push(
        ...margins.filter((margin) => margin.carrier === carrier).map((margin) => ({ ...margin, day })),
      );
    }
  }
  return sums;
}

const amount = (micros: number | undefined) => right(micros === undefined ? "unknown" : amountText(micros));

const columns: Columns<Difference> = {
  KIND: "kind",
  LINE: "line",
  MESSAGE: "message",
  COUNTRY: "country",
  DAY: "day",
  "BILLED PARTS": "billedParts",
  "SENT PARTS": "sentParts",
  BILLED: ({ billedMicros }) => amount(billedMicros),
  EXPECTED: ({ expectedMicros }) => amount(expectedMicros),
};
