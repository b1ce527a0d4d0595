import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import {
  ChangeMessageVisibilityBatchCommand,
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
  type Message,
  type ReceiveMessageCommandInput,
} from "@aws-sdk/client-sqs";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { DataServices } from "../../infra/local/data-services.ts";
import { patience } from "../support/patience.ts";

let folder: string;
let services: DataServices;
let sqs: SQSClient;
let queueUrl: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "sqs-"));
  await start();
});
afterEach(async () => {
  await stop();
  await rm(folder, { recursive: true });
});

async function start(): Promise<void> {
  services = await DataServices.start(folder);
  sqs = new SQSClient({ endpoint: services.sqsEndpoint });
  await createQueue("Parked");
  queueUrl = await createQueue("Jobs", {
    VisibilityTimeout: "60",
    RedrivePolicy: JSON.stringify({
      deadLetterTargetArn: "arn:aws:sqs:us-east-1:000000000000:Parked",
      maxReceiveCount: 2,
    }),
  });
}

async function stop(): Promise<void> {
  sqs.destroy();
  await services.stop();
}

async function createQueue(name: string, attributes: Record<string, string> = {}): Promise<string> {
  const { QueueUrl = "" } = await sqs.send(
    new CreateQueueCommand({ QueueName: name, Attributes: attributes }),
  );
  return QueueUrl;
}

async function send(body: string, delaySeconds?: number): Promise<void> {
  await sqs.send(
    new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: body, DelaySeconds: delaySeconds }),
  );
}

/** Receives messages; with a wait of 0 only the visible ones. */
async function receive(options: Partial<ReceiveMessageCommandInput> = {}): Promise<Message[]> {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: 10,
      WaitTimeSeconds: 20,
      MessageSystemAttributeNames: ["All"],
      ...options,
    }),
  );
  return Messages;
}

const bodies = (messages: readonly Message[]): unknown[] => messages.map(({ Body }) => Body);

async function show(messages: readonly Message[]): Promise<void> {
  await sqs.send(
    new ChangeMessageVisibilityBatchCommand({
      QueueUrl: queueUrl,
      Entries: messages.map(({ ReceiptHandle }, index) => ({
        Id: String(index),
        ReceiptHandle,
        VisibilityTimeout: 0,
      })),
    }),
  );
}

async function counts(url = queueUrl): Promise<number[]> {
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ["All"] }),
  );
  return [
    Number(Attributes["ApproximateNumberOfMessages"]),
    Number(Attributes["ApproximateNumberOfMessagesNotVisible"]),
    Number(Attributes["ApproximateNumberOfMessagesDelayed"]),
  ];
}

it("delivers messages in order, hides received ones, and removes deleted ones", async () => {
  for (const body of ["first", "second", "third"]) await send(body);
  expect(await counts()).toEqual([3, 0, 0]);
  const received = await receive({ MaxNumberOfMessages: 2 });
  expect(bodies(received)).toEqual(["first", "second"]);
  expect(received[0]?.Attributes).toMatchObject({ ApproximateReceiveCount: "1", SenderId: "000000000000" });
  expect(await counts()).toEqual([1, 2, 0]);
  const [first, second] = received;
  await sqs.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle: first?.ReceiptHandle }));
  const Entries = [{ Id: "0", ReceiptHandle: second?.ReceiptHandle }];
  await sqs.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
  expect(bodies(await receive({ WaitTimeSeconds: 0 }))).toEqual(["third"]);
});

it("delivers a batch to a waiting receiver together and with its attributes", async () => {
  const waiting = receive({ MessageAttributeNames: ["All"] });
  const MessageAttributes = { kind: { DataType: "String", StringValue: "é" } };
  const Entries = ["a", "b", "c"].map((body) => ({
    Id: body,
    MessageBody: body,
    MessageGroupId: "org",
    MessageAttributes,
  }));
  await sqs.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
  const messages = await waiting;
  expect(bodies(messages)).toEqual(["a", "b", "c"]);
  expect(messages[2]).toMatchObject({ MessageAttributes, Attributes: { MessageGroupId: "org" } });
});

