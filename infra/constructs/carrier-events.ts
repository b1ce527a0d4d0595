import { CfnOutput, Validations } from "aws-cdk-lib";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { CfnConfigurationSet } from "aws-cdk-lib/aws-smsvoice";
import { CfnSubscription, Topic } from "aws-cdk-lib/aws-sns";
import type { QueuePolicy } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";

import type { JobQueue } from "./job-queue.ts";
import { outputNames } from "./stack-outputs.ts";

/** What becomes of messages, and no price of them. */
const eventTypes = ["TEXT_ALL"];

/**
 * What AWS End User Messaging tells of messages: a configuration set that they are sent with, whose events go over a topic
 * onto the queue of reports. A number with two-way SMS publishes what it receives on the same topic.
 */
export class CarrierEvents extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { reports, policy }: { readonly reports: JobQueue; readonly policy: QueuePolicy },
  ) {
    super(scope, id);
    const topic = new Topic(this, "Topic", { enforceSSL: true });
    topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal("sms-voice.amazonaws.com")],
        actions: ["sns:Publish"],
        resources: [topic.topicArn],
        conditions: { StringEquals: { "aws:SourceAccount": topic.stack.account } },
      }),
    );
    policy.document.addStatements(
      new PolicyStatement({
        principals: [new ServicePrincipal("sns.amazonaws.com")],
        actions: ["sqs:SendMessage"],
        // The policy stands on all queues, and on each for that queue alone; only one of them is subscribed.
        resources: ["*"],
        conditions: { ArnEquals: { "aws:SourceArn": topic.topicArn } },
      }),
    );
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
        "The queue is one of the same stack, whose policy lets the topic in; SNS tries it for days, and the queue has dead " +
        "letters of its own.",
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
        "The configuration set that a carrier of the kind aws names, to hear what becomes of messages",
    }).overrideLogicalId(outputNames.carrierConfigurationSetName);
    new CfnOutput(this, "TopicArn", {
      value: topic.topicArn,
      description: "Where numbers with two-way SMS publish what they receive",
    }).overrideLogicalId(outputNames.carrierTopicArn);
  }
}
