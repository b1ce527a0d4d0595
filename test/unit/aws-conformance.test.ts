import { DynamoDBClient, errorTypeRegistries as dynamodbErrors } from "@aws-sdk/client-dynamodb";
import {
  errorTypeRegistries as kmsErrors,
  GetPublicKeyCommand,
  KMSClient,
  SignCommand,
} from "@aws-sdk/client-kms";
import {
  errorTypeRegistries as pinpointErrors,
  PinpointSMSVoiceV2Client,
  SendTextMessageCommand,
} from "@aws-sdk/client-pinpoint-sms-voice-v2";
import { S3Client } from "@aws-sdk/client-s3";
import {
  CreateSecretCommand,
  errorTypeRegistries as secretErrors,
  GetSecretValueCommand,
  SecretsManagerClient,
} from "@aws-sdk/client-secrets-manager";
import { errorTypeRegistries as sesErrors, SendEmailCommand, SESv2Client } from "@aws-sdk/client-sesv2";
import {
  errorTypeRegistries as sqsErrors,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import {
  BatchGetCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";

import type { AwsClient, AwsCommand } from "../../shared/platform/aws/client.ts";
import { DynamoDb } from "../../shared/platform/aws/dynamodb.ts";
import { EndUserMessaging } from "../../shared/platform/aws/end-user-messaging.ts";
import { endpointOf } from "../../shared/platform/aws/endpoint.ts";
import { Kms } from "../../shared/platform/aws/kms.ts";
import { SecretsManager } from "../../shared/platform/aws/secrets-manager.ts";
import { Ses } from "../../shared/platform/aws/ses.ts";
import { Sqs } from "../../shared/platform/aws/sqs.ts";
import { answering, startAwsServer, useAwsServer, type AwsServer } from "../support/aws-server.ts";

/*
 * Compares our client with the SDK's: it sends the same requests for the same commands, and understands the responses in
 * the same way.
 */

let server: AwsServer;
const configuration = {
  region: "eu-west-1",
  credentials: { accessKeyId: "key", secretAccessKey: "secret" },
  maxAttempts: 1,
};
beforeAll(async () => {
  server = await startAwsServer();
});
beforeEach(() => {
  useAwsServer(server);
  return () => vi.unstubAllEnvs();
});
afterAll(async () => server.stop());

interface Sender {
  send(command: object): Promise<object>;
}

interface Pair {
  readonly ours: AwsClient;
  readonly theirs: () => Sender;
}

/** The SDK reads the environment once, so that its clients are made in the tests. */
const theirs = (make: () => object) => (): Sender => Object(make());
const marshallOptions = { removeUndefinedValues: true, convertClassInstanceToMap: true };
const once = { maxAttempts: 1 };
const dynamodb: Pair = {
  ours: new DynamoDb(once),
  theirs: theirs(() => DynamoDBDocumentClient.from(new DynamoDBClient(configuration), { marshallOptions })),
};
const sqs: Pair = { ours: new Sqs(once), theirs: theirs(() => new SQSClient(configuration)) };
const kms: Pair = { ours: new Kms(once), theirs: theirs(() => new KMSClient(configuration)) };
const secrets: Pair = {
  ours: new SecretsManager(once),
  theirs: theirs(() => new SecretsManagerClient(configuration)),
};
const ses: Pair = { ours: new Ses(once), theirs: theirs(() => new SESv2Client(configuration)) };
const pinpoint: Pair = {
  ours: new EndUserMessaging(once),
  theirs: theirs(() => new PinpointSMSVoiceV2Client(configuration)),
};

/** The client's result for a response: its output, or the error. */
async function outcomeOf(sending: Promise<object>): Promise<object> {
  try {
    const { $metadata, ...output } = Object(await sending);
    return { output, status: $metadata.httpStatusCode, requestId: $metadata.requestId };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { $metadata, $fault, Item, CancellationReasons }: Record<string, unknown> = Object(error);
    const { name, message } = error;
    const { httpStatusCode: status, requestId } = Object($metadata);
    return { class: error.constructor, name, message, status, requestId, $fault, Item, CancellationReasons };
  }
}

/** The same command sent by both. @returns what was asked, and what was understood */
async function both(
  { ours, theirs: makeTheirs }: Pair,
  make: () => AwsCommand<object>,
): Promise<{ readonly asked: unknown[]; readonly understood: unknown[] }> {
  server.received.length = 0;
  const understood = [await outcomeOf(ours.send(make())), await outcomeOf(makeTheirs().send(make()))];
  const asked = server.received.map(({ path, headers, body }) => ({
    path,
    target: headers["x-amz-target"],
    type: headers["content-type"],
    scope: /\/(\w|-)+\/(\w|-)+\/aws4_request/.exec(String(headers.authorization))?.[0],
    body: JSON.parse(body),
  }));
  return { asked, understood };
}

const key = { pk: "A#1", sk: "A" };
const bytes = new Uint8Array([0, 1, 254, 255]);
const values = { ":n": 1, ":s": "text", ":b": bytes, ":set": new Set(["a", "b"]), ":none": undefined };
const TableName = "table";

const commands: [string, Pair, () => AwsCommand<object>, object][] = [
  [
    "get",
    dynamodb,
    () => new GetCommand({ TableName, Key: key, ConsistentRead: true }),
    { Item: { pk: { S: "A" }, raw: { B: "AAH+/w==" } } },
  ],
  ["get nothing", dynamodb, () => new GetCommand({ TableName, Key: key }), {}],
  [
    "put",
    dynamodb,
    () => new PutCommand({ TableName, Item: { ...key, list: [1, null, { deep: bytes }], big: 2n ** 60n } }),
    {},
  ],
  [
    "update",
    dynamodb,
    () =>
      new UpdateCommand({
        TableName,
        Key: key,
        UpdateExpression: "SET #n = :n",
        ExpressionAttributeNames: { "#n": "n" },
        ExpressionAttributeValues: values,
        ReturnValues: "ALL_NEW",
      }),
    {
      Attributes: {
        n: { N: "1.25" },
        set: { NS: ["1", "2"] },
        raws: { BS: ["AAE=", "/w=="] },
        none: { NULL: true },
      },
    },
  ],
  [
    "delete",
    dynamodb,
    () => new DeleteCommand({ TableName, Key: key, ReturnValuesOnConditionCheckFailure: "ALL_OLD" }),
    {},
  ],
  [
    "query",
    dynamodb,
    () =>
      new QueryCommand({
        TableName,
        KeyConditionExpression: "pk = :s",
        ExpressionAttributeValues: values,
        ExclusiveStartKey: key,
        Limit: 5,
      }),
    {
      Items: [{ pk: { S: "A" } }, { pk: { S: "é\u{1F600}" } }],
      Count: 2,
      LastEvaluatedKey: { pk: { S: "A" } },
    },
  ],
  [
    "transact",
    dynamodb,
    () =>
      new TransactWriteCommand({
        ClientRequestToken: "1",
        TransactItems: [
          { Put: { TableName, Item: { ...key, raw: bytes } } },
          {
            Update: {
              TableName,
              Key: key,
              UpdateExpression: "SET a = :n",
              ExpressionAttributeValues: values,
            },
          },
          { Delete: { TableName, Key: key } },
          { ConditionCheck: { TableName, Key: key, ConditionExpression: "attribute_exists(pk)" } },
        ],
      }),
    {},
  ],
  [
    "batch get",
    dynamodb,
    () => new BatchGetCommand({ RequestItems: { [TableName]: { Keys: [key], ConsistentRead: true } } }),
    {
      Responses: { [TableName]: [{ pk: { S: "A" } }] },
      UnprocessedKeys: { [TableName]: { Keys: [marshall(key)] } },
    },
  ],
  [
    "send a message",
    sqs,
    () =>
      new SendMessageCommand({
        QueueUrl: `${server.url}/1/queue`,
        MessageBody: "hello",
        DelaySeconds: 5,
        MessageAttributes: { raw: { DataType: "Binary", BinaryValue: bytes } },
      }),
    { MessageId: "1", MD5OfMessageBody: "5d41402abc4b2a76b9719d911017c592" },
  ],
  [
    "send a batch",
    sqs,
    () =>
      new SendMessageBatchCommand({
        QueueUrl: `${server.url}/1/queue`,
        Entries: [
          { Id: "0", MessageBody: "hello", MessageGroupId: "g" },
          { Id: "1", MessageBody: "other" },
        ],
      }),
    {
      Successful: [{ Id: "0", MessageId: "1", MD5OfMessageBody: "5d41402abc4b2a76b9719d911017c592" }],
      Failed: [{ Id: "1", Code: "InternalError", SenderFault: false }],
    },
  ],
  [
    "receive",
    sqs,
    () => new ReceiveMessageCommand({ QueueUrl: `${server.url}/1/queue`, MaxNumberOfMessages: 10 }),
    {
      Messages: [
        {
          Body: "hello",
          MD5OfBody: "5d41402abc4b2a76b9719d911017c592",
          MessageAttributes: { raw: { DataType: "Binary", BinaryValue: "AAH+/w==" } },
        },
      ],
    },
  ],
  [
    "sign",
    kms,
    () =>
      new SignCommand({ KeyId: "k", Message: bytes, MessageType: "RAW", SigningAlgorithm: "ECDSA_SHA_256" }),
    { Signature: "AAH+/w==" },
  ],
  [
    "read a public key",
    kms,
    () => new GetPublicKeyCommand({ KeyId: "k" }),
    { KeyId: "k", PublicKey: "AAH+/w==" },
  ],
  [
    "read a secret",
    secrets,
    () => new GetSecretValueCommand({ SecretId: "s", VersionId: undefined }),
    { SecretString: "x", SecretBinary: "AAH+/w==", CreatedDate: 1_700_000_000.123 },
  ],
  [
    "keep a secret",
    secrets,
    () => new CreateSecretCommand({ Name: "s", SecretString: "x", ClientRequestToken: "1" }),
    { VersionId: "1" },
  ],
  [
    "send an email",
    ses,
    () =>
      new SendEmailCommand({
        FromEmailAddress: "a@example.com",
        ConfigurationSetName: undefined,
        Destination: { ToAddresses: ["b@example.com"] },
        Content: { Simple: { Subject: { Data: "s" }, Body: { Text: { Data: "t", Charset: "UTF-8" } } } },
      }),
    { MessageId: "1" },
  ],
  [
    "send an SMS",
    pinpoint,
    () =>
      new SendTextMessageCommand({
        DestinationPhoneNumber: "+1",
        MessageBody: "x",
        Context: { a: "b" },
        TimeToLive: 5,
      }),
    { MessageId: "1" },
  ],
];

it.each(commands)("%s: the same request, and the same output", async (_, pair, make, answer) => {
  server.respond(answering(answer, 200, { "x-amzn-requestid": "request-1" }));
  const { asked, understood } = await both(pair, make);
  expect(asked).toHaveLength(2);
  expect(asked[0]).toEqual(asked[1]);
  expect(understood[0]).toEqual(understood[1]);
  expect(understood[0]).toMatchObject({ requestId: "request-1" });
});

const scalar = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e100, max: 1e100 }),
  fc.boolean(),
  fc.constant(null),
  fc.uint8Array({ minLength: 1 }),
);
const sets = fc.oneof(
  fc.uniqueArray(fc.string(), { minLength: 1 }).map((members) => new Set(members)),
  fc.uniqueArray(fc.maxSafeInteger(), { minLength: 1 }).map((members) => new Set(members)),
);
const { attribute } = fc.letrec((tie) => ({
  attribute: fc.oneof(
    { maxDepth: 4 },
    scalar,
    sets,
    fc.array(tie("attribute"), { maxLength: 4 }),
    fc.dictionary(
      fc
        .oneof(fc.string(), fc.constantFrom("constructor", "toString", "B", "S"))
        // The SDK's `marshall` takes this one for the prototype. Validation removes it from input.
        .filter((name) => name !== "__proto__"),
      tie("attribute"),
      { maxKeys: 4 },
    ),
  ),
}));

