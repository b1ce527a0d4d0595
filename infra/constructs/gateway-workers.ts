import { Duration, Validations } from "aws-cdk-lib";
import { ComparisonOperator, Metric, Stats, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { Rule, RuleTargetInput, Schedule as RuleSchedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import type { Topic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";

import { queueNames, type QueueName } from "../../shared/platform/jobs/queue-names.ts";
import type { ShardOfWork } from "../../shared/platform/jobs/shards.ts";
import { metricsNamespace } from "../../shared/platform/metrics.ts";
import { workers, type Feed, type Schedule, type Worker } from "../workers.ts";
import { GatewayFunction, logGroup, type Backend } from "./gateway-function.ts";
import { JobQueue } from "./job-queue.ts";
import { kebabCase, pascalCase } from "./names.ts";

/** How often a scheduled function has to fail, in stretches of five minutes, before its alarm rings. */
const alarmAfterMinutes = 10;
const alarmPeriodMinutes = 5;

const rows = Object.entries<Worker>(workers);

/** Adds the queues that the workers live on. */
export function addQueues(scope: Construct, alarmTopic: Topic): Readonly<Record<QueueName, JobQueue>> {
  const queueOf = (name: QueueName): JobQueue => {
    const worker = rows.find(([, { queues }]) => queues?.[name] !== undefined)?.[1];
    const feed = worker?.queues?.[name];
    if (worker === undefined || feed === undefined) throw new Error(`no worker lives on the queue ${name}`);
    return new JobQueue(scope, pascalCase(name), {
      workerTimeoutSeconds: worker.timeoutSeconds,
      alarmDescription: feed.alarm,
      alarmTopic,
    });
  };
  const queues = queueNames.map((name) => [name, queueOf(name)] as const);
  // Each name has its queue, which the compiler cannot follow through the entries.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(queues) as Record<QueueName, JobQueue>;
}

/** Adds a function for each row of the table of workers, and lets its queues or its schedule call it. */
export function addWorkers(scope: Construct, backend: Backend, alarmTopic: Topic): void {
  const logs = logGroup(scope, "WorkerLogs", backend.stage);
  for (const [name, { access, timeoutSeconds, queues = {}, schedule, queuesForItself }] of rows) {
    const worker = new GatewayFunction(scope, pascalCase(name), backend, {
      name,
      handlerFile: `workers/${kebabCase(name)}`,
      accessRow: `${name} in infra/workers.ts`,
      access,
      timeoutSeconds,
      memoryMegabytes: 512,
      logs,
      queuesForItself: queuesForItself === true,
    });
    // Only what a queue feeds can be in a chain of calls.
    if (Object.keys(queues).length > 0) addLoopAlarm(worker, alarmTopic);
    for (const queue of queueNames) {
      const feed: Feed | undefined = queues[queue];
      if (feed !== undefined) {
        backend.queues[queue].feed(worker, {
          ...feed,
          maxConcurrency: backend.stage.workerConcurrency[queue] ?? feed.maxConcurrency,
        });
      }
    }
    if (schedule !== undefined) addSchedule(worker, schedule, alarmTopic);
  }
  addFailureAlarms(scope, alarmTopic);
}

/** Says what the workers themselves count as failed. */
function addFailureAlarms(scope: Construct, alarmTopic: Topic): void {
  const addAlarm = (metricName: string, evaluationPeriods: number, alarmDescription: string): void => {
    const period = Duration.minutes(alarmPeriodMinutes);
    new Metric({ namespace: metricsNamespace, metricName, statistic: Stats.SUM, period })
      .createAlarm(scope, `${metricName}Alarm`, {
        alarmDescription,
        threshold: 1,
        evaluationPeriods,
        treatMissingData: TreatMissingData.NOT_BREACHING,
      })
      .addAlarmAction(new SnsAction(alarmTopic));
  };
  // Hours before they are parked. A single one that fails now and then is nothing.
  addAlarm(
    "FailedJobs",
    3,
    "Jobs have been failing for a quarter of an hour: messages, refunds, campaigns or webhooks are late. " +
      "Find the job.failed log lines of the workers and mend the cause; the jobs go on by themselves for six hours.",
  );
  addAlarm(
    "FailedReconciliations",
    1,
    "A wallet does not add up, or could not be reconciled. Find ledger.inconsistent or wallet.reconciliation_failed " +
      "in the log of ReconcileWallets, which names the organisation, and let `npm run operator -- audit` show its " +
      "ledger. What does not add up is reported once, and what lies behind it goes on.",
  );
}

/** Says that Lambda has ended a chain of calls that it took for a loop. */
function addLoopAlarm(worker: GatewayFunction, alarmTopic: Topic): void {
  worker.lambda
    .metric("RecursiveInvocationsDropped", {
      statistic: Stats.SUM,
      period: Duration.minutes(alarmPeriodMinutes),
    })
    .createAlarm(worker, "LoopAlarm", {
      alarmDescription:
        "Lambda took jobs of this function for a loop and dropped them: what they were for stays undone. " +
        "Say queuesForItself in its row of infra/workers.ts, deploy, then redrive its dead letters.",
      threshold: 0,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    })
    .addAlarmAction(new SnsAction(alarmTopic));
}

function addSchedule(
  worker: GatewayFunction,
  { everyMinutes, shards, alarm }: Schedule,
  alarmTopic: Topic,
): void {
  const inputs = Array.from({ length: shards ?? 1 }, (_, shard) =>
    shards === undefined ? {} : { event: RuleTargetInput.fromObject({ shard } satisfies ShardOfWork) },
  );
  const rule = new Rule(worker, "Schedule", {
    schedule: RuleSchedule.rate(Duration.minutes(everyMinutes)),
    targets: inputs.map((input) => new LambdaFunction(worker.lambda, { ...input, retryAttempts: 0 })),
  });
  // The rule's setting is about calls that do not arrive; what threw would be called twice more by Lambda itself.
  worker.lambda.configureAsyncInvoke({ retryAttempts: 0 });
  Validations.of(rule).acknowledge({
    id: "Serverless-EventBusDLQ",
    reason:
      "A call that was lost is made up for by the next one, which finds all that there is to do in the table.",
  });
  Validations.of(worker.lambda).acknowledge({
    id: "Serverless-LambdaAsyncFailureDestination",
    reason:
      "A call that failed is made up for by the next one, and the alarm on its errors says that it failed.",
  });
  worker.lambda
    .metricErrors({ period: Duration.minutes(alarmPeriodMinutes) })
    .createAlarm(worker, "ErrorsAlarm", {
      alarmDescription: `${alarm} Find the error in the function's log and mend the cause; it catches up by itself.`,
      threshold: 1,
      // What runs more often has to fail in two stretches, what runs seldom only once.
      evaluationPeriods: everyMinutes < alarmPeriodMinutes ? alarmAfterMinutes / alarmPeriodMinutes : 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    })
    .addAlarmAction(new SnsAction(alarmTopic));
}
