import {
  countryIn,
  currenciesOf,
  destinationColumns,
  microsIn,
  Moments,
  networkIn,
  problem,
  readCarrierFile,
} from "./carrier-file.ts";
import { shown, type Problem } from "./rates-file.ts";

/** A line of a carrier's invoice: a message if it has a reference, else a sum by country. */
export interface InvoiceLine {
  readonly line: number;
  /** The carrier's or the gateway's ID of a message. */
  readonly reference: string | undefined;
  /** The day (UTC), if the invoice has one for each line. */
  readonly day: string | undefined;
  readonly country: string | undefined;
  /** MCC and MNC; empty if the invoice has none. */
  readonly network: string;
  readonly parts: number;
  /** The cost of all parts, in micro-units of the stage's currency. */
  readonly micros: number;
}

const columns = {
  ...destinationColumns,
  reference: /^((external |client )?(reference|ref)|(message|msg|sms|uuid|transaction)( ?id)?|id)$/,
  day: /^(date|day|time|date time|sent|sent at|(sent|submit|submitted) (date|time|at)|timestamp)$/,
  parts: /^((billed|number of|sms) )?(parts|segments|units|quantity|qty|count|volume|messages)$/,
  price: /^((unit|net|sms) )?(price|rate)( (per sms|per segment|per part))?$/,
  amount: /^((net|total|line) )?(amount|total|cost|charge|sum)$/,
} as const;

/**
 * Reads the lines of a carrier's invoice. A line without parts has one. An amount is that of all parts, and a price that of one.
 * @param options `rate`: the price of one unit of the invoice's currency in the stage's
 */
export async function readInvoice(
  file: string,
  { rate, currency }: { readonly rate: number | undefined; readonly currency: string },
): Promise<{ readonly lines: readonly InvoiceLine[] } | { readonly errors: readonly Problem[] }> {
  const read = await readCarrierFile(
    file,
    columns,
    (found) =>
      (found.has("price") || found.has("amount")) &&
      ["reference", "country", "mcc", "mccmnc"].some((name) => found.has(name)),
  );
  if ("problem" in read) return { errors: [read] };
  const { amount: amountHeading, price = amountHeading } = read.headings;
  const headings = price === undefined ? {} : { price };
  const others = [...currenciesOf({ ...read, headings })].filter((each) => each !== currency);
  if (others.length > 0 && rate === undefined) {
    const text = `the amounts are in ${others.join(" and ")}, and the stage's currency is ${currency}: state --rate`;
    return { errors: [problem(1, "price", text)] };
  }
  const errors: Problem[] = [];
  const moments = new Moments(read.lines.map(({ cells }) => cells.day ?? ""));
  const lines = read.lines.flatMap(({ line, cells }): InvoiceLine[] => {
    const before = errors.length;
    const wrong = (column: string, text: string): void => void errors.push(problem(line, column, text));
    const { mcc, mnc } = networkIn(cells);
    const country = countryIn({ country: cells.country, mcc });
    const day = moments.read(cells.day ?? "");
    const parts = Number((cells.parts || "1").replaceAll(/[\s,.]/g, ""));
    const [name, cell] = cells.amount === undefined ? ["price", cells.price] : ["amount", cells.amount];
    const micros = microsIn(cell ?? "", rate ?? 1);
    if (!Number.isSafeInteger(parts)) wrong("parts", `${shown(cells.parts ?? "")} must be a whole number`);
    if (micros === undefined) wrong(name, `${shown(cell ?? "")} must be an amount such as 0.0075`);
    if ("problem" in day) wrong("date", day.problem);
    const reference = cells.reference || undefined;
    if (reference === undefined && country === undefined)
      wrong("country", "the line has neither a reference nor a country");
    if (errors.length > before || micros === undefined || "problem" in day) return [];
    const all = cells.amount === undefined ? micros * parts : micros;
    const network = mnc === "" ? "" : `${mcc}${mnc}`;
    return [{ line, reference, day: day.at.slice(0, 10) || undefined, country, network, parts, micros: all }];
  });
  if (read.lines.length === 0) errors.push(problem(1, "", "there is no row after the headings"));
  return errors.length > 0 ? { errors } : { lines };
}
