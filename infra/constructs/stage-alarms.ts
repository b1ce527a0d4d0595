import { Duration } from "aws-cdk-lib";
import { MathExpression, Metric, Stats, TreatMissingData, type IMetric } from "aws-cdk-lib/aws-cloudwatch";

import type { MetricName } from "../../shared/platform/metrics.ts";
import { agendaIndex } from "../../shared/platform/table/keys.ts";
import type { Stage } from "../stages/stage.ts";
import { alarmPeriod, countedMetric, throttledRequests, type Alarms } from "./alarms.ts";
import { tailOf } from "./commands.ts";
import type { GatewayApi } from "./gateway-api.ts";
import type { Backend } from "./gateway-function.ts";

/** What the code asks DynamoDB for. */
const tableOperations = [
  "BatchGetItem",
  "DeleteItem",
  "GetItem",
  "PutItem",
  "Query",
  "TransactWriteItems",
  "UpdateItem",
];

const quarterOfAnHour = Duration.minutes(15);
const hour = Duration.hours(1);

/** What alarms look at beside the queues and the workers. */
export interface Watched {
  readonly stage: Stage;
  readonly api: GatewayApi;
  readonly table: Backend["table"];
  readonly alarms: Alarms;
}

/** Adds the alarms that belong to the stage as a whole. Those of a queue or a worker are made with it. */
export function addStageAlarms(watched: Watched): void {
  addApiAlarms(watched);
  addLambdaAlarms(watched.alarms);
  addTableAlarms(watched);
  addJobAndMoneyAlarms(watched);
  addCarrierAlarms(watched);
}

function addApiAlarms({ stage, api, alarms }: Watched): void {
  alarms.add({
    kind: "api-errors",
    means: "Of a hundred requests two or more end in a 5xx: customers cannot rely on their calls.",
    firstStep: "See which routes fail, and with what error.",
    command: tailOf(alarms, "api", '{ $.event = "request.crashed" || $.event = "request.failed" }'),
    metric: new MathExpression({
      expression: "100 * errors / requests",
      usingMetrics: {
        errors: api.metricServerError({ statistic: Stats.SUM }),
        requests: api.metricCount({ statistic: Stats.SAMPLE_COUNT }),
      },
      period: alarmPeriod,
    }),
    threshold: 2,
    // One failure in a quiet hour is a large share of nothing.
    stretches: 3,
    inStretches: 2,
  });
  alarms.add({
    kind: "api-latency",
    means:
      "For a quarter of an hour one request of a hundred has taken three seconds or more: callers give up.",
    firstStep: "See which routes are slow, and whether the time goes by inside the functions.",
    command: tailOf(alarms, "access", "{ $.latencyMs >= 3000 }"),
    metric: api.metricLatency({ statistic: Stats.percentile(99), period: alarmPeriod }),
    threshold: 3_000,
    stretches: 3,
  });
  alarms.add({
    kind: "api-throttles",
    means: "For a quarter of an hour requests have been refused with 429, before any function saw them.",
    firstStep:
      "See by address and route whether somebody floods the API or customers outgrow `throttle` of the stage.",
    command: tailOf(alarms, "access", '{ $.status = "429" && $.functionStatus != "429" }'),
    metric: countedMetric(stage, throttledRequests),
    threshold: 1,
    stretches: 3,
  });
  alarms.add({
    kind: "failed-logins",
    means: "A hundred wrong passwords within a quarter of an hour: somebody may be trying out passwords.",
    firstStep: "See which addresses they come from; each account and each address is limited already.",
    command: tailOf(alarms, "access", '{ $.routeKey = "POST /v1/auth/login" && $.status = "4*" }'),
    metric: countedMetric(stage, "FailedLogins", quarterOfAnHour),
    threshold: 100,
  });
}

/** Concurrency belongs to the account, so that these two ring for whatever runs in it. */
function addLambdaAlarms(alarms: Alarms): void {
  const showLimit = "aws lambda get-account-settings --query AccountLimit";
  alarms.add({
    kind: "lambda-throttles",
    means: "For a quarter of an hour Lambda has had no room for calls: requests end in a 5xx and jobs wait.",
    firstStep:
      "See how many calls the account may have at once, and ask AWS for more (Service Quotas, Lambda).",
    command: showLimit,
    metric: new Metric({
      namespace: "AWS/Lambda",
      metricName: "Throttles",
      statistic: Stats.SUM,
      period: alarmPeriod,
    }),
    threshold: 1,
    stretches: 3,
  });
  const usage = new Metric({
    namespace: "AWS/Usage",
    metricName: "ResourceCount",
    dimensionsMap: {
      Service: "Lambda",
      Type: "Resource",
      Resource: "ConcurrentExecutions",
      Class: "None",
    },
    statistic: Stats.MAXIMUM,
  });
  alarms.add({
    kind: "lambda-concurrency",
    means:
      "Four fifths of the calls that the account may have at once are under way: soon calls are refused.",
    firstStep: "Ask AWS for more (Service Quotas, Lambda), or lower workerConcurrency of the stage.",
    command: showLimit,
    metric: new MathExpression({
      expression: "100 * usage / SERVICE_QUOTA(usage)",
      usingMetrics: { usage },
      period: alarmPeriod,
    }),
    threshold: 80,
    stretches: 2,
  });
}

