import { Duration, Validations } from "aws-cdk-lib";
import { MathExpression, Stats } from "aws-cdk-lib/aws-cloudwatch";
import { Rule, RuleTargetInput, Schedule as RuleSchedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import { Effect, PolicyStatement, StarPrincipal } from "aws-cdk-lib/aws-iam";
import { EventSourceMapping } from "aws-cdk-lib/aws-lambda";
import { QueuePolicy, type Queue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";

import type { ShardOfWork } from "../../../shared/platform/jobs/shards.ts";
import { queueNames, type QueueName } from "../../../shared/platform/queue-names.ts";
import { Access } from "../access.ts";
import type { Stage } from "../stages/stage.ts";
import type { Feed, Schedule, Worker } from "../worker.ts";
import { workers } from "../workers.ts";
import { alarmPeriod, type Alarms } from "./alarms.ts";
import type { Backend } from "./backend.ts";
import { CarrierEvents } from "./carrier-events.ts";
import { tailOf } from "./commands.ts";
import { EmailEvents } from "./email-events.ts";
import { GatewayFunction } from "./gateway-function.ts";
import { JobQueue } from "./job-queue.ts";
import { logGroup } from "./log-group.ts";
import { kebabCase, pascalCase } from "./names.ts";

const table: Readonly<Record<string, Worker>> = workers;
const rows = Object.entries(table);

/** Adds the queues of the workers. */
export function addQueues(
  scope: Construct,
  stage: Stage,
  alarms: Alarms,
): Readonly<Record<QueueName, JobQueue>> {
  const queueOf = (name: QueueName): JobQueue => {
    const [workerName = "", worker] = rows.find(([, { queues }]) => queues?.[name] !== undefined) ?? [];
    const feed = worker?.queues?.[name];
    if (worker === undefined || feed === undefined) throw new Error(`no worker processes the queue ${name}`);
    return new JobQueue(scope, pascalCase(name), {
      workerTimeoutSeconds: worker.timeoutSeconds,
      workerName: pascalCase(workerName),
      feed,
      alarms,
      stageName: stage.name,
    });
  };
  const named = queueNames.map((name) => [name, queueOf(name)] as const);
  const policy = requireTls(
    scope,
    named.flatMap(([, { queue, deadLetters }]) => [queue, deadLetters]),
  );
  // Each name has its queue, but the compiler does not keep the keys of entries.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const queues = Object.fromEntries(named) as Record<QueueName, JobQueue>;
  if (stage.carrier === "aws") {
    new CarrierEvents(scope, "CarrierEvents", { reports: queues.carrierCallbacks, policy });
  }
  const configurationSet = stage.email?.configurationSet;
  if (configurationSet !== undefined) {
    new EmailEvents(scope, "EmailEvents", { configurationSet, emails: queues.emails, policy });
  }
  return queues;
}

/** Rejects requests to the queues without TLS. */
function requireTls(scope: Construct, queues: Queue[]): QueuePolicy {
  const policy = new QueuePolicy(scope, "QueuesPolicy", { queues });
  policy.document.addStatements(
    new PolicyStatement({
      effect: Effect.DENY,
      principals: [new StarPrincipal()],
      actions: ["sqs:*"],
      // One policy for all queues saves eleven resources. SQS applies it to each queue for that queue alone.
      resources: ["*"],
      conditions: { Bool: { "aws:SecureTransport": "false" } },
    }),
  );
  return policy;
}

/** Adds a function for each row of the table of workers, with its queues or its schedule. */
export function addWorkers(scope: Construct, backend: Backend, alarms: Alarms): void {
  const logs = logGroup(scope, "WorkerLogs", backend.stage, "workers");
  const built = new Map<string, GatewayFunction>();
  for (const [name, { timeoutSeconds, queues = {}, schedule, queuesForItself }] of rows) {
    const worker = new GatewayFunction(scope, pascalCase(name), backend, {
      name,
      handlerFile: `workers/${kebabCase(name)}`,
      access: new Access(name),
      timeoutSeconds,
      memoryMegabytes: 512,
      logs,
      queuesForItself: queuesForItself === true,
      gradual: true,
    });
    built.set(name, worker);
    if (schedule === undefined) addFedAlarms(worker, name, alarms, backend.stage.name);
    for (const queue of queueNames) {
      const feed: Feed | undefined = queues[queue];
      if (feed !== undefined) {
        feedWorker(backend.queues[queue], worker, {
          ...feed,
          maxConcurrency: backend.stage.workerConcurrency[queue] ?? feed.maxConcurrency,
        });
      }
    }
    if (schedule !== undefined) addSchedule(worker, schedule);
  }
  for (const [name, { schedule }] of rows) {
    if (schedule?.alarm !== undefined) addScheduleAlarms(built, name, schedule, schedule.alarm, alarms);
  }
}

/** Lets a worker process the jobs of a queue. */
function feedWorker(
  jobQueue: JobQueue,
  worker: GatewayFunction,
  { maxConcurrency, batchSize = 10, batchWindowSeconds = 0 }: Feed,
): void {
  const { queueArn } = jobQueue.queue;
  worker.allow(["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"], queueArn);
  const mapping = new EventSourceMapping(jobQueue, "Feed", {
    target: worker.target,
    eventSourceArn: queueArn,
    batchSize,
    ...(batchWindowSeconds > 0 && { maxBatchingWindow: Duration.seconds(batchWindowSeconds) }),
    reportBatchItemFailures: true,
    maxConcurrency,
  });
  Validations.of(mapping).acknowledge({
    id: "Serverless-LambdaEventSourceMappingDestination",
    reason:
      "A failed job stays in the queue, which has dead letters. A destination is for streams, not for queues.",
  });
}

/** Adds the alarms of a worker that queues feed. */
function addFedAlarms(worker: GatewayFunction, name: string, alarms: Alarms, stageName: string): void {
  const subject = kebabCase(name);
  alarms.add("worker-errors", "ticket", {
    subject,
    means: `${pascalCase(name)} has crashed or timed out for a quarter of an hour: all jobs of such a batch are late.`,
    firstStep: "Find what stopped it; its jobs are retried for six hours.",
    command: tailOf(worker, "workers", '{ $.type = "platform.*" || $.level = "ERROR" }'),
    metric: worker.lambda.metricErrors({ period: alarmPeriod }),
    evaluationPeriods: 3,
  });
  // Lambda writes no such metric where its loop detection is off.
  if (table[name]?.queuesForItself === true) return;
  alarms.add("recursion-stopped", "ticket", {
    subject,
    means: `Lambda detected a loop in jobs of ${pascalCase(name)} and dropped them: their work is not done.`,
    firstStep:
      "Set queuesForItself in its row of infra/stack/workers.ts, deploy, then redrive its dead letters.",
    command: `npm run operator -- dead-letters list --stage ${stageName}`,
    metric: worker.lambda.metric("RecursiveInvocationsDropped", {
      statistic: Stats.SUM,
      period: alarmPeriod,
    }),
  });
}

function addSchedule(worker: GatewayFunction, { everyMinutes, shards }: Schedule): void {
  const inputs = Array.from({ length: shards ?? 1 }, (_, shard) =>
    shards === undefined ? {} : { event: RuleTargetInput.fromObject({ shard } satisfies ShardOfWork) },
  );
  const rule = new Rule(worker, "Schedule", {
    schedule: RuleSchedule.rate(Duration.minutes(everyMinutes)),
    targets: inputs.map((input) => new LambdaFunction(worker.target, { ...input, retryAttempts: 0 })),
  });
  // The setting of the rule covers calls that do not arrive. This one stops Lambda from repeating calls that threw.
  worker.target.configureAsyncInvoke({ retryAttempts: 0 });
  Validations.of(rule).acknowledge({
    id: "Serverless-EventBusDLQ",
    reason: "The next call makes up for a lost one: it finds all open work in the table.",
  });
  Validations.of(worker.lambda).acknowledge({
    id: "Serverless-LambdaAsyncFailureDestination",
    reason: "The next call makes up for a failed one, and an alarm watches its errors.",
  });
}

/** The schedule whose calls show how long the stage has existed. */
const clockName = "reconcileWallets";

/** Adds the alarms of a schedule. Work of each minute wakes a person. */
function addScheduleAlarms(
  built: ReadonlyMap<string, GatewayFunction>,
  name: string,
  { everyMinutes }: Schedule,
  alarm: string,
  alarms: Alarms,
): void {
  const [worker, clock] = [built.get(name), built.get(clockName)];
  const { shards = 1, everyMinutes: clockMinutes = 1 } = table[clockName]?.schedule ?? {};
  if (worker === undefined || clock === undefined) throw new Error(`there is no worker ${name}`);
  const subject = kebabCase(name);
  const isFrequent = everyMinutes < alarmPeriod.toMinutes();
  const severity = isFrequent ? "outage" : "ticket";
  const period = isFrequent ? alarmPeriod : Duration.minutes(everyMinutes);
  const calls = worker.lambda.metricInvocations({ period });
  alarms.add("schedule-failed", severity, {
    subject,
    means: alarm,
    firstStep: `Find the error of ${pascalCase(name)} and fix the cause; the next call catches up.`,
    command: tailOf(worker, "workers", '{ $.type = "platform.*" || $.level = "ERROR" }'),
    metric: worker.lambda.metricErrors({ period: alarmPeriod }),
    // A frequent schedule has to fail in two periods, a rare one in one.
    evaluationPeriods: isFrequent ? 2 : 1,
  });
  alarms.add("schedule-missed", severity, {
    subject,
    means: `${pascalCase(name)} was not called on schedule. ${alarm}`,
    firstStep: "See whether its rule is enabled, and whether Lambda throttles the call.",
    command: `aws events list-rules --name-prefix ${alarms.stack.stackName}-${pascalCase(name)}`,
    // A new stage first calls a rare schedule after one period. Only in periods that the clock has filled is it missed.
    metric: isFrequent
      ? calls
      : new MathExpression({
          expression: `IF(FILL(clock, 0) >= ${(0.9 * shards * everyMinutes) / clockMinutes}, FILL(calls, 0), 1)`,
          usingMetrics: { calls, clock: clock.lambda.metricInvocations({ period }) },
          period,
        }),
    isMinimum: true,
    evaluationPeriods: 2,
  });
}
