import { MathExpression, Stats, type IMetric, type Metric } from "aws-cdk-lib/aws-cloudwatch";

import { pendingWorkIndex } from "../../../shared/platform/table/pending-work-index.ts";
import { alarmPeriod } from "./alarms.ts";
import type { Backend } from "./backend.ts";
import { tailOf } from "./commands.ts";
import type { Watched } from "./stage-alarms.ts";

/** The operations of DynamoDB that the functions use. */
const tableOperations = [
  "BatchGetItem",
  "DeleteItem",
  "GetItem",
  "PutItem",
  "Query",
  "TransactWriteItems",
  "UpdateItem",
];

export function addTableAlarms({ table, alarms }: Pick<Watched, "alarms" | "table">): void {
  alarms.add("table-throttles", "ticket", {
    means: "DynamoDB has throttled reads or writes: customers may get 503, and jobs are retried later.",
    firstStep: "See whose keys are throttled: an organization, a carrier, or the whole table (no KeyRange).",
    command: tailOf(alarms, "workers", '{ $.event = "table.throttled" }'),
    metric: tableThrottles(table),
    threshold: 10,
    evaluationPeriods: 3,
    datapointsToAlarm: 2,
  });
  alarms.add("table-errors", "outage", {
    means: "DynamoDB itself fails: customers get 503, and jobs are retried later. No payment is lost.",
    firstStep: "Look at AWS Health for DynamoDB in the region, and wait.",
    command: "aws health describe-events --region us-east-1 --filter services=DYNAMODB,eventStatusCodes=open",
    metric: tableErrors(table),
    threshold: 10,
    evaluationPeriods: 3,
    datapointsToAlarm: 2,
  });
}

/** Returns the throttled reads and writes of the table and its index. */
export function tableThrottles(table: Backend["table"]): IMetric {
  const ofIndex = { TableName: table.tableName, GlobalSecondaryIndexName: pendingWorkIndex.name };
  const events = (metricName: string, dimensionsMap?: Record<string, string>): Metric =>
    table.metric(metricName, {
      statistic: Stats.SUM,
      ...(dimensionsMap === undefined ? {} : { dimensionsMap }),
    });
  return sumOf("throttled", {
    reads: events("ReadThrottleEvents"),
    writes: events("WriteThrottleEvents"),
    indexReads: events("ReadThrottleEvents", ofIndex),
    indexWrites: events("WriteThrottleEvents", ofIndex),
  });
}

/** Returns the requests, over all operations, that failed with an error of DynamoDB's own. */
export function tableErrors(table: Backend["table"]): IMetric {
  const ofOperations = tableOperations.map((operation, index) => [
    `errors${index}`,
    table.metric("SystemErrors", {
      statistic: Stats.SUM,
      dimensionsMap: { TableName: table.tableName, Operation: operation },
    }),
  ]);
  return sumOf("errors", Object.fromEntries(ofOperations));
}

/** Adds metrics up. A metric without data counts as 0: DynamoDB writes none while nothing is throttled or fails. */
function sumOf(label: string, usingMetrics: Record<string, IMetric>): MathExpression {
  const filled = Object.keys(usingMetrics).map((id) => `FILL(${id}, 0)`);
  return new MathExpression({
    expression: `SUM([${filled.join(", ")}])`,
    usingMetrics,
    label,
    period: alarmPeriod,
  });
}