function addTableAlarms({ table, alarms }: Watched): void {
  alarms.add({
    kind: "table-throttles",
    means: "DynamoDB has refused reads or writes for want of room: customers see 503, jobs come again later.",
    firstStep: "See in infra/SCALE.md whose limit it is: one busy organisation's partition, or the table's.",
    command: tailOf(alarms, "api", '{ $.event = "request" && $.status = 503 }'),
    metric: tableThrottles(table),
    threshold: 10,
    stretches: 3,
    inStretches: 2,
  });
  alarms.add({
    kind: "table-errors",
    means: "DynamoDB itself fails: customers see 503, jobs come again later. Nothing that was paid is lost.",
    firstStep: "Look at AWS Health for DynamoDB in the region, and wait.",
    command: "aws health describe-events --region us-east-1 --filter services=DYNAMODB,eventStatusCodes=open",
    metric: tableErrors(table),
    threshold: 10,
    stretches: 3,
    inStretches: 2,
  });
}

/** Reads and writes that were throttled, of the table and its index. */
export function tableThrottles(table: Backend["table"]): IMetric {
  const ofIndex = { TableName: table.tableName, GlobalSecondaryIndexName: agendaIndex.name };
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

/** Requests of any operation that DynamoDB answered with an error of its own. */
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

/** DynamoDB says nothing of what did not happen, and a sum with nothing would be nothing. */
function sumOf(label: string, usingMetrics: Record<string, IMetric>): MathExpression {
  const filled = Object.keys(usingMetrics).map((id) => `FILL(${id}, 0)`);
  return new MathExpression({
    expression: `SUM([${filled.join(", ")}])`,
    usingMetrics,
    label,
    period: alarmPeriod,
  });
}

function addJobAndMoneyAlarms({ stage, alarms }: Watched): void {
  const audit = `npm run operator -- wallets verify --stage ${stage.name}`;
  alarms.add({
    kind: "failed-jobs",
    means:
      "Jobs have been failing for a quarter of an hour: messages, refunds, campaigns or webhooks are late.",
    firstStep:
      "Find what they fail of and fix it; they go on by themselves for six hours, then they are parked.",
    command: tailOf(alarms, "workers", '{ $.event = "job.failed" }'),
    metric: countedMetric(stage, "FailedJobs"),
    threshold: 1,
    stretches: 3,
  });
  alarms.add({
    kind: "failed-reconciliations",
    means:
      "The reconciler could not work on a wallet: what a crash took from that customer is not given back.",
    firstStep: "Find the organisation and the error; the wallet has its turn again within minutes.",
    command: tailOf(alarms, "workers", '{ $.event = "wallet.reconciliation_failed" }'),
    metric: countedMetric(stage, "FailedReconciliations"),
    threshold: 1,
    stretches: 2,
  });
  alarms.add({
    kind: "inconsistent-ledgers",
    means:
      "A customer's ledger does not add up. It is reported once and never normal; the alarm is over in minutes, " +
      "the matter is not.",
    firstStep: "Find the organisation and the seq in the log, and let the audit show what is wrong with it.",
    command: tailOf(alarms, "workers", '{ $.event = "ledger.inconsistent" }'),
    metric: countedMetric(stage, "InconsistentLedgers"),
    threshold: 1,
  });
  alarms.add({
    kind: "failed-price-reads",
    means:
      "Functions cannot read the prices: they go by the last for a quarter of an hour, then sends end in 503, and what goes " +
      "out has no cost.",
    firstStep: "See the error: the table is throttled, or a row of the prices cannot be read.",
    command: tailOf(alarms, "api", '{ $.event = "prices.not_read" }'),
    metric: countedMetric(stage, "FailedPriceReads"),
    threshold: 1,
    // One look that fails is made up for by the next.
    stretches: 2,
  });
  alarms.add({
    kind: "unreadable-records",
    means:
      "A record in the table has a shape that this release does not know: lists leave it out, to get it alone is a 500.",
    firstStep: "Find its key in the log, and deploy the release that wrote it, or repair the item.",
    command: tailOf(alarms, "api", '{ $.event = "record.unreadable" }'),
    metric: countedMetric(stage, "UnreadableRecords"),
    threshold: 1,
  });
  const addFinding = (
    kind: string,
    metricName: MetricName,
    finding: { readonly means: string; readonly threshold: number },
  ): void => {
    alarms.add({
      kind,
      ...finding,
      firstStep: "Find the crashes, time-outs or throttles of that hour which they come from.",
      command: audit,
      metric: countedMetric(stage, metricName, hour),
    });
  };
  addFinding("voided-debits", "VoidedDebits", {
    means: "Ten or more debits within an hour had no message behind them. The reconciler gives them back.",
    threshold: 10,
  });
  addFinding("refunded-amount", "RefundedMicros", {
    means:
      "The reconciler has given back ten dollars or more within an hour: sends have failed after they were paid.",
    threshold: 10_000_000,
  });
  addFinding("requeued-messages", "RequeuedMessages", {
    means: "Ten or more paid messages within an hour had lost their job: they go out ten minutes late.",
    threshold: 10,
  });
}

function addCarrierAlarms({ stage, alarms }: Watched): void {
  const outcomes = (period: Duration): Record<string, Metric> => ({
    accepted: countedMetric(stage, "CarrierAccepted", period),
    refused: countedMetric(stage, "CarrierRejected", period),
    unknown: countedMetric(stage, "CarrierOutcomeUnknown", period),
  });
  alarms.add({
    kind: "carrier-failures",
    means:
      "The carrier refuses a fifth of the messages, or it is not known what it did: they fail and are refunded.",
    firstStep: "See by error code whether a sender ID, a country or the carrier itself is the cause.",
    command: tailOf(alarms, "workers", '{ $.event = "message.failed" }'),
    metric: new MathExpression({
      // A few failures are no share of anything.
      expression:
        "IF((refused + unknown) >= 5, 100 * (refused + unknown) / (accepted + refused + unknown), 0)",
      usingMetrics: outcomes(quarterOfAnHour),
      period: quarterOfAnHour,
    }),
    threshold: 20,
  });
  alarms.add({
    kind: "carrier-throttles",
    means:
      "For half an hour the carrier has put off nine messages of ten. What it puts off for six hours fails.",
    firstStep: "Compare what customers send with the carrier's rate and spending limit.",
    command: "aws pinpoint-sms-voice-v2 describe-spend-limits",
    metric: new MathExpression({
      expression: "100 * putOff / (accepted + refused + unknown + putOff)",
      usingMetrics: {
        ...outcomes(alarmPeriod),
        putOff: countedMetric(stage, "CarrierThrottled"),
      },
      period: alarmPeriod,
    }),
    threshold: 90,
    stretches: 6,
  });
  alarms.add({
    kind: "carrier-unreachable",
    means:
      "Messages do not get to the carrier: no connection, or it turns us away. They wait, and fail after six hours.",
    firstStep: "See by error code whether a permission, a credential or the network is missing.",
    command: tailOf(alarms, "workers", '{ $.event = "carrier.not_reached" }'),
    metric: countedMetric(stage, "CarrierUnreachable"),
    threshold: 1,
    stretches: 2,
  });
  alarms.add({
    kind: "carrier-buffered",
    means:
      "A carrier takes messages and keeps them, because its own link is down. They count as sent, and go out when it is back.",
    firstStep: "See which carrier it is, and bring its link back, or disable the carrier until then.",
    command: tailOf(alarms, "workers", '{ $.event = "carrier.buffered" }'),
    metric: countedMetric(stage, "CarrierBuffered"),
    threshold: 1,
    stretches: 2,
  });
  alarms.add({
    kind: "carrier-breaker-open",
    means:
      "A carrier does not answer, and is not asked for now: messages go to the next one of their route, or wait for it.",
    firstStep: "See which one it is, and whether its routes have another.",
    command: `npm run operator -- carriers list --stage ${stage.name}`,
    metric: countedMetric(stage, "CarrierBreakersOpened"),
    threshold: 1,
    // One that closes at once was a moment's matter.
    stretches: 2,
  });
  if (stage.carrier !== "aws" || stage.monthlyCarrierSpendLimitUsd === undefined) return;
  alarms.add({
    kind: "carrier-spend",
    means:
      "Four fifths of what the account may spend on SMS this month are gone. At the limit no message goes out.",
    firstStep: "Ask AWS for a higher limit (Service Quotas, AWS End User Messaging); it takes about a day.",
    command: "aws pinpoint-sms-voice-v2 describe-spend-limits",
    metric: new Metric({
      namespace: "AWS/SMSVoice",
      metricName: "TextMessageMonthlySpend",
      statistic: Stats.MAXIMUM,
      period: hour,
    }),
    threshold: 0.8 * stage.monthlyCarrierSpendLimitUsd,
    // It is what the month has come to, and said only when something is sent.
    missingData: TreatMissingData.IGNORE,
  });
}
