import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import path from "node:path";
import type { MessagePort } from "node:worker_threads";

import { afterEach, beforeEach, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import type { Permissions } from "../../infra/local/aws-requests.ts";
import { DataServices } from "../../infra/local/data-services.ts";
import { StorePort, type ServiceResponse } from "../../infra/local/store/port.ts";
import { startHttpServer } from "../support/http-server.ts";
import { patience } from "../support/patience.ts";

const permissions: Permissions = {
  description: "Permissions: sendSms in infra/stack/permissions.txt",
  statements: [
    {
      Effect: "Allow",
      Action: ["dynamodb:GetItem", "dynamodb:PutItem"],
      Resource: ["arn:aws:dynamodb:us-east-1:000000000000:table/table"],
      Condition: { "ForAllValues:StringLike": { "dynamodb:LeadingKeys": ["ORG#*"] } },
    },
    {
      Effect: "Allow",
      Action: ["sqs:SendMessage"],
      Resource: ["arn:aws:sqs:us-east-1:000000000000:Sends"],
    },
  ],
};

const tableDefinition = {
  BillingMode: "PAY_PER_REQUEST",
  AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
  KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
};

const Received = z.object({
  Messages: z._default(
    z.array(z.object({ Body: z.string(), MessageAttributes: z.optional(z.unknown()) })),
    [],
  ),
});

let services: DataServices;
let queueUrl: string;
beforeEach(async () => {
  services = await DataServices.start();
  const created = await services.request("sqs", "CreateQueue", { QueueName: "Sends" });
  queueUrl = z.object({ QueueUrl: z.string() }).parse(created).QueueUrl;
  await services.request("dynamodb", "CreateTable", { ...tableDefinition, TableName: "table" });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await services.stop();
});

/** A port of a function, with the end that its thread would have. */
function openPort(): { store: StorePort; port: MessagePort } {
  const opened = services.openPort(permissions);
  if (opened === undefined) throw new Error("there is no local store");
  return { store: new StorePort(opened.port, opened.services), port: opened.port };
}

const get = (pk: string): string => JSON.stringify({ TableName: "table", Key: { pk: { S: pk } } });

async function receive(waitSeconds: number, signal?: AbortSignal): Promise<z.infer<typeof Received>> {
  const input = {
    QueueUrl: queueUrl,
    MaxNumberOfMessages: 10,
    WaitTimeSeconds: waitSeconds,
    MessageAttributeNames: ["All"],
  };
  return Received.parse(await services.request("sqs", "ReceiveMessage", input, signal));
}

it("a function's port executes what its role allows, and responds to each of many requests", async () => {
  const { store } = openPort();
  expect(store.services).toEqual(new Set(["dynamodb", "sqs"]));
  const names = Array.from({ length: 50 }, (_, index) => `ORG#${index}`);
  const put = async (pk: string): Promise<ServiceResponse> =>
    store.send("dynamodb", "PutItem", JSON.stringify({ TableName: "table", Item: { pk: { S: pk } } }));
  expect(await Promise.all(names.map(put))).toEqual(names.map(() => ({ status: 200, body: "{}" })));
  const answers = await Promise.all(names.map(async (pk) => store.send("dynamodb", "GetItem", get(pk))));
  expect(answers.map(({ body }) => JSON.parse(body))).toEqual(names.map((S) => ({ Item: { pk: { S } } })));
});

it("a function learns that the disk has its writes after it has queued a job, or asks after a moment", async () => {
  const { store, port } = openPort();
  const posted = vi.spyOn(port, "postMessage");
  const put = async (): Promise<ServiceResponse> =>
    store.send("dynamodb", "PutItem", JSON.stringify({ TableName: "table", Item: { pk: { S: "ORG#1" } } }));
  await put();
  expect(store.isKept()).toBe(false);
  await store.send("sqs", "SendMessage", JSON.stringify({ QueueUrl: queueUrl, MessageBody: "one" }));
  await store.kept();
  expect(posted).toHaveBeenCalledTimes(2);
  await put();
  expect(store.isKept()).toBe(false);
  await store.keptSoon(store.seenGroup);
  expect(store.isKept()).toBe(true);
  expect(posted).toHaveBeenCalledTimes(4);
});

it("a function's port rejects what its role does not allow", async () => {
  const { status, body } = await openPort().store.send("dynamodb", "GetItem", get("WALLET#1"));
  expect(status).toBe(400);
  expect(JSON.parse(body)).toEqual({
    __type: "AccessDeniedException",
    message:
      "not authorized to perform dynamodb:GetItem on WALLET#*. Permissions: sendSms in infra/stack/permissions.txt",
  });
  const { body: rejected } = await openPort().store.send("sqs", "CreateQueue", '{"QueueName":"Mine"}');
  expect(rejected).toContain("not authorized to perform sqs:CreateQueue");
});

it("a service's error is a response with its type", async () => {
  const { store } = openPort();
  const unreadable = await store.send("sqs", "SendMessage", JSON.stringify({ QueueUrl: queueUrl }));
  expect(unreadable.status).toBe(400);
  expect(JSON.parse(unreadable.body)).toMatchObject({ __type: "com.amazonaws.sqs#InvalidParameterValue" });
  await expect(services.request("sqs", "ReceiveMessage", { QueueUrl: "/Unknown" })).rejects.toMatchObject({
    type: "QueueDoesNotExist",
  });
});

it("messages carry the lineage of the call that sends them", async () => {
  const { store } = openPort();
  const trace = "Lineage=SendMessage:3";
  const one = { QueueUrl: queueUrl, MessageBody: "one" };
  const many = { QueueUrl: queueUrl, Entries: [{ Id: "0", MessageBody: "many" }] };
  await store.send("sqs", "SendMessage", JSON.stringify(one), trace);
  await store.send("sqs", "SendMessageBatch", JSON.stringify(many), trace);
  await store.send("sqs", "SendMessage", JSON.stringify({ ...one, MessageBody: "none" }));
  const MessageAttributes = { AWSTraceHeader: { DataType: "String", StringValue: trace } };
  expect((await receive(0)).Messages).toEqual([
    { Body: "one", MessageAttributes },
    { Body: "many", MessageAttributes },
    { Body: "none" },
  ]);
});

it("a cancelled wait for messages receives none", async () => {
  const cancel = new AbortController();
  const startedAt = performance.now();
  const cancelled = receive(20, cancel.signal);
  await receive(0);
  cancel.abort();
  expect(await cancelled).toEqual({ Messages: [] });
  // Not at the end of its wait.
  expect(performance.now() - startedAt).toBeLessThan(15_000);
  const waiting = receive(20);
  await services.request("sqs", "SendMessage", { QueueUrl: queueUrl, MessageBody: "for me" });
  expect((await waiting).Messages).toMatchObject([{ Body: "for me" }]);
});

it("requests fail once the store has ended", async () => {
  const { store, port } = openPort();
  const closed = once(port, "close");
  const waiting = receive(20).catch(String);
  await receive(0);
  await services.stop();
  await closed;
  expect(await waiting).toBe("Error: the local store has ended");
  await expect(store.send("dynamodb", "GetItem", get("ORG#1"))).rejects.toThrow("the local store has ended");
});

it("an external service gets requests at its address, with one access key, and not through a port", async () => {
  const asked: unknown[] = [];
  const { url, stop } = await startHttpServer(({ headers, body }, response) => {
    const { authorization = "", "x-amz-target": target } = headers;
    asked.push([target, /Credential=([^/]+)/.exec(authorization)?.[1], JSON.parse(body)]);
    response.end("{}");
  });
  vi.stubEnv("SQS_ENDPOINT", url);
  const mixed = await DataServices.start();
  try {
    expect(mixed.openPort(permissions)?.services).toEqual(new Set(["dynamodb"]));
    await mixed.send("sqs", "SendMessage", '{"MessageBody":"é"}', "Lineage=SendMessage:3");
    const MessageAttributes = {
      AWSTraceHeader: { DataType: "String", StringValue: "Lineage=SendMessage:3" },
    };
    expect(asked).toEqual([["AmazonSQS.SendMessage", "local", { MessageBody: "é", MessageAttributes }]]);
  } finally {
    await mixed.stop();
    await stop();
  }
});

it("expired items are removed by the functions' clock, and others stay", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "sms-gateway-"));
  const before = await DataServices.start(folder);
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const TableName = "expiring";
  await before.request("dynamodb", "CreateTable", { ...tableDefinition, TableName });
  const TimeToLiveSpecification = { Enabled: true, AttributeName: "expiresAt" };
  await before.request("dynamodb", "UpdateTimeToLive", { TableName, TimeToLiveSpecification });
  for (const [pk, lifeSeconds] of Object.entries({ expired: 1_800, valid: 7_200 })) {
    const Item = { pk: { S: pk }, expiresAt: { N: String(nowSeconds + lifeSeconds) } };
    await before.request("dynamodb", "PutItem", { TableName, Item });
  }
  await before.stop();
  // An hour ahead.
  const after = await DataServices.start(folder, new Float64Array([3_600_000]));
  try {
    await vi.waitFor(async () => {
      expect(await after.request("dynamodb", "Scan", { TableName })).toMatchObject({
        Items: [{ pk: { S: "valid" } }],
      });
    }, patience);
  } finally {
    await after.stop();
    await rm(folder, { recursive: true });
  }
});

it("the local store listens on the loopback address only", async () => {
  const port = Number(new URL(services.dynamodbEndpoint).port);
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const targets = addresses.map(({ address, scopeid = 0 }) =>
    scopeid === 0 ? address : `${address}%${scopeid}`,
  );
  // On Linux this address reaches a server on all interfaces, even on a machine without a network.
  if (process.platform === "linux") targets.push("127.0.0.2");
  const reached: string[] = [];
  for (const target of targets) if (await isReachable(target, port)) reached.push(target);
  expect(reached).toEqual(["127.0.0.1"]);
});

/** Whether a server accepts connections there. */
async function isReachable(address: string, port: number): Promise<boolean> {
  const socket = connect(port, address);
  const reached = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  return reached;
}
