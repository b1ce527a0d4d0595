import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { AwsClientOptions } from "../../shared/platform/aws/client.ts";
import { GetCommand, UpdateCommand } from "../../shared/platform/aws/dynamodb.ts";
import type { LocalPort } from "../../shared/platform/aws/local-port.ts";
import { SendMessageBatchCommand, SendMessageCommand } from "../../shared/platform/aws/sqs.ts";
import { answering, startAwsServer, type AwsServer } from "../support/aws-server.ts";

/*
 * How a client of AWS behaves when not all goes well, over plain HTTP.
 */

let server: AwsServer;
beforeEach(async () => {
  server = await startAwsServer();
  vi.stubEnv("AWS_REGION", "eu-west-1");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "key");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
  vi.stubEnv("AWS_ENDPOINT_URL", server.url);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.useRealTimers();
  vi.resetModules();
  await server.stop();
});

const get = new GetCommand({ TableName: "table", Key: { pk: "A" } });
const throttled = { __type: "x#ProvisionedThroughputExceededException", message: "slow down" };
const conflict = { __type: "x#TransactionConflictException", message: "conflict" };

/** A newly loaded client of DynamoDB, without a connection or a corrected clock. */
async function newClient(
  options?: AwsClientOptions,
): Promise<{ send(command: GetCommand): Promise<object> }> {
  const { DynamoDb } = await import("../../shared/platform/aws/dynamodb.ts");
  return new DynamoDb(options);
}

/** Sends some responses in order, and repeats the last one. */
function answerInTurn(...answers: ReturnType<typeof answering>[]): void {
  let count = 0;
  server.respond((request, response) => {
    const answer = answers[Math.min(count, answers.length - 1)];
    count += 1;
    answer?.(request, response);
  });
}

/** The response of a proxy between us and AWS. */
const page: ReturnType<typeof answering> = (_, response) => void response.writeHead(502).end("<html>");
const lost: ReturnType<typeof answering> = (_, response) => void response.destroy();

describe("a request is sent again", () => {
  it.each([
    ["when AWS was too busy", answering(throttled, 400)],
    ["when it met a transaction", answering(conflict, 400)],
    ["when AWS has too many requests", answering({}, 429)],
  ])("%s, also when it must not be applied twice", async (_, rejection) => {
    answerInTurn(rejection, rejection, answering({}));
    await (await newClient({ maxAttempts: 3, maxUnheardAttempts: 1 })).send(get);
    expect(server.requests).toHaveLength(3);
  });

  it.each([
    ["its response is lost", lost, "socket hang up"],
    ["AWS fails", answering({ __type: "InternalServerError", message: "sorry" }, 500), "sorry"],
    ["a page arrives instead of a response", page, "UnknownError"],
  ])("when %s, unless it must not be applied twice", async (_, failure, message) => {
    answerInTurn(failure, answering({}));
    await (await newClient({ maxAttempts: 3 })).send(get);
    expect(server.requests).toHaveLength(2);
    answerInTurn(failure, answering({}));
    await expect((await newClient({ maxAttempts: 3, maxUnheardAttempts: 1 })).send(get)).rejects.toThrow(
      message,
    );
    expect(server.requests).toHaveLength(3);
  });

  it("not more often than its rules allow, and never for an error of its own", async () => {
    answerInTurn(answering(throttled, 400));
    await expect((await newClient({ maxAttempts: 4 })).send(get)).rejects.toThrow("slow down");
    expect(server.requests).toHaveLength(4);
    answerInTurn(answering({ __type: "x#ConditionalCheckFailedException", Item: { n: { N: "1" } } }, 400));
    await expect((await newClient()).send(get)).rejects.toMatchObject({ Item: { n: { N: "1" } } });
    expect(server.requests).toHaveLength(5);
  });

  it("until an outage has used up the retries, of which each success restores one", async () => {
    const client = await newClient({ maxAttempts: 2 });
    answerInTurn(answering(throttled, 400));
    await Promise.allSettled(Array.from({ length: 110 }, async () => client.send(get)));
    expect(server.requests).toHaveLength(110 + 100);
    answerInTurn(answering({}));
    for (let count = 0; count < 5; count += 1) await client.send(get);
    server.requests.length = 0;
    answerInTurn(answering(throttled, 400));
    await expect(client.send(get)).rejects.toThrow("slow down");
    expect(server.requests).toHaveLength(2);
  });
});

