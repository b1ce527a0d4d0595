import * as z from "zod/mini";

/*
 * Evaluates alarms of a template as CloudWatch does: the expression of each period, missing data, and the periods that have
 * to reach the threshold.
 */

const Metric = z.object({
  MetricName: z.string(),
  Dimensions: z._default(z.array(z.unknown()), []),
});
const Part = z.object({
  Id: z.string(),
  Expression: z.optional(z.string()),
  MetricStat: z.optional(z.object({ Metric, Stat: z.string(), Period: z.number() })),
  ReturnData: z._default(z.boolean(), true),
});
export const EvaluatedAlarm = z.object({
  ...z.partial(Metric).shape,
  AlarmName: z.string(),
  AlarmDescription: z.string(),
  Metrics: z.optional(z.array(Part)),
  Period: z.optional(z.number()),
  Statistic: z.optional(z.string()),
  ExtendedStatistic: z.optional(z.string()),
  Threshold: z.number(),
  ComparisonOperator: z.string(),
  EvaluationPeriods: z.number(),
  DatapointsToAlarm: z.number(),
  TreatMissingData: z.string(),
});
export type EvaluatedAlarm = z.infer<typeof EvaluatedAlarm>;

/**
 * The metrics of a situation, by the name of the metric, or as `name@text` for those with the text in their dimensions. Counts are
 * per minute, other statistics are values. A metric that is not there has no data.
 */
export type Situation = Readonly<Record<string, number | undefined>>;

/** The limit that `SERVICE_QUOTA` returns. */
const serviceQuota = 1_000;

type Value = number | undefined;

/** Whether the alarm fires when the situation has lasted for all of its periods. */
export function fires(alarm: EvaluatedAlarm, situation: Situation): boolean {
  const { Threshold, ComparisonOperator, EvaluationPeriods, DatapointsToAlarm, TreatMissingData } = alarm;
  const value = valueOf(alarm, situation);
  const isBreaching =
    value === undefined ? TreatMissingData === "breaching" : compare(ComparisonOperator, value, Threshold);
  return isBreaching && DatapointsToAlarm <= EvaluationPeriods;
}

function compare(operator: string, value: number, threshold: number): boolean {
  if (operator === "GreaterThanOrEqualToThreshold") return value >= threshold;
  if (operator === "LessThanThreshold") return value < threshold;
  throw new Error(`unknown operator ${operator}`);
}

function valueOf(alarm: EvaluatedAlarm, situation: Situation): Value {
  const { Metrics, MetricName, Dimensions, Period = 0, Statistic, ExtendedStatistic } = alarm;
  if (Metrics === undefined) {
    return seen(situation, MetricName ?? "", Dimensions ?? [], Statistic ?? ExtendedStatistic ?? "", Period);
  }
  const ofId = (id: string): Value => {
    const { Expression, MetricStat } = Metrics.find(({ Id }) => Id === id) ?? {};
    if (Expression !== undefined) return new Formula(Expression, ofId).result();
    if (MetricStat === undefined) throw new Error(`there is no metric ${id}`);
    const { Metric: metric, Stat, Period: period } = MetricStat;
    return seen(situation, metric.MetricName, metric.Dimensions, Stat, period);
  };
  const returned = Metrics.filter(({ ReturnData }) => ReturnData);
  if (returned.length !== 1) throw new Error(`${alarm.AlarmName} returns ${returned.length} values`);
  return ofId(returned[0]?.Id ?? "");
}

function seen(
  situation: Situation,
  name: string,
  dimensions: readonly unknown[],
  statistic: string,
  periodSeconds: number,
): Value {
  const text = JSON.stringify(dimensions);
  const special = Object.keys(situation).find((key) => {
    const [metric, part] = key.split("@");
    return metric === name && part !== undefined && text.includes(part);
  });
  const value = situation[special ?? name];
  const isCount = statistic === "Sum" || statistic === "SampleCount";
  return value === undefined || !isCount ? value : (value * periodSeconds) / 60;
}

/** One period of an expression of CloudWatch. A missing value makes a result missing, and so does a division by zero. */
class Formula {
  readonly #words: readonly string[];
  readonly #valueOf: (id: string) => Value;
  #position = 0;

  constructor(expression: string, valueOfId: (id: string) => Value) {
    this.#words = expression.match(/[A-Za-z_]\w*|\d+(\.\d+)?|>=|<=|==|[^\s]/g) ?? [];
    this.#valueOf = valueOfId;
  }

  result(): Value {
    const value = this.#comparison();
    if (this.#position < this.#words.length) throw new Error(`unexpected ${this.#next()}`);
    return value;
  }

  #next(): string {
    this.#position += 1;
    return this.#words[this.#position - 1] ?? "";
  }

  #accepts(...words: string[]): string | undefined {
    return words.includes(this.#words[this.#position] ?? "") ? this.#next() : undefined;
  }

  #chain(part: () => Value, operators: Readonly<Record<string, (a: number, b: number) => number>>): Value {
    let left = part();
    for (let word = this.#accepts(...Object.keys(operators)); word !== undefined;) {
      const right = part();
      const result = left === undefined || right === undefined ? Number.NaN : operators[word]?.(left, right);
      left = result !== undefined && Number.isFinite(result) ? result : undefined;
      word = this.#accepts(...Object.keys(operators));
    }
    return left;
  }

  #comparison(): Value {
    return this.#chain(() => this.#sum(), {
      ">=": (a, b) => Number(a >= b),
      "<=": (a, b) => Number(a <= b),
      ">": (a, b) => Number(a > b),
      "<": (a, b) => Number(a < b),
      "==": (a, b) => Number(a === b),
    });
  }

  #sum(): Value {
    return this.#chain(() => this.#product(), { "+": (a, b) => a + b, "-": (a, b) => a - b });
  }

  #product(): Value {
    return this.#chain(() => this.#factor(), { "*": (a, b) => a * b, "/": (a, b) => a / b });
  }

  #factor(): Value {
    const word = this.#next();
    if (word === "(") {
      const [value] = this.#list(")");
      return value;
    }
    if (/^\d/.test(word)) return Number(word);
    if (this.#accepts("(") === undefined) return this.#valueOf(word);
    const isOfList = this.#accepts("[") !== undefined;
    const values = this.#list(isOfList ? "]" : ")");
    if (isOfList) this.#list(")");
    return call(word, values);
  }

  #list(end: string): Value[] {
    const values: Value[] = [];
    while (this.#accepts(end) === undefined) {
      values.push(this.#comparison());
      this.#accepts(",");
    }
    return values;
  }
}

function call(name: string, values: readonly Value[]): Value {
  const [first, second, third] = values;
  const present = values.filter((value) => value !== undefined);
  if (name === "FILL") return first ?? second;
  if (name === "IF") return first === undefined ? undefined : first > 0 ? second : third;
  if (name === "SUM") return present.length === 0 ? undefined : present.reduce((sum, each) => sum + each, 0);
  if (name === "MAX") return present.length === 0 ? undefined : Math.max(...present);
  if (name === "SERVICE_QUOTA") return serviceQuota;
  throw new Error(`the evaluation does not know the function ${name}`);
}
