import type * as sdk from "@aws-sdk/client-sqs";
import { vi } from "vitest";

import { AwsCommand } from "../../shared/platform/aws/command.ts";
import { SendMessageCommand, Sqs } from "../../shared/platform/aws/sqs.ts";
import { config } from "../../shared/platform/config.ts";
import type { QueueName } from "../../shared/platform/queue-names.ts";

// With the SDK's client, emptying all queues after each test took a third of the time of the domain's tests.

class ReceiveMessageCommand extends AwsCommand<
  sdk.ReceiveMessageCommandInput,
  sdk.ReceiveMessageCommandOutput
> {
  readonly operation = "ReceiveMessage";
}

class DeleteMessageBatchCommand extends AwsCommand<
  sdk.DeleteMessageBatchCommandInput,
  sdk.DeleteMessageBatchCommandOutput
> {
  readonly operation = "DeleteMessageBatch";
}

/** Takes all visible jobs off one of this test file's own queues. */
export async function takeJobs(queue: QueueName): Promise<unknown[]> {
  const sqs = new Sqs();
  const jobs: unknown[] = [];
  const QueueUrl = config.queueUrl(queue);
  for (;;) {
    const { Messages } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
    if (Messages === undefined || Messages.length === 0) return jobs;
    for (const { Body } of Messages) jobs.push(JSON.parse(Body ?? ""));
    // A message that is only received becomes visible again after its visibility timeout.
    const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
  }
}

/** A job that was put onto a queue, and by how much it is delayed there. */
interface DelayedJob {
  readonly queueUrl: string;
  readonly body: unknown;
  readonly delaySeconds: number;
}

/**
 * Records the jobs that a function enqueues one by one, with their delays, which a queue does not show.
 * @param work receives a function that returns the jobs so far
 */
export async function delayedJobs(
  work: (jobsSoFar: () => readonly DelayedJob[]) => Promise<unknown>,
): Promise<readonly DelayedJob[]> {
  const calls = vi.spyOn(Sqs.prototype, "send");
  const jobs = (): DelayedJob[] =>
    calls.mock.calls.flatMap(([command]: readonly unknown[]) => {
      if (!(command instanceof SendMessageCommand)) return [];
      const { QueueUrl: queueUrl = "", MessageBody = "", DelaySeconds: delaySeconds = 0 } = command.input;
      return { queueUrl, body: JSON.parse(MessageBody), delaySeconds };
    });
  await work(jobs);
  const all = jobs();
  calls.mockRestore();
  return all;
}