it("a request times out without a response, and with a response that does not end", async () => {
  for (const hang of [
    (): void => undefined,
    (_: object, response: { write(text: string): unknown }): void => void response.write("{"),
  ]) {
    server.respond(hang);
    const client = await newClient({ maxAttempts: 1, timeLimits: { requestMs: 100 } });
    await expect(client.send(get)).rejects.toMatchObject({ name: "TimeoutError", wasNeverSent: false });
  }
});

describe("a clock that is wrong", () => {
  const serverTime = Date.parse("2026-01-01T00:00:00Z");
  const rejection = answering({ __type: "x#InvalidSignatureException", message: "Signature expired" }, 400, {
    date: new Date(serverTime).toUTCString(),
  });
  const signedAt = (index: number): unknown => server.requests[index]?.headers["x-amz-date"];

  it("is corrected once by the time of AWS, also for a request that must not be applied twice", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: serverTime - 3_600_000 });
    const client = await newClient({ maxAttempts: 1 });
    answerInTurn(rejection, answering({}));
    await client.send(get);
    await client.send(get);
    expect([0, 1, 2].map(signedAt)).toEqual(["20251231T230000Z", "20260101T000000Z", "20260101T000000Z"]);
  });

  it("is not corrected when AWS rejects a signature at the right time", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: serverTime + 60_000 });
    answerInTurn(rejection);
    await expect((await newClient({ maxAttempts: 3 })).send(get)).rejects.toThrow("Signature expired");
    expect(server.requests).toHaveLength(1);
  });
});

it("each request is signed with the credentials that the environment has at its time", async () => {
  const client = await newClient();
  await client.send(get);
  vi.stubEnv("AWS_ACCESS_KEY_ID", "other");
  vi.stubEnv("AWS_SESSION_TOKEN", "session");
  await client.send(get);
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
    expect.stringContaining("Credential=key/"),
    expect.stringContaining("Credential=other/"),
  ]);
  expect(server.requests[1]?.headers["x-amz-security-token"]).toBe("session");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "");
  await expect(client.send(get)).rejects.toMatchObject({ name: "CredentialsProviderError" });
});

it("a command of the operator uses the credentials and the region that the SDK has found", async () => {
  const { useConfigurationOf } = await import("../../infra/operator/sdk-configuration.ts");
  const { CloudFormationClient } = await import("@aws-sdk/client-cloudformation");
  const credentials = { accessKeyId: "profile", secretAccessKey: "secret" };
  await useConfigurationOf(new CloudFormationClient({ region: "eu-north-1", credentials }));
  await (await newClient()).send(get);
  expect(server.requests[0]?.headers.authorization).toMatch(
    /Credential=profile\/\d+\/eu-north-1\/dynamodb\//,
  );
});

describe("the trace of a call", () => {
  const traceOf = async (): Promise<unknown> => {
    await (await newClient()).send(get);
    return server.requests.at(-1)?.headers["x-amzn-trace-id"];
  };

  it("is sent with the requests of a function, from the runtime or else from the environment", async () => {
    expect(await traceOf()).toBeUndefined();
    vi.stubEnv("AWS_LAMBDA_FUNCTION_NAME", "SendSms");
    vi.stubEnv("_X_AMZN_TRACE_ID", "Root=1;Lineage=a:1");
    expect(await traceOf()).toBe("Root=1;Lineage=a:1");
    vi.stubGlobal("awslambda", { InvokeStore: { getXRayTraceId: () => "Root=2" } });
    expect(await traceOf()).toBe("Root=2");
  });

  it("is not sent with the requests of a program outside Lambda", async () => {
    vi.stubEnv("_X_AMZN_TRACE_ID", "Root=1");
    expect(await traceOf()).toBeUndefined();
  });
});

