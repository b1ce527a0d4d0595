import { CfnOutput, Duration, Validations } from "aws-cdk-lib";
import { ComparisonOperator, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { EventSourceMapping } from "aws-cdk-lib/aws-lambda";
import type { Topic } from "aws-cdk-lib/aws-sns";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";

import type { Feed } from "../workers.ts";
import type { GatewayFunction } from "./gateway-function.ts";
import { outputNames } from "./stack-outputs.ts";

/** How long a job is tried before it is parked: longer than an outage that ends by itself. */
const patienceSeconds = 6 * 60 * 60;

export interface JobQueueProps {
  /** How long the function behind the queue may work on a batch. */
  readonly workerTimeoutSeconds: number;
  /** What it means for customers when a job ends up in the dead-letter queue, and what to do. */
  readonly alarmDescription: string;
  readonly alarmTopic: Topic;
}

/**
 * A queue with a dead-letter queue and the alarm that says when something is in it. Its id is the queue's name,
 * capitalised: the stack's outputs with the URLs of both are named after it.
 */
export class JobQueue extends Construct {
  readonly queue: Queue;

  constructor(scope: Construct, id: string, props: JobQueueProps) {
    super(scope, id);
    const deadLetters = new Queue(this, "DeadLetters", {
      retentionPeriod: Duration.days(14),
      encryption: QueueEncryption.SQS_MANAGED,
    });
    Validations.of(deadLetters).acknowledge({
      id: "Serverless-SQSRedrivePolicy",
      reason: "It holds the dead letters of another queue. Behind it is the operator.",
    });
    // AWS asks for at least six times the function's time-out, so that no batch comes back while it is worked on.
    const visibilityTimeoutSeconds = 6 * props.workerTimeoutSeconds;
    this.queue = new Queue(this, "Queue", {
      visibilityTimeout: Duration.seconds(visibilityTimeoutSeconds),
      retentionPeriod: Duration.days(4),
      encryption: QueueEncryption.SQS_MANAGED,
      deadLetterQueue: {
        queue: deadLetters,
        maxReceiveCount: Math.ceil(patienceSeconds / visibilityTimeoutSeconds),
      },
    });
    deadLetters
      .metricApproximateNumberOfMessagesVisible({ period: Duration.minutes(1) })
      .createAlarm(this, "DeadLettersAlarm", {
        alarmDescription: props.alarmDescription,
        threshold: 0,
        comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
        evaluationPeriods: 1,
        treatMissingData: TreatMissingData.NOT_BREACHING,
      })
      .addAlarmAction(new SnsAction(props.alarmTopic));
    new CfnOutput(this, "QueueUrl", { value: this.queue.queueUrl }).overrideLogicalId(
      outputNames.queueUrl(id),
    );
    new CfnOutput(this, "DeadLettersUrl", {
      value: deadLetters.queueUrl,
      description: props.alarmDescription,
    }).overrideLogicalId(outputNames.deadLettersUrl(id));
  }

  /** Lets a function work on the queue. */
  feed(worker: GatewayFunction, { maxConcurrency, batchSize = 10 }: Feed): void {
    worker.allow(["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"], this.queue.queueArn);
    const feed = new EventSourceMapping(this, "Feed", {
      target: worker.lambda,
      eventSourceArn: this.queue.queueArn,
      batchSize,
      reportBatchItemFailures: true,
      maxConcurrency,
    });
    Validations.of(feed).acknowledge({
      id: "Serverless-LambdaEventSourceMappingDestination",
      reason:
        "What fails stays in the queue, which has dead letters. A destination is for streams, not for queues.",
    });
  }
}