it("any item is sent and returned as with the SDK", async () => {
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), attribute), async (item) => {
      // The server returns the item that was put.
      server.respond(({ body }, response) =>
        answering({ Attributes: JSON.parse(body).Item })({ path: "", headers: {}, body }, response),
      );
      const { asked, understood } = await both(dynamodb, () => new PutCommand({ TableName, Item: item }));
      expect(asked[0]).toEqual(asked[1]);
      expect(understood[0]).toEqual(understood[1]);
    }),
    { numRuns: 100 },
  );
});

describe("every error of a service is of the SDK's class", () => {
  it.each([
    ["DynamoDB", dynamodb, dynamodbErrors, () => new GetCommand({ TableName, Key: key })],
    [
      "SQS",
      sqs,
      sqsErrors,
      () => new SendMessageCommand({ QueueUrl: `${server.url}/1/q`, MessageBody: "x" }),
    ],
    ["KMS", kms, kmsErrors, () => new GetPublicKeyCommand({ KeyId: "k" })],
    ["Secrets Manager", secrets, secretErrors, () => new GetSecretValueCommand({ SecretId: "s" })],
    ["SES", ses, sesErrors, () => new SendEmailCommand({ Content: {} })],
    [
      "End User Messaging",
      pinpoint,
      pinpointErrors,
      () => new SendTextMessageCommand({ DestinationPhoneNumber: "+1" }),
    ],
  ] as const)("%s", async (_name, pair, registries, make) => {
    const known = new Map<string, string>();
    for (const registry of registries) {
      registry.find((schema) => {
        const [, namespace, name]: readonly unknown[] = Array.isArray(schema) ? schema : [];
        const isNamed = typeof namespace === "string" && typeof name === "string";
        if (isNamed && !namespace.includes("synthetic")) known.set(name, namespace);
        return false;
      });
    }
    expect(known.size).toBeGreaterThan(5);
    for (const [name, namespace] of [...known, ["SomethingNew", "com.amazon.coral.service"] as const]) {
      for (const [body, headers] of [
        [{ __type: `${namespace}#${name}`, message: "why" }, {}],
        [{ __type: name, Message: "why", Reason: "REASON", Fields: [{ Name: "a", Message: "b" }] }, {}],
        [{ message: "why" }, { "x-amzn-errortype": `${name}:http://internal.amazon.com/` }],
      ] as const) {
        server.respond(answering(body, 400, headers));
        const { understood } = await both(pair, make);
        const [ours, expected] = understood;
        expect(ours, name).toEqual(expected);
        expect(Object(ours).name).toBe(name);
      }
    }
  });

  it("with what a failed condition found, and with why a transaction was cancelled", async () => {
    const found = { pk: { S: "A" }, raw: { B: "AAH+/w==" } };
    const reasons = [{ Code: "None" }, { Code: "ConditionalCheckFailed", Item: found, Message: "why" }];
    for (const body of [
      { __type: "x#ConditionalCheckFailedException", message: "why", Item: found },
      { __type: "x#TransactionCanceledException", Message: "why", CancellationReasons: reasons },
    ]) {
      server.respond(answering(body, 400));
      const { understood } = await both(dynamodb, () => new GetCommand({ TableName, Key: key }));
      const [ours, expected] = understood;
      expect(ours).toEqual(expected);
      expect(JSON.stringify(ours)).toContain('"raw"');
    }
  });
});

