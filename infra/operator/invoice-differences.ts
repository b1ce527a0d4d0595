import type { Period } from "../../shared/figures/books/movements.ts";
import { countryOfNumber } from "../../shared/messages/destinations/numbering-plan.ts";
import type { MessageRecord } from "../../shared/messages/message/record.ts";
import { costOfMessage, sumOf, type CostList } from "./cost-list.ts";
import type { InvoiceLine } from "./invoice-lines.ts";

/** A line of an invoice that differs from the gateway's messages, or messages that the invoice does not have. */
export interface Difference {
  readonly kind:
    | "billed twice"
    | "billed, not sent"
    | "other parts"
    | "other price"
    | "outcome unknown"
    | "sent, not billed";
  /** The line of the invoice. */
  readonly line?: number | undefined;
  readonly message?: string | undefined;
  readonly country: string | undefined;
  readonly day?: string | undefined;
  readonly billedParts: number;
  readonly sentParts: number;
  readonly billedMicros: number;
  readonly expectedMicros: number | undefined;
}

export interface Comparison {
  readonly differences: readonly Difference[];
  readonly matched: number;
  /** The lines of tests by operators. */
  readonly tests: number;
  /** The lines for which the price list has no cost, so that the recorded one was expected. */
  readonly unlisted: number;
}

/** A message as the comparison needs it. */
export type SentMessage = Pick<
  MessageRecord,
  | "attemptLog"
  | "carrier"
  | "carrierReference"
  | "costMicros"
  | "id"
  | "segments"
  | "sentAt"
  | "status"
  | "to"
>;

/** The month of an invoice, and the carrier's price list. */
interface Question {
  readonly carrier: string;
  readonly period: Period;
  readonly list: CostList | undefined;
  /** The references of tests by operators, which are billed and of no customer. */
  readonly tests: ReadonlySet<string>;
}

/** Costs are rounded up to micro-units on both sides. */
const roundingMicros = 1;

/**
 * Compares an invoice that has a line for each message. A reference is the carrier's or the gateway's ID of the message, in upper or lower
 * case. A message may be billed in another month than that of its submission. It is missing only if it was sent in the month of the
 * invoice. A line without a reference is a charge that no message has.
 */
export class MessageComparison {
  readonly #question: Question;
  readonly #open: Map<string, InvoiceLine[]>;
  readonly #differences: Difference[] = [];
  #matched = 0;
  #unlisted = 0;

  constructor(lines: readonly InvoiceLine[], question: Question) {
    this.#question = question;
    this.#open = Map.groupBy(lines, ({ reference = "" }) => nameOf(reference));
  }

