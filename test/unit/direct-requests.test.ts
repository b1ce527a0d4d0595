import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

import { afterAll, beforeEach, expect, it } from "vitest";

import { askEmulatorsDirectly } from "../../infra/local/direct-requests.ts";
import { listenOnLoopback } from "../../infra/local/loopback.ts";

/** Each request that arrived, with the name of the server that took it. */
let arrived: { at: string; authorization: string | undefined; body: unknown }[] = [];
beforeEach(() => {
  arrived = [];
});

async function take(at: string, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const body: unknown = JSON.parse(await text(incoming));
  arrived.push({ at, authorization: incoming.headers.authorization, body });
  outgoing.end(`"${at}"`);
}

const servers = new Map(
  ["aws", "dynamodb", "sqs"].map((name) => [
    name,
    createServer((incoming, outgoing) => void take(name, incoming, outgoing)),
  ]),
);
afterAll(() => {
  for (const server of servers.values()) server.close();
});
const urls = new Map<string, string>();
for (const [name, server] of servers) urls.set(name, `http://127.0.0.1:${await listenOnLoopback(server)}`);
const urlOf = (name: string): string => urls.get(name) ?? "";

const http = { request };
askEmulatorsDirectly(http, {
  awsEndpoint: urlOf("aws"),
  dynamodbEndpoint: urlOf("dynamodb"),
  sqsEndpoint: urlOf("sqs"),
  accessKeyId: "local",
  description: "Permissions: sendSms in infra/access.ts",
  statements: [
    {
      Effect: "Allow",
      Action: ["dynamodb:GetItem"],
      Resource: ["arn:aws:dynamodb:us-east-1:000000000000:table/table"],
      Condition: { "ForAllValues:StringLike": { "dynamodb:LeadingKeys": ["ORG#*"] } },
    },
    {
      Effect: "Allow",
      Action: ["sqs:SendMessage"],
      Resource: ["arn:aws:sqs:us-east-1:000000000000:Sends"],
    },
  ],
});

/** Asks AWS as the SDK does. */
async function ask(
  target: string,
  body: object,
  { at = "aws", ...more }: Record<string, string> = {},
): Promise<{ status: number | undefined; body: unknown }> {
  const content = JSON.stringify(body);
  const { port } = new URL(urlOf(at));
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = {
      "x-amz-target": target,
      authorization: "AWS4-HMAC-SHA256 Credential=SendSms/20260101/us-east-1/any/aws4_request, Signature=1",
      "content-length": Buffer.byteLength(content),
      ...more,
    };
    const options = { host: "127.0.0.1", port, path: "/", method: "POST", headers };
    http.request(options, resolve).on("error", reject).end(content);
  });
  return { status: response.statusCode, body: JSON.parse(await text(response)) };
}

const get = (pk: string): object => ({ TableName: "table", Key: { pk: { S: pk } } });

it("what a role allows goes to the emulator, under the access key that all data is kept under", async () => {
  expect(await ask("DynamoDB_20120810.GetItem", get("ORG#1"))).toEqual({ status: 200, body: "dynamodb" });
  expect(arrived).toEqual([
    {
      at: "dynamodb",
      authorization: "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/any/aws4_request, Signature=1",
      body: get("ORG#1"),
    },
  ]);
});

it("what it does not allow is refused and arrives nowhere", async () => {
  expect(await ask("DynamoDB_20120810.GetItem", get("WALLET#1"))).toEqual({
    status: 400,
    body: {
      __type: "AccessDeniedException",
      message:
        "not authorized to perform dynamodb:GetItem on WALLET#*. Permissions: sendSms in infra/access.ts",
    },
  });
  expect(arrived).toEqual([]);
});

it("messages carry the lineage of the call that sends them", async () => {
  const trace = "Lineage=SendMessage:3";
  const MessageAttributes = { AWSTraceHeader: { DataType: "String", StringValue: trace } };
  const QueueUrl = `${urlOf("aws")}/000000000000/Sends`;
  const traced = { "X-Amzn-Trace-Id": trace };
  await ask("AmazonSQS.SendMessage", { QueueUrl, MessageBody: "é" }, traced);
  await ask("AmazonSQS.SendMessageBatch", { QueueUrl, Entries: [{ Id: "0", MessageBody: "é" }] }, traced);
  await ask("AmazonSQS.SendMessage", { QueueUrl, MessageBody: "é" });
  expect(arrived.map(({ at, body }) => [at, body])).toEqual([
    ["sqs", { QueueUrl, MessageBody: "é", MessageAttributes }],
    ["sqs", { QueueUrl, Entries: [{ Id: "0", MessageBody: "é", MessageAttributes }] }],
    ["sqs", { QueueUrl, MessageBody: "é" }],
  ]);
});

it("other services, and other servers, are asked as ever", async () => {
  expect(await ask("TrentService.Sign", {})).toMatchObject({ body: "aws" });
  expect(await ask("DynamoDB_20120810.GetItem", get("WALLET#1"), { at: "sqs" })).toMatchObject({
    body: "sqs",
  });
  expect(arrived[0]?.authorization).toContain("Credential=SendSms/");
});

it("who names an address is answered from there", async () => {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { "content-length": 2 };
    http
      .request(new URL(urlOf("sqs")), { method: "POST", headers }, resolve)
      .on("error", reject)
      .end("{}");
  });
  expect(JSON.parse(await text(response))).toBe("sqs");
});