describe("an endpoint is where the SDK looks for it", () => {
  const regions = [
    "us-east-1",
    "eu-central-1",
    "ap-southeast-7",
    "us-gov-west-1",
    "us-gov-east-1",
    "cn-north-1",
    "us-iso-east-1",
    "us-isob-east-1",
    "eusc-de-east-1",
  ];
  const services = [
    ["DYNAMODB", "dynamodb", new DynamoDBClient(configuration)],
    ["SQS", "sqs", new SQSClient(configuration)],
    ["KMS", "kms", new KMSClient(configuration)],
    ["SECRETS_MANAGER", "secretsmanager", new SecretsManagerClient(configuration)],
    ["SESV2", "email", new SESv2Client(configuration)],
    ["PINPOINT_SMS_VOICE_V2", "sms-voice", new PinpointSMSVoiceV2Client(configuration)],
    ["S3", "s3", new S3Client(configuration)],
  ] as const;
  it.each(services)("%s", (id, hostPrefix, client) => {
    vi.stubEnv("AWS_ENDPOINT_URL", "");
    const [found, expected]: string[][] = [[], []];
    for (const region of regions) {
      for (const [UseFIPS, UseDualStack] of [
        [false, false],
        [true, false],
        [false, true],
        [true, true],
      ] as const) {
        vi.stubEnv("AWS_USE_FIPS_ENDPOINT", String(UseFIPS));
        vi.stubEnv("AWS_USE_DUALSTACK_ENDPOINT", String(UseDualStack));
        const asked = `${region} ${UseFIPS ? "FIPS" : ""} ${UseDualStack ? "dual stack" : ""}`;
        try {
          expected?.push(
            `${asked} ${client.config.endpointProvider({ Region: region, UseFIPS, UseDualStack }).url.href}`,
          );
        } catch {
          // There is none of the kind in this part of AWS.
          continue;
        }
        found?.push(`${asked} ${endpointOf({ id, hostPrefix }, region).href}`);
      }
    }
    expect(found).toEqual(expected);
  });

  it("the environment names one for a service, or one for all", () => {
    const service = { id: "SQS", hostPrefix: "sqs" };
    expect(endpointOf(service, "eu-west-1").href).toBe(`${server.url}/`);
    vi.stubEnv("AWS_ENDPOINT_URL_SQS", "http://127.0.0.1:1");
    expect(endpointOf(service, "eu-west-1").href).toBe("http://127.0.0.1:1/");
    expect(endpointOf({ ...service, id: "KMS" }, "eu-west-1").href).toBe(`${server.url}/`);
  });
});
