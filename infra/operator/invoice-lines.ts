import { destinationColumns, problem, readCarrierFile } from "./carrier-file.ts";
import {
  Amounts,
  currenciesIn,
  destinationIn,
  isProblem,
  Moments,
  rateOf,
  wholeNumberIn,
} from "./carrier-values.ts";
import { shown, type Problem } from "./rates-file.ts";

/** A line of a carrier's invoice: a message if it has a reference, else a sum by country, or a charge without either. */
export interface InvoiceLine {
  readonly line: number;
  /** The carrier's or the gateway's ID of a message, as the invoice has it. */
  readonly reference: string | undefined;
  /** The day (UTC), if the invoice has one for each line. */
  readonly day: string | undefined;
  readonly country: string | undefined;
  /** MCC and MNC; empty if the invoice has none. */
  readonly network: string;
  /** Undefined if the invoice does not state it. */
  readonly parts: number | undefined;
  /** The cost of all parts, in micro-units of the stage's currency. A credit is negative. */
  readonly micros: number;
  /** How far a rounded amount may be from the exact one. */
  readonly toleranceMicros: number;
}

const columns = {
  ...destinationColumns,
  reference:
    /^((external|client) )?(reference|ref)$|^(message|msg|sms|transaction) ?(id|sid|uuid)$|^(uuid|sid)$/,
  day: /^(date|day|time|date time|sent|sent at|(date|time) sent|(sent|submit|submitted) (date|time|at)|timestamp)$/,
  segments: /^((billed|number of|num|total|sms) )?(parts|segments)( count)?$/,
  count: /^((billed|number of|num|total|sms) )?(units|quantity|qty|count|volume|messages|sms)$/,
  price: /^((unit|net|sms) )?(price|rate)( (per (sms|segment|part|message|msg)))?$/,
  amount: /^((net|total|line) )?(amount|total|cost|charge|sum)$/,
} as const;

/**
 * Reads the lines of a carrier's invoice. An amount is that of all parts, and a price that of one. If all amounts are negative, as some
 * carriers write debits, they count as positive.
 * @param options `rate`: the price of one unit of the invoice's currency in the stage's
 */
export async function readInvoice(
  file: string,
  { rate: stated, currency }: { readonly rate: number | undefined; readonly currency: string },
): Promise<{ readonly lines: readonly InvoiceLine[] } | { readonly errors: readonly Problem[] }> {
  const read = await readCarrierFile(file, columns, {
    isWhole: (found) =>
      (found.has("price") || found.has("amount")) &&
      ["reference", "country", "mcc", "mccmnc"].some((name) => found.has(name)),
    needed: "Amount or Price, with Message ID, Country, or MCC and MNC",
  });
  if ("problem" in read) return { errors: [read] };
  const { headings } = read;
  const money = headings.amount === undefined ? "price" : "amount";
  const cellsOfMoney = read.lines.map(({ cells }) => cells[money] ?? "");
  const ofLines = read.lines.map(({ cells }) => cells.currency ?? "");
  const named = currenciesIn([headings[money] ?? "", ...ofLines, ...cellsOfMoney]);
  const rate = rateOf(named, currency, stated);
  if (isProblem(rate)) return { errors: [problem(1, money, rate.problem)] };
  const hasParts = headings.segments !== undefined || headings.count !== undefined;
  if (headings.reference === undefined && !hasParts)
    return {
      errors: [
        problem(1, "", "a line for several messages needs a column such as Parts, Segments or Quantity"),
      ],
    };
  const errors: Problem[] = [];
  const amounts = new Amounts(cellsOfMoney, rate);
  const moments = new Moments(read.lines.map(({ cells }) => cells.day ?? ""));
  const lines = read.lines.flatMap(({ line, cells }): InvoiceLine[] => {
    const before = errors.length;
    const wrong = (column: string, text: string): void => void errors.push(problem(line, column, text));
    const destination = destinationIn(cells);
    const day = moments.read(cells.day ?? "");
    const partsText = cells.segments || cells.count || "";
    const parts = partsText === "" ? undefined : wholeNumberIn(partsText);
    const amount = amounts.read(cells[money] ?? "");
    if (partsText !== "" && parts === undefined) wrong("parts", `${shown(partsText)} must be a whole number`);
    if (isProblem(amount)) wrong(money, amount.problem);
    if (isProblem(day)) wrong("date", day.problem);
    if (isProblem(destination)) wrong("network", destination.problem);
    if (errors.length > before || isProblem(amount) || isProblem(day) || isProblem(destination)) return [];
    const reference = cells.reference || undefined;
    const {
      country,
      networks: [network = ""],
    } = destination;
    const times = money === "price" ? (parts ?? 1) : 1;
    const toleranceMicros = amount.halfDigitMicros * times;
    const micros = amount.micros * times;
    return [
      {
        line,
        reference,
        day: day.slice(0, 10) || undefined,
        country,
        network,
        parts,
        micros,
        toleranceMicros,
      },
    ];
  });
  if (read.lines.length === 0) errors.push(problem(1, "", "there is no row after the headings"));
  const sign = lines.length > 0 && lines.every(({ micros }) => micros <= 0) ? -1 : 1;
  return errors.length > 0
    ? { errors }
    : { lines: lines.map((each) => ({ ...each, micros: sign * each.micros })) };
}
