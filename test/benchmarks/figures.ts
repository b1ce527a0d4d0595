import { right, tableOf, type Columns } from "../../infra/operator/output.ts";

/** One measured value of a suite. */
export interface Figure {
  readonly suite: string;
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** The budget of the project, if it has one. */
  readonly atMost?: number;
}

interface SuiteOptions {
  /** Measures less of it, and less often. */
  readonly isQuick: boolean;
}

/** A suite: it reports its figures, and notes on them, as it gets them. */
export type Suite = (options: SuiteOptions, note: (text: string) => void) => Promise<readonly Figure[]>;

/** All figures as one table. */
export function tableOfFigures(figures: readonly Figure[]): string {
  return tableOf(figures, columns);
}

const columns: Columns<Figure> = {
  suite: "suite",
  what: "what",
  value: ({ value }) => right(rounded(value)),
  unit: "unit",
  budget: budgetText,
};

function budgetText({ value, atMost }: Figure): string {
  if (atMost === undefined) return "";
  return `at most ${rounded(atMost)}: ${value <= atMost ? "held" : "MISSED"}`;
}

/** Three digits: a machine that also does other work measures no more. */
function rounded(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}

/** A quantile of sorted values. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** The median of some values. */
export function median(values: readonly number[]): number {
  return quantile(
    values.toSorted((one, other) => one - other),
    0.5,
  );
}
