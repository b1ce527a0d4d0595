import { countryOfNumber } from "../../shared/messages/destinations/numbering-plan.ts";
import type { MessageRecord } from "../../shared/messages/message/record.ts";
import { costOfNetwork, type CostList } from "./cost-list.ts";
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
  readonly period: { readonly start: string; readonly end: string };
  readonly list: CostList | undefined;
  /** The references of tests by operators, which are billed and of no customer. */
  readonly tests: ReadonlySet<string>;
}

/** Amounts are rounded up to micro-units on both sides. */
const roundingMicros = 1;

/**
 * Compares an invoice that has a line for each message. A reference is the carrier's or the gateway's ID of the message. A message
 * may be billed in another month than that of its submission. It is missing only if it was sent in the month of the invoice.
 */
export class MessageComparison {
  readonly #question: Question;
  readonly #open: Map<string, InvoiceLine[]>;
  readonly #differences: Difference[] = [];
  #matched = 0;

  constructor(lines: readonly InvoiceLine[], question: Question) {
    this.#question = question;
    this.#open = Map.groupBy(lines, ({ reference = "" }) => reference);
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
    const name = this.#open.has(carrierReference) ? carrierReference : id;
    const [line, ...repeats] = this.#open.get(name) ?? [];
    this.#open.delete(name);
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
    const billed = { line: line.line, billedParts: line.parts, billedMicros: line.micros, expectedMicros };
    const kind = !isSent ? "outcome unknown" : kindOf(line, segments, expectedMicros);
    if (kind === undefined) this.#matched += 1;
    else this.#differences.push({ kind, ...sent, ...billed });
    for (const repeat of repeats) {
      const again = {
        line: repeat.line,
        billedParts: repeat.parts,
        billedMicros: repeat.micros,
        expectedMicros: 0,
      };
      this.#differences.push({ kind: "billed twice", ...sent, ...again });
    }
  }

  /** Returns the result, after all messages. */
  end(): Comparison {
    const isTest = ({ reference = "" }: InvoiceLine): boolean => this.#question.tests.has(reference);
    const unsent = [...this.#open.values()].flat();
    const differences = [...this.#differences, ...unsent.filter((line) => !isTest(line)).map(notSent)];
    const tests = unsent.filter(isTest).length;
    return { differences: differences.toSorted(byLine), matched: this.#matched, tests };
  }

  #expected(
    { costMicros, segments, sentAt = "" }: SentMessage,
    { network }: InvoiceLine,
    country = "",
  ): number | undefined {
    const { list } = this.#question;
    const listed = list === undefined ? undefined : costOfNetwork(list, { country, network, at: sentAt });
    return listed === undefined ? costMicros : listed * segments;
  }
}

function kindOf(
  { parts, micros }: InvoiceLine,
  segments: number,
  expectedMicros: number | undefined,
): "other parts" | "other price" | undefined {
  if (parts !== segments) return "other parts";
  if (expectedMicros === undefined) return "other price";
  return Math.abs(micros - expectedMicros) > roundingMicros * parts ? "other price" : undefined;
}

function notSent({ line, country, day, parts, micros }: InvoiceLine): Difference {
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
  const hasDays = lines.every(({ day }) => day !== undefined);
  const nameOf = ({ country = "", day = "" }: Pick<InvoiceLine, "country" | "day">): string =>
    hasDays ? `${country} ${day}` : country;
  const sent = Map.groupBy(sums, nameOf);
  const billed = Map.groupBy(lines, nameOf);
  let matched = 0;
  const differences = [...new Set([...billed.keys(), ...sent.keys()])].flatMap((name): Difference[] => {
    const [ofInvoice, ofGateway] = [billed.get(name) ?? [], sent.get(name) ?? []];
    const parts = total(ofInvoice.map((line) => line.parts));
    const micros = total(ofInvoice.map((line) => line.micros));
    const segments = total(ofGateway.map((sum) => sum.segments));
    const expectedMicros = total(ofGateway.map((sum) => sum.costMicros));
    const kind =
      parts === 0
        ? "sent, not billed"
        : segments === 0
          ? "billed, not sent"
          : kindOf({ ...noLine, parts, micros }, segments, expectedMicros);
    if (kind === undefined) {
      matched += ofInvoice.length;
      return [];
    }
    const [country, day] = name.split(" ");
    const both = { billedParts: parts, sentParts: segments, billedMicros: micros, expectedMicros };
    return [{ kind, line: ofInvoice[0]?.line, country, day, ...both }];
  });
  return { differences: differences.toSorted(byLine), matched, tests: 0 };
}

const noLine = { line: 0, reference: undefined, day: undefined, country: undefined, network: "" };

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}
