import { Duration } from "aws-cdk-lib";
import {
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  Stats,
  TextWidget,
  type IMetric,
} from "aws-cdk-lib/aws-cloudwatch";
import type { Construct } from "constructs";

import type { QueueName } from "../../shared/platform/jobs/queue-names.ts";
import type { MetricName } from "../../shared/platform/metrics.ts";
import { alarmPeriod, countedMetric, throttledRequests } from "./alarms.ts";
import type { JobQueue } from "./job-queue.ts";
import { logGroupNames } from "./names.ts";
import { tableErrors, tableThrottles, type Watched } from "./stage-alarms.ts";

/** Three graphs stand side by side. */
const width = 8;

/**
 * Adds the page that an operator looks at in the morning: what rings, what was sent and what became of it, money, queues,
 * the API and the table. Dashboards have names in all regions of an account together, so that this one's is generated.
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
      markdown: `# ${alarms.stack.stackName}\nWhat to do about an alarm: infra/RUNBOOK.md. Logs: ${groups.join(", ")}`,
      width: 3 * width,
      height: 2,
    }),
  );
  dashboard.addWidgets(
    new AlarmStatusWidget({ title: "Alarms", alarms: alarms.all, width: 3 * width, height: 6 }),
  );
  dashboard.addWidgets(
    graph(
      "Jobs to send",
      [transactionalSends, marketingSends].map(({ queue }) => queue.metricNumberOfMessagesSent()),
    ),
    graph(
      "What the carrier said",
      counted(
        "CarrierAccepted",
        "CarrierRejected",
        "CarrierInvalidDestinations",
        "CarrierOutcomeUnknown",
        "CarrierThrottled",
        "CarrierBuffered",
      ),
    ),
    graph(
      "What the reconciler found; right: returned, in millionths of a dollar",
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
      "Parked jobs",
      ofQueues(({ parkedJobs }) => parkedJobs),
    ),
    graph(
      "Jobs that failed and come again",
      counted("FailedJobs", "CarrierUnreachable", "CarrierBreakersOpened", "CarrierBreakersClosed"),
    ),
  );
  dashboard.addWidgets(
    graph(
      "Requests; right: refused or failed",
      [api.metricCount({ statistic: Stats.SAMPLE_COUNT })],
      [api.metricServerError({ statistic: Stats.SUM }), countedMetric(stage, throttledRequests)],
    ),
    graph("Latency in ms", [
      api.metricLatency({ statistic: Stats.percentile(50) }),
      api.metricLatency({ statistic: Stats.percentile(99) }),
    ]),
    graph("Table, log-ins, prices, records and emails held back", [
      tableThrottles(table),
      tableErrors(table),
      ...counted("FailedLogins", "FailedPriceReads", "UnreadableRecords", "SuppressedEmails"),
    ]),
  );
  return dashboard;
}
