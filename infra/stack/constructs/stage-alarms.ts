import { MathExpression, Metric, Stats } from "aws-cdk-lib/aws-cloudwatch";

import type { Stage } from "../stages/stage.ts";
import { alarmPeriod, countedMetric, quarterOfAnHour, throttledRequests, type Alarms } from "./alarms.ts";
import type { Backend } from "./backend.ts";
import { addCarrierAlarms } from "./carrier-alarms.ts";
import { tailOf } from "./commands.ts";
import type { GatewayApi } from "./gateway-api.ts";
import { addJobAlarms } from "./job-alarms.ts";
import { addTableAlarms } from "./table-alarms.ts";

/** The subjects of the stage's alarms, except for queues and workers. */
export interface Watched {
  readonly stage: Stage;
  readonly api: GatewayApi;
  readonly table: Backend["table"];
  readonly alarms: Alarms;
}

/** Adds the alarms that belong to the stage as a whole. A queue or a worker is created with its own alarms. */
export function addStageAlarms(watched: Watched): void {
  addApiAlarms(watched);
  addLambdaAlarms(watched.alarms);
  addTableAlarms(watched);
  addJobAlarms(watched);
  addCarrierAlarms(watched);
}

function addApiAlarms({ stage, api, alarms }: Watched): void {
  alarms.add("api-errors", "outage", {
    means: "Two percent or more of the requests end in a 5xx: customers cannot rely on their calls.",
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
    // One failure in a quiet hour is a large share of few requests.
    evaluationPeriods: 3,
    datapointsToAlarm: 2,
  });
  alarms.add("api-latency", "outage", {
    means:
      "For a quarter of an hour one percent of the requests has taken three seconds or more: callers time out.",
    firstStep: "See which routes are slow, and whether the functions use that time.",
    command: tailOf(alarms, "access", "{ $.latencyMs >= 3000 }"),
    metric: api.metricLatency({ statistic: Stats.percentile(99), period: alarmPeriod }),
    threshold: 3_000,
    evaluationPeriods: 3,
  });
  alarms.add("api-throttles", "ticket", {
    means:
      "For a quarter of an hour API Gateway has rejected requests with 429, before any function received them.",
    firstStep:
      "See by address and route whether one caller floods the API or customers outgrow `throttle` of the stage.",
    command: tailOf(alarms, "access", '{ $.status = "429" && $.functionStatus != "429" }'),
    metric: countedMetric(stage, throttledRequests),
    evaluationPeriods: 3,
  });
  alarms.add("edge-unreachable", "outage", {
    means:
      "For ten minutes the public address has not responded: its DNS record, certificate, firewall or route is wrong. No " +
      "customer reaches the API.",
    firstStep: "Call the address from your machine, and see the error of each call in the log.",
    command: tailOf(alarms, "workers", '{ $.event = "edge.not_reached" }'),
    metric: countedMetric(stage, "EdgeReached"),
    isMinimum: true,
    evaluationPeriods: 2,
  });
  alarms.add("failed-logins", "ticket", {
    means: "A hundred wrong passwords within a quarter of an hour: an attacker may be guessing passwords.",
    firstStep: "See which addresses they come from; each account and each address is limited already.",
    command: tailOf(
      alarms,
      "access",
      '{ ($.routeKey = "POST /v1/auth/login" || $.routeKey = "POST /v1/auth/console-session") && $.status = "4*" }',
    ),
    metric: countedMetric(stage, "FailedLogins", quarterOfAnHour),
    threshold: 100,
  });
}

/** Adds the alarms on Lambda's concurrency. It belongs to the account, so any program in the account can cause them. */
function addLambdaAlarms(alarms: Alarms): void {
  const showLimit = "aws lambda get-account-settings --query AccountLimit";
  alarms.add("lambda-throttles", "outage", {
    means: "For a quarter of an hour Lambda has throttled calls: requests end in a 5xx and jobs wait.",
    firstStep:
      "See the account's limit of concurrent calls, and request a higher one (Service Quotas, Lambda).",
    command: showLimit,
    metric: new Metric({
      namespace: "AWS/Lambda",
      metricName: "Throttles",
      statistic: Stats.SUM,
      period: alarmPeriod,
    }),
    evaluationPeriods: 3,
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
  alarms.add("lambda-concurrency", "ticket", {
    means:
      "The account uses four fifths of its limit of concurrent Lambda calls: beyond it calls are throttled.",
    firstStep: "Request a higher limit (Service Quotas, Lambda), or lower workerConcurrency of the stage.",
    command: showLimit,
    metric: new MathExpression({
      expression: "100 * usage / SERVICE_QUOTA(usage)",
      usingMetrics: { usage },
      period: alarmPeriod,
    }),
    threshold: 80,
    evaluationPeriods: 2,
  });
}
