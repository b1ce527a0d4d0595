import { GetQueueAttributesCommand, SQSClient } from "@aws-sdk/client-sqs";

import type { LocalGateway } from "../../infra/local/gateway.ts";
import { localAccountId, localRegion } from "../../infra/local/template.ts";
import { MessageRecord } from "../../shared/messages/record.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { queryItems } from "../../shared/platform/table/table.ts";

const maxMessages = 20_000;

/**
 * Whether the senders of an organisation's campaign have nothing to do: no job waits for them and they hold no
 * message. A test that sets the clock forward lets claims lapse, which in truth outlive their senders: it does so
 * when nobody has one.
 */
export async function areSendersIdle(gateway: LocalGateway, organizationId: string): Promise<boolean> {
  if ((await waitingJobs(gateway, "MarketingSends")) > 0) return false;
  const { pk } = keys.message(organizationId, "");
  const messages = await queryItems(MessageRecord, { pk, limit: maxMessages, consistent: true });
  return messages.every(({ claimToken }) => claimToken === undefined);
}

async function waitingJobs(gateway: LocalGateway, queuePrefix: string): Promise<number> {
  const queue = gateway.stack.queues.find(
    ({ name, attributes }) => name.startsWith(queuePrefix) && "RedrivePolicy" in attributes,
  );
  if (queue === undefined) throw new Error(`there is no queue ${queuePrefix}`);
  const sqs = new SQSClient({
    region: localRegion,
    endpoint: gateway.sqsEndpoint,
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
  });
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({
      QueueUrl: `${gateway.sqsEndpoint}/${localAccountId}/${queue.name}`,
      AttributeNames: ["ApproximateNumberOfMessages"],
    }),
  );
  sqs.destroy();
  return Number(Attributes?.ApproximateNumberOfMessages);
}
