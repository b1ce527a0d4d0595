import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import * as kmsSdk from "@aws-sdk/client-kms";
import * as smsSdk from "@aws-sdk/client-pinpoint-sms-voice-v2";
import * as secretsSdk from "@aws-sdk/client-secrets-manager";
import * as sesSdk from "@aws-sdk/client-sesv2";
import * as sqsSdk from "@aws-sdk/client-sqs";
import * as dynamodbSdk from "@aws-sdk/lib-dynamodb";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";

import type { AwsClient } from "../../shared/platform/aws/client.ts";
import { AwsCommand } from "../../shared/platform/aws/command.ts";
import * as dynamodb from "../../shared/platform/aws/dynamodb.ts";
import * as sms from "../../shared/platform/aws/end-user-messaging.ts";
import * as kms from "../../shared/platform/aws/kms.ts";
import * as secrets from "../../shared/platform/aws/secrets-manager.ts";
import * as ses from "../../shared/platform/aws/ses.ts";
import * as sqs from "../../shared/platform/aws/sqs.ts";
import { awsCases } from "../support/aws-cases.ts";
import { answering, startAwsServer, useAwsServer, type AwsServer } from "../support/aws-server.ts";

/*
 * Compares our clients with the SDK's: they send the same requests for commands of the same names, and understand the responses
 * in the same way.
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

/** A service with our client and the SDK's. The SDK reads the environment once, so that its client is made in the tests. */
interface Service {
  readonly commands: object;
  readonly client: AwsClient;
  readonly sdk: object;
  readonly sdkClient: () => object;
}

const once = { maxAttempts: 1 };
const marshallOptions = { removeUndefinedValues: true, convertClassInstanceToMap: true };
const services = {
  DynamoDB: {
    commands: dynamodb,
    client: new dynamodb.DynamoDb(once),
    sdk: dynamodbSdk,
    sdkClient: () =>
      dynamodbSdk.DynamoDBDocumentClient.from(new DynamoDBClient(configuration), { marshallOptions }),
  },
  SQS: {
    commands: sqs,
    client: new sqs.Sqs(once),
    sdk: sqsSdk,
    sdkClient: () => new sqsSdk.SQSClient(configuration),
  },
  KMS: {
    commands: kms,
    client: new kms.Kms(once),
    sdk: kmsSdk,
    sdkClient: () => new kmsSdk.KMSClient(configuration),
  },
  "Secrets Manager": {
    commands: secrets,
    client: new secrets.SecretsManager(once),
    sdk: secretsSdk,
    sdkClient: () => new secretsSdk.SecretsManagerClient(configuration),
  },
  SES: {
    commands: ses,
    client: new ses.Ses(once),
    sdk: sesSdk,
    sdkClient: () => new sesSdk.SESv2Client(configuration),
  },
  "End User Messaging": {
    commands: sms,
    client: new sms.EndUserMessaging(once),
    sdk: smsSdk,
    sdkClient: () => new smsSdk.PinpointSMSVoiceV2Client(configuration),
  },
} satisfies Record<string, Service>;

/** The client's result for a response: its output, or the error. */
async function outcomeOf(
  client: { send(command: object): Promise<object> },
  command: object,
): Promise<object> {
  try {
    const { $metadata: _metadata, ...output } = Object(await client.send(command));
    return output;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { Item, CancellationReasons, Reason, Fields, $metadata } = Object(error);
    const { httpStatusCode, requestId } = Object($metadata);
    const { name, message } = error;
    return { name, message, Item, CancellationReasons, Reason, Fields, httpStatusCode, requestId };
  }
}

/** Sends the same command with both clients. @returns the two requests, and the two outcomes */
async function both(
  { commands, client, sdk, sdkClient }: Service,
  name: string,
  input: object,
): Promise<{ readonly asked: unknown[]; readonly understood: unknown[] }> {
  server.requests.length = 0;
  // A queue is called at its URL.
  const sent = "QueueUrl" in input ? { ...input, QueueUrl: `${server.url}/1/queue` } : input;
  const commandIn = (module: object): object =>
    Reflect.construct(Reflect.get(module, `${name}Command`), [sent]);
  const understood = [
    await outcomeOf(Object(client), commandIn(commands)),
    await outcomeOf(Object(sdkClient()), commandIn(sdk)),
  ];
  const asked = server.requests.map(({ path, headers, body }) => ({
    path,
    target: headers["x-amz-target"],
    type: headers["content-type"],
    scope: /\/(\w|-)+\/(\w|-)+\/aws4_request/.exec(String(headers.authorization))?.[0],
    body: JSON.parse(body),
  }));
  return { asked, understood };
}

it.each(awsCases)(
  "%s %s: the same request, and the same output",
  async (service, command, input, response) => {
    server.respond(answering(response));
    const { asked, understood } = await both(services[service], command, input);
    expect(asked).toHaveLength(2);
    expect(asked[0]).toEqual(asked[1]);
    expect(understood[0]).toEqual(understood[1]);
  },
);

it("every command has a case", () => {
  const commands = Object.values(services)
    .flatMap(({ commands: module }) => Object.entries(module))
    .filter(([, { prototype }]) => prototype instanceof AwsCommand)
    .map(([name]) => name);
  expect(new Set(awsCases.map(([, command]) => `${command}Command`))).toEqual(new Set(commands));
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
    fc.asyncProperty(fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), attribute), async (Item) => {
      // The server returns the item that was put.
      server.respond((request, response) =>
        answering({ Attributes: JSON.parse(request.body).Item })(request, response),
      );
      const { asked, understood } = await both(services.DynamoDB, "Put", { TableName: "table", Item });
      expect(asked[0]).toEqual(asked[1]);
      expect(understood[0]).toEqual(understood[1]);
    }),
    { numRuns: 100 },
  );
});

describe("an error has the name, the message and the members that it has in the SDK", () => {
  const found = { pk: { S: "A" }, raw: { B: "AAH+/w==" } };
  const reasons = [{ Code: "None" }, { Code: "ConditionalCheckFailed", Item: found, Message: "why" }];
  const Fields = [{ Name: "DestinationPhoneNumber", Message: "invalid" }];
  it.each([
    ["DynamoDB", "Get", "ConditionalCheckFailedException", { Item: found }],
    ["DynamoDB", "Get", "TransactionCanceledException", { CancellationReasons: reasons }],
    ["SQS", "SendMessage", "QueueDoesNotExist", {}],
    ["KMS", "Sign", "DisabledException", {}],
    ["Secrets Manager", "GetSecretValue", "ResourceNotFoundException", {}],
    ["SES", "SendEmail", "MessageRejected", {}],
    ["End User Messaging", "SendTextMessage", "ValidationException", { Reason: "REASON", Fields }],
    ["End User Messaging", "SendTextMessage", "SomethingNew", {}],
  ] as const)("%s %s: %s", async (service, command, name, members) => {
    const input = awsCases.find(([, each]) => each === command)?.[2] ?? {};
    for (const [body, headers] of [
      [{ __type: `com.amazonaws.x#${name}`, message: "why" }, { "x-amzn-requestid": "request-1" }],
      [{ __type: name, Message: "why" }, {}],
      [{ message: "why" }, { "x-amzn-errortype": `${name}:http://internal.amazon.com/` }],
    ] as const) {
      server.respond(answering({ ...body, ...members }, 400, headers));
      const { understood } = await both(services[service], command, input);
      expect(understood[0]).toEqual(understood[1]);
      expect(understood[0]).toMatchObject({ name, message: "why", httpStatusCode: 400 });
    }
  });
});
