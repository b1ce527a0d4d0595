import { hash } from "node:crypto";

import type * as sdk from "@aws-sdk/client-sqs";

import { AwsClient, type AwsClientOptions } from "./client.ts";
import { AwsCommand } from "./command.ts";
import type { AwsResponse } from "./errors.ts";

export class SendMessageCommand extends AwsCommand<
  sdk.SendMessageCommandInput,
  sdk.SendMessageCommandOutput
> {
  readonly operation = "SendMessage";
}

export class SendMessageBatchCommand extends AwsCommand<
  sdk.SendMessageBatchCommandInput,
  sdk.SendMessageBatchCommandOutput
> {
  readonly operation = "SendMessageBatch";
}

export class Sqs extends AwsClient {
  constructor(options?: AwsClientOptions) {
    super(
      {
        id: "SQS",
        hostPrefix: "sqs",
        signingName: "sqs",
        target: "AmazonSQS",
        contentType: "application/x-amz-json-1.0",
      },
      options,
    );
  }

  /** Returns the endpoint in the queue's URL, if it is another one, as the SDK does. */
  protected override endpointFor(input: object, region: string): URL {
    const { QueueUrl } = shapeOf(input);
    const endpoint = super.endpointFor(input, region);
    if (QueueUrl === undefined || new URL(QueueUrl).origin === endpoint.origin) return endpoint;
    return new URL("/", QueueUrl);
  }

  /** Checks the MD5 that SQS returns for each body that it accepted. @throws Error when it is another one */
  protected override outputOf(command: AwsCommand, answer: AwsResponse): object {
    const output = super.outputOf(command, answer);
    const { MessageBody, Entries = [] } = shapeOf(command.input);
    const { MD5OfMessageBody, Successful = [] } = shapeOf(output);
    if (MessageBody !== undefined) checkDigest(MessageBody, MD5OfMessageBody);
    const sent = new Map(Entries.map((entry) => [entry.Id, entry.MessageBody]));
    for (const entry of Successful) {
      const body = sent.get(entry.Id);
      if (body !== undefined) checkDigest(body, entry.MD5OfMessageBody);
    }
    return output;
  }
}

/** The bodies and digests in the inputs and outputs of all operations. */
interface Shape {
  readonly QueueUrl?: string;
  readonly MessageBody?: string;
  readonly MD5OfMessageBody?: string;
  readonly Entries?: readonly { readonly Id?: string; readonly MessageBody?: string }[];
  readonly Successful?: readonly { readonly Id?: string; readonly MD5OfMessageBody?: string }[];
}

function shapeOf(value: object): Shape {
  return value;
}

function checkDigest(body: string, digest: string | undefined): void {
  if (hash("md5", body) !== digest) throw new Error("a message has another MD5 than its body");
}