  /** Compares a message of any time and carrier. */
  add(message: SentMessage): void {
    const { carrier, period } = this.#question;
    const { id, carrierReference = id, sentAt = "", segments, status } = message;
    const isSent = status === "sent" && message.carrier === carrier;
    const isUnknown = (message.attemptLog ?? []).some(
      (attempt) => attempt.carrier === carrier && attempt.outcome === "unknown",
    );
    if (!isSent && !isUnknown) return;
    const names = new Set([nameOf(carrierReference), nameOf(id)]);
    const all = [...names].flatMap((name) => this.#open.get(name) ?? []);
    for (const name of names) this.#open.delete(name);
    const [line, ...repeats] = mergedParts(all, segments);
    const country = countryOfNumber(message.to);
    const sent = { message: id, country, sentParts: segments };
    if (line === undefined) {
      if (!isSent || sentAt < period.start || sentAt >= period.end) return;
      const expectedMicros = message.costMicros;
      this.#differences.push({
        kind: "sent, not billed",
        ...sent,
        billedParts: 0,
        billedMicros: 0,
        expectedMicros,
      });
      return;
    }
    const expectedMicros = this.#expected(message, line, country);
    const kind = !isSent ? "outcome unknown" : kindOf(line, segments, expectedMicros);
    if (kind === undefined) this.#matched += 1;
    else this.#differences.push({ kind, ...sent, ...billedBy(line, segments), expectedMicros });
    for (const repeat of repeats)
      this.#differences.push({
        kind: "billed twice",
        ...sent,
        ...billedBy(repeat, segments),
        expectedMicros: 0,
      });
  }

  /** Returns the result, after all messages. */
  end(): Comparison {
    const namesOfTests = new Set(Array.from(this.#question.tests, nameOf));
    const isTest = ({ reference = "" }: InvoiceLine): boolean => namesOfTests.has(nameOf(reference));
    const unsent = [...this.#open.values()].flat();
    const differences = [...this.#differences, ...unsent.filter((line) => !isTest(line)).map(notSent)];
    const tests = unsent.filter(isTest).length;
    return {
      differences: differences.toSorted(byLine),
      matched: this.#matched,
      tests,
      unlisted: this.#unlisted,
    };
  }

  /** Returns the expected cost of a message: that of the price list, or else the recorded one, which counts as unlisted. */
  #expected(
    { costMicros, segments, sentAt = "", to }: SentMessage,
    { network, country: ofLine }: InvoiceLine,
    country = "",
  ): number | undefined {
    const { list } = this.#question;
    if (list === undefined) return costMicros;
    const listed = costOfMessage(list, { to, country: ofLine ?? country, network, at: sentAt });
    if (listed === undefined) this.#unlisted += 1;
    return listed === undefined ? costMicros : listed * segments;
  }
}

/** Returns a reference as it is compared: the ID of a message that it contains, or all of it. */
function nameOf(reference: string): string {
  const name = reference.toLowerCase();
  return /msg_[\da-z]{26}/.exec(name)?.[0] ?? name;
}

/** Returns the lines of a message. Where each of its parts has a line, they become one line. */
function mergedParts(lines: readonly InvoiceLine[], segments: number): readonly InvoiceLine[] {
  const [first] = lines;
  const isOfParts = lines.length === segments && lines.every(({ parts }) => parts === 1);
  if (first === undefined || segments === 1 || !isOfParts) return lines;
  const toleranceMicros = sumOf(lines.map((line) => line.toleranceMicros));
  return [{ ...first, parts: segments, micros: sumOf(lines.map(({ micros }) => micros)), toleranceMicros }];
}

function billedBy({ line, parts, micros }: InvoiceLine, segments: number) {
  return { line, billedParts: parts ?? segments, billedMicros: micros };
}

function kindOf(
  { parts, micros, toleranceMicros }: Pick<InvoiceLine, "micros" | "parts" | "toleranceMicros">,
  segments: number,
  expectedMicros: number | undefined,
): "other parts" | "other price" | undefined {
  if (parts !== undefined && parts !== segments) return "other parts";
  if (expectedMicros === undefined) return "other price";
  const tolerance = toleranceMicros + roundingMicros * segments;
  return Math.abs(micros - expectedMicros) > tolerance ? "other price" : undefined;
}

function notSent({ line, country, day, parts = 0, micros }: InvoiceLine): Difference {
  const billed = { billedParts: parts, billedMicros: micros };
  return { kind: "billed, not sent", line, country, day, ...billed, sentParts: 0, expectedMicros: 0 };
}

function byLine({ line: one = Infinity }: Difference, { line: other = Infinity }: Difference): number {
  return one === other ? 0 : one - other;
}

/** The messages that the gateway sent by one carrier to a country on a day. */
export interface SentSum {
  readonly country: string;
  readonly day: string;
  readonly segments: number;
  readonly costMicros: number;
}

/** Compares an invoice that has sums by country, or by country and day, with the margins of the month. */
export function compareSums(lines: readonly InvoiceLine[], sums: readonly SentSum[]): Comparison {
  const charges = lines.filter(({ country }) => country === undefined);
  const ofCountries = lines.filter(({ country }) => country !== undefined);
  const hasDays = ofCountries.every(({ day }) => day !== undefined);
  const groupOf = ({ country = "", day = "" }: Pick<InvoiceLine, "country" | "day">): string =>
    hasDays ? `${countryOfPlan[country] ?? country} ${day}` : (countryOfPlan[country] ?? country);
  const sent = Map.groupBy(sums, groupOf);
  const billed = Map.groupBy(ofCountries, groupOf);
  let matched = 0;
  const differences = [...new Set([...billed.keys(), ...sent.keys()])].flatMap((name): Difference[] => {
    const [ofInvoice, ofGateway] = [billed.get(name) ?? [], sent.get(name) ?? []];
    // A line of a sum without a number of parts has a charge alone.
    const parts = sumOf(ofInvoice.map((line) => line.parts ?? 0));
    const micros = sumOf(ofInvoice.map((line) => line.micros));
    const toleranceMicros = sumOf(ofInvoice.map((line) => line.toleranceMicros));
    const segments = sumOf(ofGateway.map((sum) => sum.segments));
    const expectedMicros = sumOf(ofGateway.map((sum) => sum.costMicros));
    const kind =
      ofInvoice.length === 0
        ? "sent, not billed"
        : segments === 0 && (parts > 0 || micros !== 0)
          ? "billed, not sent"
          : kindOf({ parts, micros, toleranceMicros }, segments, expectedMicros);
    if (kind === undefined) {
      matched += ofInvoice.length;
      return [];
    }
    const [country, day] = name.split(" ");
    const both = { billedParts: parts, sentParts: segments, billedMicros: micros, expectedMicros };
    return [{ kind, line: ofInvoice[0]?.line, country, day, ...both }];
  });
  const all = [...differences, ...charges.map(notSent)].toSorted(byLine);
  return { differences: all, matched, tests: 0, unlisted: 0 };
}

/** Carriers bill these countries as the one whose numbering plan they share. */
const countryOfPlan: Readonly<Record<string, string>> = { GG: "GB", IM: "GB", JE: "GB", AX: "FI", SJ: "NO" };
