import { Stack, Validations } from "aws-cdk-lib";
import { Rule, RuleTargetInput } from "aws-cdk-lib/aws-events";
import { CfnConfigurationSetEventDestination } from "aws-cdk-lib/aws-ses";
import type { QueuePolicy } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";

import { letSend, type JobQueue } from "./job-queue.ts";

export interface EmailEventsProps {
  /** The configuration set for emails. The operator created it, and may use it for other emails too. */
  readonly configurationSet: string;
  readonly emails: JobQueue;
  /** The policy of all queues. */
  readonly policy: QueuePolicy;
}

/**
 * Sends the bounces and complaints of Amazon SES from the configuration set over EventBridge to the queue of emails. The
 * worker puts such an address on the suppression list.
 */
export class EmailEvents extends Construct {
  constructor(scope: Construct, id: string, { configurationSet, emails, policy }: EmailEventsProps) {
    super(scope, id);
    const stack = Stack.of(this);
    const eventBusArn = stack.formatArn({
      service: "events",
      resource: "event-bus",
      resourceName: "default",
    });
    new CfnConfigurationSetEventDestination(this, "Destination", {
      configurationSetName: configurationSet,
      eventDestination: {
        name: `${stack.stackName}-feedback`,
        enabled: true,
        matchingEventTypes: ["BOUNCE", "COMPLAINT"],
        eventBridgeDestination: { eventBusArn },
      },
    });
    const rule = new Rule(this, "Rule", {
      description: "Bounces and complaints about emails of the gateway",
      eventPattern: {
        source: ["aws.ses"],
        detailType: ["Email Bounced", "Email Complaint Received"],
        // Other programs in the account send emails of their own.
        detail: { mail: { tags: { "ses:configuration-set": [configurationSet] } } },
      },
      targets: [
        {
          bind: () => ({
            arn: emails.queue.queueArn,
            input: RuleTargetInput.fromEventPath("$.detail"),
          }),
        },
      ],
    });
    letSend(policy, "events.amazonaws.com", rule.ruleArn);
    Validations.of(rule).acknowledge({
      id: "Serverless-EventBusDLQ",
      reason:
        "Its queue is in the same stack, and the queue's policy allows the rule. EventBridge retries for a day, and the " +
        "queue has dead letters.",
    });
  }
}