it.each(["M\u00fcller", "Acme Ltd", "x".repeat(129)])(
  "rejects the group %j, which AWS rejects too",
  async (MessageGroupId) => {
    const message = { QueueUrl: queueUrl, MessageBody: "a", MessageGroupId };
    await expect(sqs.send(new SendMessageCommand(message))).rejects.toThrow("MessageGroupId");
    expect(await counts()).toEqual([0, 0, 0]);
  },
);

it("delivers a delayed message when its delay is over", async () => {
  const sentAt = Date.now();
  await send("later", 1);
  expect(await counts()).toEqual([0, 0, 1]);
  expect(await receive({ WaitTimeSeconds: 0 })).toEqual([]);
  expect(bodies(await receive())).toEqual(["later"]);
  expect(Date.now() - sentAt).toBeGreaterThanOrEqual(1_000);
});

it("delivers a message again after its visibility timeout, and then accepts only its latest receipt", async () => {
  await send("again");
  const [before] = await receive({ VisibilityTimeout: 1 });
  const [after] = await receive();
  expect(after).toMatchObject({ Body: "again", Attributes: { ApproximateReceiveCount: "2" } });
  await sqs.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle: before?.ReceiptHandle }));
  expect(await counts()).toEqual([0, 1, 0]);
});

it("moves a message that was received too often to the dead-letter queue, and delivers the next one", async () => {
  await send("bad");
  for (let round = 0; round < 2; round += 1) await show(await receive());
  await send("good");
  await vi.waitFor(
    async () => expect(bodies(await receive({ WaitTimeSeconds: 1 }))).toEqual(["good"]),
    patience,
  );
  const parked = await receive({ QueueUrl: `${services.sqsEndpoint}/000000000000/Parked` });
  expect(bodies(parked)).toEqual(["bad"]);
});

it("keeps a message for a connected receiver when another one has disconnected", async () => {
  const hangUp = new AbortController();
  const input = { QueueUrl: queueUrl, WaitTimeSeconds: 20 };
  const gone = sqs.send(new ReceiveMessageCommand(input), { abortSignal: hangUp.signal });
  const ended = gone.catch((error: unknown) => String(error));
  // The receiver waits after it has checked for earlier messages.
  await counts();
  hangUp.abort();
  expect(await ended).toMatch(/abort/i);
  // The server has seen that it is gone before it sees what comes later.
  await counts();
  const waiting = receive();
  await send("for me");
  expect(bodies(await waiting)).toEqual(["for me"]);
});

it("keeps visible, received and delayed messages over a restart", async () => {
  const parkedUrl = `${services.sqsEndpoint}/000000000000/Parked`;
  await sqs.send(new SendMessageCommand({ QueueUrl: parkedUrl, MessageBody: "parked" }));
  await send("deleted");
  const [deleted] = await receive();
  await sqs.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle: deleted?.ReceiptHandle }));
  await send("received");
  await receive();
  await send("waiting");
  await send("later", 900);
  await stop();
  await start();
  expect(await counts()).toEqual([1, 0, 2]);
  expect(await counts(`${services.sqsEndpoint}/000000000000/Parked`)).toEqual([1, 0, 0]);
  expect(bodies(await receive())).toEqual(["waiting"]);
});

it("updates the settings of an existing queue", async () => {
  await createQueue("Jobs", { VisibilityTimeout: "0" });
  await send("seen");
  expect(bodies(await receive())).toEqual(["seen"]);
  expect(bodies(await receive())).toEqual(["seen"]);
});

it("rejects what SQS rejects", async () => {
  const entries = Array.from({ length: 11 }, (_, index) => ({ Id: String(index), MessageBody: "x" }));
  const rejected = async (command: Promise<unknown>): Promise<unknown> =>
    command.then(
      () => "accepted",
      (error: unknown) => (error instanceof Error ? error.name : error),
    );
  expect(
    await rejected(sqs.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries: entries }))),
  ).toMatch(/^InvalidParameterValue/);
  expect(await rejected(send("x".repeat(1_048_577)))).toMatch(/^InvalidParameterValue/);
  expect(await rejected(send("x", 901))).toMatch(/^InvalidParameterValue/);
  const QueueUrl = `${services.sqsEndpoint}/000000000000/Unknown`;
  expect(await rejected(sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "x" })))).toMatch(
    /QueueDoesNotExist|NonExistentQueue/,
  );
  expect(await counts()).toEqual([0, 0, 0]);
});
