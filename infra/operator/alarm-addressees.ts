import { paginateListSubscriptionsByTopic, SNSClient, type Subscription } from "@aws-sdk/client-sns";
import { outputNames } from "@sms-gateway/stack/constructs/stack-outputs.ts";
import type { Stage } from "@sms-gateway/stack/stages/stage.ts";

import type { Connection } from "./context.ts";

/**
 * Checks that the addressees of a stage's alarms get them. AWS sends none to an address that has not confirmed.
 * @returns the result in words
 * @throws Error when the stage has addressees, and one has not confirmed
 */
export async function checkAddressees(stage: Stage, { stackOutput }: Connection): Promise<string> {
  const { alarmEmails, pagerUrl } = stage;
  if (alarmEmails.length === 0 && pagerUrl === undefined)
    return "no one gets them: set alarmEmails or pagerUrl in the stage's file";
  const client = new SNSClient({});
  const subscriptionsOf = async (name: string): Promise<Subscription[]> => {
    const found: Subscription[] = [];
    const topic = { TopicArn: stackOutput(name).value };
    for await (const { Subscriptions = [] } of paginateListSubscriptionsByTopic({ client }, topic))
      found.push(...Subscriptions);
    return found;
  };
  const emails = unconfirmed(alarmEmails, await subscriptionsOf(outputNames.alarmTopicArn));
  const pagers = unconfirmed(
    pagerUrl === undefined ? [] : [pagerUrl],
    await subscriptionsOf(outputNames.pageTopicArn),
  );
  // The path of a pager is its secret.
  const names = [...emails, ...pagers.map((url) => new URL(url).host)];
  if (names.length === 0) return "all addressees have confirmed";
  throw new Error(
    `${names.join(", ")} get no alarms: confirm the email of AWS, or in the pager. After two days, deploy again for a new one`,
  );
}

/** Returns the addressees without a confirmed subscription. One that waits has no ARN, and after two days SNS deletes it. */
export function unconfirmed(addressees: readonly string[], subscriptions: readonly Subscription[]): string[] {
  const confirmed = subscriptions.filter(({ SubscriptionArn = "" }) => SubscriptionArn.startsWith("arn:"));
  return addressees.filter((addressee) => confirmed.every(({ Endpoint }) => Endpoint !== addressee));
}
