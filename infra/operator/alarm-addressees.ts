import { paginateListSubscriptionsByTopic, SNSClient } from "@aws-sdk/client-sns";

import { outputNames } from "../constructs/stack-outputs.ts";
import type { Stage } from "../stages/stage.ts";
import type { Connection } from "./context.ts";

/**
 * Checks that the addressees of a stage's alarms get them. AWS sends none to an address that has not confirmed.
 * @returns how many addressees have confirmed, in words
 * @throws Error when the stage has addressees, and one has not confirmed
 */
export async function checkAddressees(stage: Stage, { stackOutput }: Connection): Promise<string> {
  if (stage.alarmEmails.length === 0 && stage.pagerUrl === undefined)
    return "no one gets them: set alarmEmails or pagerUrl in the stage's file";
  const client = new SNSClient({});
  const pending = new Set<string>();
  let confirmed = 0;
  for (const name of [outputNames.alarmTopicArn, outputNames.pageTopicArn]) {
    const topic = { TopicArn: stackOutput(name).value };
    for await (const { Subscriptions = [] } of paginateListSubscriptionsByTopic({ client }, topic)) {
      for (const { SubscriptionArn = "", Protocol, Endpoint = "" } of Subscriptions) {
        if (SubscriptionArn.startsWith("arn:")) confirmed += 1;
        // The path of a pager is its secret.
        else pending.add(Protocol === "https" ? new URL(Endpoint).host : Endpoint);
      }
    }
  }
  if (pending.size === 0) return `${confirmed} addressees have confirmed`;
  throw new Error(
    `${[...pending].join(", ")} get no alarms: confirm the subscription in the email of AWS, or in the pager`,
  );
}
