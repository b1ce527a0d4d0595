import { tableOf, type Column } from "../../infra/operator/output.ts";

/** One thing that a suite has measured. */
export interface Figure {
  readonly suite: string;
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** What the project has set itself, if anything. */
  readonly atMost?: number;
}

export interface SuiteOptions {
  /** Measures less of it, and less often. */
  readonly isQuick: boolean;
}

/** A suite: it tells its figures, and what is to be known about them, as it gets them. */
export type Suite = (options: SuiteOptions, note: (text: string) => void) => Promise<readonly Figure[]>;

/** All figures as one table. */
export function tableOfFigures(figures: readonly Figure[]): string {
  return tableOf(figures, columns);
}

const columns: readonly Column<Figure>[] = [
  { heading: "suite", text: ({ suite }) => suite },
  { heading: "what", text: ({ what }) => what },
  { heading: "value", text: ({ value }) => rounded(value), isNumber: true },
  { heading: "unit", text: ({ unit }) => unit },
  { heading: "budget", text: budgetText },
];

function budgetText({ value, atMost }: Figure): string {
  if (atMost === undefined) return "";
  return `at most ${rounded(atMost)}: ${value <= atMost ? "held" : "MISSED"}`;
}

/** Three digits say as much as a machine that does other things too can know. */
function rounded(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}

/** The value below which a share of the sorted values is. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** The middle one of some values. */
export function median(values: readonly number[]): number {
  return quantile(
    values.toSorted((one, other) => one - other),
    0.5,
  );
}
