import { GetQueueAttributesCommand, SQSClient } from "@aws-sdk/client-sqs";

import { localRegion } from "../../infra/local/connections.ts";
import type { LocalGateway } from "../../infra/local/gateway.ts";
import { localAccountId } from "../../infra/local/references.ts";
import { functionNamed } from "./functions.ts";

/**
 * Whether the senders of campaigns are idle and will get no work. A test that advances the clock lets leases lapse too
 * early. So it waits until no sender holds a lease, and then advances the clock without a pause.
 */
export async function areSendersIdle(gateway: LocalGateway): Promise<boolean> {
  // A job that had just left its queue at the first look has come to its function by the end of the second.
  for (let look = 0; look < 2; look += 1) {
    for (const queue of ["Campaigns", "MarketingSends"]) {
      if ((await waitingJobs(gateway, queue)) > 0) return false;
    }
  }
  return ["RunCampaign", "SendMessage"].every((name) => functionNamed(gateway, name).inFlightCalls === 0);
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