it("a request names its client", async () => {
  await (await newClient()).send(get);
  expect(server.requests[0]?.headers["user-agent"]).toMatch(/^sms-gateway lang\/js md\/nodejs#\d+/);
});

it("requests go over one connection, one after another", async () => {
  const ports = new Set<unknown>();
  server.respond((request, response) => {
    ports.add(response.socket?.remotePort);
    answering({})(request, response);
  });
  const client = await newClient();
  for (let count = 0; count < 3; count += 1) await client.send(get);
  expect(ports.size).toBe(1);
});

describe("a message that SQS has garbled is an error", () => {
  const md5 = "5d41402abc4b2a76b9719d911017c592";
  const QueueUrl = (): string => `${server.url}/1/queue`;
  const send = async (command: SendMessageBatchCommand | SendMessageCommand): Promise<object> => {
    const { Sqs } = await import("../../shared/platform/aws/sqs.ts");
    return new Sqs().send<object>(command);
  };

  it.each([
    [
      "alone",
      () => new SendMessageCommand({ QueueUrl: QueueUrl(), MessageBody: "hello" }),
      (digest: string) => ({ MD5OfMessageBody: digest }),
    ],
    [
      "with others",
      () =>
        new SendMessageBatchCommand({ QueueUrl: QueueUrl(), Entries: [{ Id: "a", MessageBody: "hello" }] }),
      (digest: string) => ({ Successful: [{ Id: "a", MD5OfMessageBody: digest }], Failed: [] }),
    ],
  ] as const)("%s", async (_, make, answer) => {
    server.respond(answering(answer(md5)));
    await send(make());
    server.respond(answering(answer(md5.replace("5", "6"))));
    await expect(send(make())).rejects.toThrow("another MD5");
  });
});

describe("through the port of a local function", () => {
  /** Lets a client find a port. @returns what it was asked */
  function usePort(answer: LocalPort["send"]): unknown[][] {
    const asked: unknown[][] = [];
    Reflect.set(globalThis, Symbol.for("sms-gateway.aws-port"), {
      services: new Set(["dynamodb"]),
      send: async (...request: Parameters<LocalPort["send"]>) => {
        asked.push(request);
        return answer(...request);
      },
    } satisfies LocalPort);
    return asked;
  }
  afterEach(() => {
    Reflect.deleteProperty(globalThis, Symbol.for("sms-gateway.aws-port"));
  });

  it("a request is unsigned and has its trace, and all other services are called over HTTP", async () => {
    const asked = usePort(async () => ({ status: 200, body: '{"Item":{"n":{"N":"1"}}}' }));
    vi.stubEnv("AWS_ACCESS_KEY_ID", "");
    vi.stubEnv("AWS_LAMBDA_FUNCTION_NAME", "SendSms");
    vi.stubEnv("_X_AMZN_TRACE_ID", "Root=1");
    expect(await (await newClient()).send(get)).toMatchObject({ Item: { n: 1 } });
    expect(asked).toEqual([
      ["dynamodb", "GetItem", '{"TableName":"table","Key":{"pk":{"S":"A"}}}', "Root=1"],
    ]);
    vi.stubEnv("AWS_ACCESS_KEY_ID", "key");
    const { GetPublicKeyCommand, Kms } = await import("../../shared/platform/aws/kms.ts");
    await new Kms().send(new GetPublicKeyCommand({ KeyId: "k" }));
    expect(server.requests).toHaveLength(1);
  });

  it("errors have the names of AWS, and the rules of repeats hold", async () => {
    let count = 0;
    const asked = usePort(async () => {
      count += 1;
      const body = count === 1 ? throttled : { __type: "x#ConditionalCheckFailedException" };
      return { status: 400, body: JSON.stringify(body) };
    });
    const client = await newClient({ maxAttempts: 3, maxUnheardAttempts: 1 });
    await expect(client.send(get)).rejects.toMatchObject({ name: "ConditionalCheckFailedException" });
    expect(asked).toHaveLength(2);
  });

  it("a request times out without a response", async () => {
    usePort(async () => new Promise(() => undefined));
    const client = await newClient({ maxAttempts: 1, timeLimits: { requestMs: 50 } });
    await expect(client.send(get)).rejects.toMatchObject({ name: "TimeoutError" });
  });
});

it("values that are no plain ones are marshalled by the SDK's rules", async () => {
  const { DynamoDb } = await import("../../shared/platform/aws/dynamodb.ts");
  class Point {
    readonly x = 1;
    readonly y = undefined;
  }
  await new DynamoDb().send(
    new UpdateCommand({
      TableName: "table",
      Key: { pk: "A" },
      ExpressionAttributeValues: { ":p": new Point(), ":u": undefined },
    }),
  );
  expect(JSON.parse(server.requests[0]?.body ?? "").ExpressionAttributeValues).toEqual({
    ":p": { M: { x: { N: "1" } } },
  });
});
