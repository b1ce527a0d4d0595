import { Duration } from "aws-cdk-lib";
import {
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  MathExpression,
  Stats,
  TextWidget,
  type IMetric,
} from "aws-cdk-lib/aws-cloudwatch";
import type { Construct } from "constructs";

import { carrierMetricNames, metricsNamespace, type MetricName } from "../../../shared/platform/metrics.ts";
import type { QueueName } from "../../../shared/platform/queue-names.ts";
import { alarmPeriod, countedMetric, throttledRequests } from "./alarms.ts";
import { overdueShare } from "./carrier-alarms.ts";
import { blockedRequests } from "./firewall-stack.ts";
import type { JobQueue } from "./job-queue.ts";
import { logGroupNames } from "./names.ts";
import type { Watched } from "./stage-alarms.ts";
import { tableErrors, tableThrottles } from "./table-alarms.ts";

/** The width of a graph, three in a row. */
const width = 8;

/**
 * Adds the page for an operator's morning check: alarms, sends and their outcomes, money, queues, the API and the table.
 * Its name is generated, because names of dashboards are unique over all regions of an account.
 */
export function addDashboard(
  scope: Construct,
  { stage, api, table, queues, alarms }: Watched & { readonly queues: Readonly<Record<QueueName, JobQueue>> },
): Dashboard {
  const counted = (...names: MetricName[]): IMetric[] => names.map((name) => countedMetric(stage, name));
  const graph = (title: string, left: IMetric[], right: IMetric[] = []): GraphWidget =>
    new GraphWidget({ title, left, right, width, period: alarmPeriod, leftYAxis: { min: 0 } });
  const ofQueues = (metricOf: (queue: JobQueue) => IMetric): IMetric[] => Object.values(queues).map(metricOf);
  const { transactionalSends, marketingSends } = queues;
  const groups = Object.values(logGroupNames(alarms.stack.stackName)).map((name) => `\`${name}\``);
  const dashboard = new Dashboard(scope, "Dashboard", { defaultInterval: Duration.days(1) });
  dashboard.addWidgets(
    new TextWidget({
      markdown: `# ${alarms.stack.stackName}\nAlarms are explained in infra/RUNBOOK.md. Logs: ${groups.join(", ")}`,
      width: 3 * width,
      height: 2,
    }),
  );
  dashboard.addWidgets(
    new AlarmStatusWidget({ title: "Alarms", alarms: alarms.all, width: 3 * width, height: 6 }),
  );
  dashboard.addWidgets(
    graph(
      "Send jobs",
      [transactionalSends, marketingSends].map(({ queue }) => queue.metricNumberOfMessagesSent()),
    ),
    graph("Outcomes of submissions and receipts, by carrier", [
      ofCarriers(stage),
      ...counted("CarrierBuffered"),
    ]),
    graph(
      "Repairs of the reconciler; right: refunds, in millionths of the currency unit",
      counted("VoidedDebits", "RequeuedMessages", "FailedReconciliations", "InconsistentLedgers"),
      counted("RefundedMicros"),
    ),
  );
  dashboard.addWidgets(
    graph(
      "Age of the oldest job, in seconds",
      ofQueues(({ ageOfOldestJob }) => ageOfOldestJob),
    ),
    graph(
      "Dead letters",
      ofQueues(({ parkedJobs }) => parkedJobs),
    ),
    graph(
      "Failed jobs, unreachable carriers and breakers; right: carriers that differ from their last week",
      counted(
        "FailedJobs",
        "CarrierUnreachable",
        "CarrierBreakersOpened",
        "CarrierBreakersClosed",
        "MessagesWithoutCarrier",
      ),
      counted("LowDeliveryRates", "MissingReceipts", "FailingCarriers", "LateCarriers", "ThrottlingCarriers"),
    ),
    graph("Codes and transactional messages that took over ten seconds to a carrier, in percent", [
      overdueShare(stage),
    ]),
    graph(
      "Payments that failed to process or differ, and unusual spending",
      counted("FailedPayments", "PaymentDifferences", "UnusualSpend"),
    ),
  );
  dashboard.addWidgets(
    graph(
      "Requests; right: server errors and throttles",
      [api.metricCount({ statistic: Stats.SAMPLE_COUNT })],
      [api.metricServerError({ statistic: Stats.SUM }), countedMetric(stage, throttledRequests)],
    ),
    graph("Latency in ms", [
      api.metricLatency({ statistic: Stats.percentile(50) }),
      api.metricLatency({ statistic: Stats.percentile(99) }),
    ]),
    graph(
      "Calls of the public address that succeeded; right: requests that the firewall blocked",
      counted("EdgeReached"),
      stage.firewall === undefined ? [] : blockedRequests(alarms.stack.stackName),
    ),
    graph("Table, log-ins, prices, records, suppressed emails and discarded replies", [
      tableThrottles(table),
      tableErrors(table),
      ...counted("FailedLogins", "FailedPriceReads", "UnreadableRecords", "SuppressedEmails"),
      ...counted("DiscardedInboundMessages", "UnappliedKeywords", "UnreadableCallbacks"),
    ]),
  );
  return dashboard;
}

/** All metrics of all carriers, which the table names and the template does not. */
function ofCarriers({ name }: Watched["stage"]): IMetric {
  const metrics = carrierMetricNames.join(" OR ");
  const search = `{${metricsNamespace},carrier,stage} stage="${name}" MetricName=(${metrics})`;
  const seconds = alarmPeriod.toSeconds();
  return new MathExpression({
    expression: `SEARCH('${search}', 'Sum', ${seconds})`,
    usingMetrics: {},
    label: "",
  });
}
