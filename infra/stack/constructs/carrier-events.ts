import { CfnOutput, Validations } from "aws-cdk-lib";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { CfnConfigurationSet } from "aws-cdk-lib/aws-smsvoice";
import { CfnSubscription, Topic } from "aws-cdk-lib/aws-sns";
import type { QueuePolicy } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";

import { letSend, type JobQueue } from "./job-queue.ts";
import { outputNames } from "./stack-outputs.ts";

/** All events of text messages, without prices. */
const eventTypes = ["TEXT_ALL"];

/**
 * The callbacks of AWS End User Messaging. Messages are sent with a configuration set, whose events go over a topic to the
 * queue of carrier callbacks. A number with two-way SMS publishes inbound messages to the same topic.
 */
export class CarrierEvents extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { reports, policy }: { readonly reports: JobQueue; readonly policy: QueuePolicy },
  ) {
    super(scope, id);
    const topic = new Topic(this, "Topic", { enforceSSL: true });
    const conditions = { StringEquals: { "aws:SourceAccount": topic.stack.account } };
    topic.grantPublish(new ServicePrincipal("sms-voice.amazonaws.com", { conditions }));
    letSend(policy, "sns.amazonaws.com", topic.topicArn);
    const subscription = new CfnSubscription(this, "Subscription", {
      topicArn: topic.topicArn,
      protocol: "sqs",
      endpoint: reports.queue.queueArn,
      rawMessageDelivery: true,
    });
    subscription.node.addDependency(policy);
    Validations.of(subscription).acknowledge({
      id: "Serverless-SNSRedrivePolicy",
      reason:
        "The queue is in the same stack, and its policy allows the topic. SNS retries for days, and the queue has dead " +
        "letters.",
    });
    const configurationSet = new CfnConfigurationSet(this, "ConfigurationSet", {
      eventDestinations: [
        {
          eventDestinationName: "reports",
          enabled: true,
          matchingEventTypes: eventTypes,
          snsDestination: { topicArn: topic.topicArn },
        },
      ],
    });
    new CfnOutput(this, "Name", {
      value: configurationSet.ref,
      description:
        "The configuration set for the settings of a carrier of the kind aws, so that it reports delivery receipts",
    }).overrideLogicalId(outputNames.carrierConfigurationSetName);
    new CfnOutput(this, "TopicArn", {
      value: topic.topicArn,
      description: "The topic for inbound messages of numbers with two-way SMS",
    }).overrideLogicalId(outputNames.carrierTopicArn);
  }
}
