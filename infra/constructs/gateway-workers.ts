import { Duration, Validations } from "aws-cdk-lib";
import { Stats } from "aws-cdk-lib/aws-cloudwatch";
import { Rule, RuleTargetInput, Schedule as RuleSchedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import { Effect, PolicyStatement, StarPrincipal } from "aws-cdk-lib/aws-iam";
import { QueuePolicy, type Queue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";

import { queueNames, type QueueName } from "../../shared/platform/jobs/queue-names.ts";
import type { ShardOfWork } from "../../shared/platform/jobs/shards.ts";
import type { Stage } from "../stages/stage.ts";
import { workers, type Feed, type Schedule, type Worker } from "../workers.ts";
import { alarmPeriod, type Alarms } from "./alarms.ts";
import { CarrierEvents } from "./carrier-events.ts";
import { tailOf } from "./commands.ts";
import { EmailEvents } from "./email-events.ts";
import { GatewayFunction, logGroup, type Backend } from "./gateway-function.ts";
import { JobQueue } from "./job-queue.ts";
import { kebabCase, pascalCase } from "./names.ts";

const rows = Object.entries<Worker>(workers);

/** Adds the queues that the workers live on. */
export function addQueues(
  scope: Construct,
  stage: Stage,
  alarms: Alarms,
): Readonly<Record<QueueName, JobQueue>> {
  const queueOf = (name: QueueName): JobQueue => {
    const [workerName = "", worker] = rows.find(([, { queues }]) => queues?.[name] !== undefined) ?? [];
    const feed = worker?.queues?.[name];
    if (worker === undefined || feed === undefined) throw new Error(`no worker lives on the queue ${name}`);
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
  // Each name has its queue, which the compiler cannot follow through the entries.
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

/** Refuses whatever comes to the queues without TLS. */
function requireTls(scope: Construct, queues: Queue[]): QueuePolicy {
  const policy = new QueuePolicy(scope, "QueuesPolicy", { queues });
  policy.document.addStatements(
    new PolicyStatement({
      effect: Effect.DENY,
      principals: [new StarPrincipal()],
      actions: ["sqs:*"],
      // One policy for all of them spares the stack eleven resources. On each it stands for that queue alone.
      resources: ["*"],
      conditions: { Bool: { "aws:SecureTransport": "false" } },
    }),
  );
  return policy;
}

/** Adds a function for each row of the table of workers, and lets its queues or its schedule call it. */
export function addWorkers(scope: Construct, backend: Backend, alarms: Alarms): void {
  const logs = logGroup(scope, "WorkerLogs", backend.stage, "workers");
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
      gradual: true,
    });
    if (schedule === undefined) {
      addFedAlarms({ worker, name, alarms, stage: backend.stage, queuesForItself: queuesForItself === true });
    }
    for (const queue of queueNames) {
      const feed: Feed | undefined = queues[queue];
      if (feed !== undefined) {
        backend.queues[queue].feed(worker, {
          ...feed,
          maxConcurrency: backend.stage.workerConcurrency[queue] ?? feed.maxConcurrency,
        });
      }
    }
    if (schedule !== undefined) addSchedule(worker, name, schedule, alarms);
  }
}

/** The alarms of a worker that queues feed. */
function addFedAlarms({
  worker,
  name,
  alarms,
  stage,
  queuesForItself,
}: {
  readonly worker: GatewayFunction;
  readonly name: string;
  readonly alarms: Alarms;
  readonly stage: Stage;
  readonly queuesForItself: boolean;
}): void {
  const subject = kebabCase(name);
  alarms.add({
    kind: "worker-errors",
    subject,
    means: `${pascalCase(name)} has crashed or run out of time for a quarter of an hour: all jobs of such a batch are late.`,
    firstStep: "Find what ended it; its jobs come again by themselves for six hours.",
    command: tailOf(worker, "workers", '?"Task timed out" ?"Runtime exited" ?"Invoke Error"'),
    metric: worker.lambda.metricErrors({ period: alarmPeriod }),
    threshold: 1,
    stretches: 3,
  });
  // Lambda counts nothing where its loop detection is off.
  if (queuesForItself) return;
  alarms.add({
    kind: "recursion-stopped",
    subject,
    means: `Lambda took jobs of ${pascalCase(name)} for a loop and dropped them: what they were for stays undone.`,
    firstStep: "Say queuesForItself in its row of infra/workers.ts, deploy, then redrive its dead letters.",
    command: `npm run operator -- dead-letters list --stage ${stage.name}`,
    metric: worker.lambda.metric("RecursiveInvocationsDropped", {
      statistic: Stats.SUM,
      period: alarmPeriod,
    }),
    threshold: 1,
  });
}

function addSchedule(
  worker: GatewayFunction,
  name: string,
  { everyMinutes, shards, alarm }: Schedule,
  alarms: Alarms,
): void {
  const inputs = Array.from({ length: shards ?? 1 }, (_, shard) =>
    shards === undefined ? {} : { event: RuleTargetInput.fromObject({ shard } satisfies ShardOfWork) },
  );
  const rule = new Rule(worker, "Schedule", {
    schedule: RuleSchedule.rate(Duration.minutes(everyMinutes)),
    targets: inputs.map((input) => new LambdaFunction(worker.target, { ...input, retryAttempts: 0 })),
  });
  // The rule's setting is about calls that do not arrive; what threw would be called twice more by Lambda itself.
  worker.target.configureAsyncInvoke({ retryAttempts: 0 });
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
  const subject = kebabCase(name);
  const isFrequent = everyMinutes < alarmPeriod.toMinutes();
  alarms.add({
    kind: "schedule-failed",
    subject,
    means: alarm,
    firstStep: `Find the error of ${pascalCase(name)} and fix the cause; it catches up by itself.`,
    command: tailOf(worker, "workers", '?"Task timed out" ?"Runtime exited" ?"Invoke Error"'),
    metric: worker.lambda.metricErrors({ period: alarmPeriod }),
    threshold: 1,
    // What runs more often has to fail in two stretches, what runs seldom only once.
    stretches: isFrequent ? 2 : 1,
  });
  alarms.add({
    kind: "schedule-missed",
    subject,
    means: `${pascalCase(name)} was not called although it was time. ${alarm}`,
    firstStep: "See that its rule is enabled, and whether Lambda has room for the call.",
    command: `aws events list-rules --name-prefix ${alarms.stack.stackName}-${pascalCase(name)}`,
    metric: worker.lambda.metricInvocations({
      period: isFrequent ? alarmPeriod : Duration.minutes(everyMinutes),
    }),
    threshold: 1,
    isMinimum: true,
    stretches: 2,
  });
}
