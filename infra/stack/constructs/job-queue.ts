import { CfnOutput, Duration, Validations } from "aws-cdk-lib";
import type { Metric } from "aws-cdk-lib/aws-cloudwatch";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Queue, QueueEncryption, type QueuePolicy } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";

import type { Feed } from "../worker.ts";
import type { Alarms } from "./alarms.ts";
import { tailOf } from "./commands.ts";
import { kebabCase } from "./names.ts";
import { outputNames } from "./stack-outputs.ts";

/** The time for retries of a job before it becomes a dead letter: longer than an outage that ends by itself. */
const patienceSeconds = 6 * 60 * 60;

export interface JobQueueProps {
  /** The time-out of the function that processes the queue. */
  readonly workerTimeoutSeconds: number;
  /** The name of that function in the log. */
  readonly workerName: string;
  readonly feed: Feed;
  readonly alarms: Alarms;
  /** The value of `--stage` in the operator's commands. */
  readonly stageName: string;
}

/**
 * A queue with a dead-letter queue, and the alarms on dead letters and on jobs that wait too long. Its id is the name of
 * the queue in Pascal case, and the stack's outputs with the URLs of both begin with it.
 */
export class JobQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;
  readonly ageOfOldestJob: Metric;
  readonly parkedJobs: Metric;

  constructor(scope: Construct, id: string, props: JobQueueProps) {
    super(scope, id);
    const { workerName, feed, alarms, stageName } = props;
    this.deadLetters = new Queue(this, "DeadLetters", {
      retentionPeriod: Duration.days(14),
      encryption: QueueEncryption.SQS_MANAGED,
    });
    Validations.of(this.deadLetters).acknowledge({
      id: "Serverless-SQSRedrivePolicy",
      reason: "It holds the dead letters of another queue. The operator processes them.",
    });
    // AWS requires at least six times the function's time-out, so that no batch is delivered again during processing.
    const visibilityTimeoutSeconds = 6 * props.workerTimeoutSeconds;
    this.queue = new Queue(this, "Queue", {
      visibilityTimeout: Duration.seconds(visibilityTimeoutSeconds),
      retentionPeriod: Duration.days(4),
      encryption: QueueEncryption.SQS_MANAGED,
      deadLetterQueue: {
        queue: this.deadLetters,
        maxReceiveCount: Math.ceil(patienceSeconds / visibilityTimeoutSeconds),
      },
    });
    const subject = kebabCase(id.charAt(0).toLowerCase() + id.slice(1));
    this.parkedJobs = this.deadLetters.metricApproximateNumberOfMessagesVisible({
      period: Duration.minutes(1),
    });
    this.ageOfOldestJob = this.queue.metricApproximateAgeOfOldestMessage();
    const firstStep = `Find the job.failed log lines of ${workerName}, fix the cause, then redrive the queue.`;
    alarms.add("dead-letters", "ticket", {
      subject,
      means: feed.alarm,
      firstStep,
      command: `npm run operator -- dead-letters list --stage ${stageName}`,
      metric: this.parkedJobs,
    });
    const isOfMessages = workerName === "SendMessage";
    alarms.add("queue-age", feed.isUrgent === true ? "outage" : "ticket", {
      subject,
      means: `A job has waited on the queue ${subject} for more than ${feed.maxAgeMinutes} minutes: its work is late.`,
      firstStep: isOfMessages
        ? "See in SUBMITTED IN whether a carrier is slow. If none is, see whether jobs fail, or arrive too fast."
        : `See whether jobs of ${workerName} fail, or arrive faster than its concurrency can process them.`,
      command: isOfMessages
        ? `npm run operator -- deliveries --by carrier,class --hours 1 --stage ${stageName}`
        : tailOf(alarms, "workers", '{ $.event = "job.failed" }'),
      metric: this.ageOfOldestJob,
      threshold: feed.maxAgeMinutes * 60,
    });
    new CfnOutput(this, "QueueUrl", { value: this.queue.queueUrl }).overrideLogicalId(
      outputNames.queueUrl(id),
    );
    new CfnOutput(this, "DeadLetterQueueUrl", {
      value: this.deadLetters.queueUrl,
      description: `${feed.alarm} ${firstStep}`,
    }).overrideLogicalId(outputNames.deadLetterQueueUrl(id));
  }
}

/** Allows a service to send the events of one source to the queues of a policy. The source has only one of them as its target. */
export function letSend(policy: QueuePolicy, service: string, sourceArn: string): void {
  policy.document.addStatements(
    new PolicyStatement({
      principals: [new ServicePrincipal(service)],
      actions: ["sqs:SendMessage"],
      resources: ["*"],
      conditions: { ArnEquals: { "aws:SourceArn": sourceArn } },
    }),
  );
}
