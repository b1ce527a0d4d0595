import { DeleteMessageBatchCommand, ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";

import { config } from "../../shared/platform/config.ts";
import type { QueueName } from "../../shared/platform/jobs/queue-names.ts";

/** Takes all visible jobs off one of this test file's own queues. */
export async function takeJobs(queue: QueueName): Promise<unknown[]> {
  const sqs = new SQSClient({});
  const jobs: unknown[] = [];
  const QueueUrl = config.queueUrl(queue);
  for (;;) {
    const { Messages } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
    if (Messages === undefined || Messages.length === 0) return jobs;
    for (const { Body } of Messages) jobs.push(JSON.parse(Body ?? ""));
    // What is only received is seen again when its visibility time-out is over.
    const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
  }
}
