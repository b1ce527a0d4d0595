import { chmod, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { request as send, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";

import { DescribeTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { afterEach, beforeEach, expect, inject, it, vi } from "vitest";
import * as z from "zod/mini";

import { localCredentials, readConnections } from "../../infra/local/connections.ts";
import { DataServices } from "../../infra/local/data-services.ts";
import { startLocalGateway, type LocalGateway, type LocalGatewayOptions } from "../../infra/local/gateway.ts";
import { Customer, errorOf } from "../support/api.ts";
import { functionNamed } from "../support/functions.ts";
import { startHttpServer } from "../support/http-server.ts";
import { patience } from "../support/patience.ts";
import { payByCard } from "../support/payments.ts";
import { startWebhookReceiver } from "../support/webhook-receiver.ts";

let dataFolder: string;
let log: string[];
const running: { stop(): Promise<void> }[] = [];

beforeEach(async () => {
  dataFolder = await mkdtemp(path.join(tmpdir(), "sms-gateway-"));
  log = [];
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const each of running.splice(0).toReversed()) await each.stop();
  await rm(dataFolder, { recursive: true });
});

async function start(options: Partial<LocalGatewayOptions> = {}): Promise<LocalGateway> {
  const gateway = await startLocalGateway({
    ...inject("assembly"),
    port: 0,
    log: (line) => log.push(line),
    runsSchedules: false,
    ...options,
  });
  running.push(gateway);
  return gateway;
}

it("the ports of the data serve only programs that know the addresses of this run", async () => {
  const gateway = await start({ dataFolder });
  const { dynamodb, aws } = await readConnections(dataFolder);
  const statusOf = async (address: string, target: string, headers: object = {}): Promise<unknown> => {
    const authorization = `AWS4-HMAC-SHA256 Credential=local/20261123/us-east-1/${target.split(".")[0]}/aws4_request`;
    const sent = send(address, {
      method: "POST",
      headers: { authorization, "x-amz-target": target, ...headers },
    });
    const answer = Promise.withResolvers<IncomingMessage>();
    sent.on("response", answer.resolve).end(JSON.stringify({ SecretId: "x", QueueUrl: "x" }));
    const body = await text(await answer.promise);
    expect(body.includes("AccessDeniedException")).toBe((await answer.promise).statusCode === 403);
    return (await answer.promise).statusCode;
  };
  for (const [address, target] of [
    [dynamodb, "DynamoDB_20120810.DescribeTable"],
    [gateway.sqsEndpoint, "AmazonSQS.GetQueueAttributes"],
    [aws, "secretsmanager.GetSecretValue"],
  ] as const) {
    const { origin, host, pathname } = new URL(address);
    expect(await statusOf(address, target), target).toBe(400);
    const changed = pathname.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    for (const unknown of ["/", pathname.slice(0, -1), changed, "/v2/email/outbound-emails"]) {
      expect(await statusOf(`${origin}${unknown}`, target), unknown).toBe(403);
    }
    expect(await statusOf(address, target, { host: `evil.example:${host.split(":")[1]}` })).toBe(403);
    expect(await statusOf(address, target, { origin: "http://evil.example" })).toBe(403);
  }
  await gateway.stop();
  await (await start({ dataFolder })).stop();
  expect((await readConnections(dataFolder)).dynamodb).not.toContain(new URL(dynamodb).pathname);
});

it.skipIf(process.platform === "win32")("only the user of the gateway may read its data", async () => {
  const folder = path.join(dataFolder, "made");
  const modesOf = async (): Promise<Map<string, string>> => {
    const names = ["", ...(await readdir(folder, { recursive: true }))].filter(
      (name) => name !== ".gitignore",
    );
    const modes = names.map(
      async (name) => [name, ((await stat(path.join(folder, name))).mode & 0o777).toString(8)] as const,
    );
    return new Map(await Promise.all(modes));
  };
  const gateway = await start({ dataFolder: folder });
  await payByCard(await Customer.register({ baseUrl: gateway.url }), 20);
  const modes = await modesOf();
  expect([...modes.keys()]).toEqual(
    expect.arrayContaining(["aws.sqlite-wal", "aws.sqlite-shm", "connections.json", "stripe.json"]),
  );
  expect([...modes.keys()].join(" ")).toContain(".pdf");
  for (const [name, mode] of modes) expect([name, mode]).toEqual([name, /\./.test(name) ? "600" : "700"]);

  await gateway.stop();
  // An earlier release has made the files for everyone.
  for (const name of await readdir(folder))
    if (name !== "documents") await chmod(path.join(folder, name), 0o644);
  await chmod(path.join(folder, "documents"), 0o755);
  await start({ dataFolder: folder });
  for (const [name, mode] of await modesOf())
    expect([name, mode]).toEqual([name, /\./.test(name) ? "600" : "700"]);
});

it("a restart keeps accounts, keys, tokens, money and messages", async () => {
  const before = await start({ dataFolder });
  const customer = await Customer.register({ balance: 5, baseUrl: before.url });
  const { secret } = await customer.createApiKey();
  const { id } = await customer.send();
  await before.stop();

  const after = await start({ dataFolder });
  expect(after.url).not.toBe(before.url);
  const returned = customer.at(after.url);
  expect(await returned.balance()).toBe(4.9921);
  expect((await returned.call("/v1/auth/me", { credential: secret })).status).toBe(200);
  await vi.waitFor(async () => expect((await returned.message(id)).status).toBe("sent"), patience);
});

it("a table that an older release made gets the index that it lacks", async () => {
  const { name: TableName, KeySchema, ...others } = (await start()).stack.table;
  const older = await DataServices.start(dataFolder);
  const isKey = (name: string): boolean => KeySchema.some(({ AttributeName }) => AttributeName === name);
  const AttributeDefinitions = others.AttributeDefinitions.filter((each) => isKey(each.AttributeName));
  const definition = { TableName, KeySchema, AttributeDefinitions, BillingMode: "PAY_PER_REQUEST" };
  await older.request("dynamodb", "CreateTable", definition);
  await older.stop();

  const after = await start({ dataFolder });
  const { Table } = await new DynamoDBClient({ endpoint: after.dynamodbEndpoint }).send(
    new DescribeTableCommand({ TableName }),
  );
  expect(Table?.GlobalSecondaryIndexes).toMatchObject([{ IndexName: "agenda" }]);
});

it("a message that waits on a queue when the gateway stops is sent after it starts again", async () => {
  const before = await start({ dataFolder });
  const customer = await Customer.register({ balance: 5, baseUrl: before.url });
  // The first call starts the function's thread. The time must not be over when the next one is looked at.
  await customer.send();
  const scheduledAt = new Date(Date.now() + 10_000).toISOString();
  const { id } = await customer.send({ scheduledAt });
  await before.stop();

  const after = await start({ dataFolder });
  const returned = customer.at(after.url);
  await vi.waitFor(async () => expect((await returned.message(id)).status).toBe("sent"), patience);
  const { sentAt = "" } = await returned.message(id);
  expect(Date.parse(sentAt)).toBeGreaterThanOrEqual(Date.parse(scheduledAt));
});

it("git and the project's checks ignore a folder that was created for data, and no other", async () => {
  const made = path.join(dataFolder, "made");
  await start({ dataFolder: made });
  await start({ dataFolder });
  expect(await readFile(path.join(made, ".gitignore"), "utf8")).toBe("*\n");
  expect(await readdir(dataFolder)).not.toContain(".gitignore");
});

it("without a data folder no data is kept", async () => {
  const first = await start();
  const customer = await Customer.register({ baseUrl: first.url });
  const second = await start();
  expect(errorOf(await customer.at(second.url).call("/v1/wallet"))).toEqual({
    status: 401,
    code: "UNAUTHORIZED",
  });
});

it("a request that a function's role does not allow is rejected as in AWS", async () => {
  const gateway = await start({
    usesPorts: false,
    interceptor: async (request, next) =>
      next(
        request.operation === "dynamodb:Query"
          ? {
              ...request,
              functionName:
                gateway.stack.functions.find(({ name }) => name.startsWith("ApiSendSms"))?.name ?? "",
            }
          : request,
      ),
  });
  const customer = await Customer.register({ baseUrl: gateway.url });
  expect(errorOf(await customer.call("/v1/auth/api-keys"))).toEqual({ status: 500, code: "INTERNAL" });
  // The function makes two queries at the same time.
  expect(log.join("\n")).toMatch(
    /not authorized to perform dynamodb:Query on (ORG|KEY_USES)#\*\. Permissions: sendSms in infra\/stack\/permissions\.txt/,
  );
});

it("a DynamoDB that keeps a database for each access key has all data under one", async () => {
  const embedded = await DataServices.start();
  running.push(embedded);
  const accessKeys = new Set<string>();
  const dynamodb = await startHttpServer(async ({ headers, body }, response) => {
    const header = (name: string): string => String(headers[name]);
    accessKeys.add(/Credential=([^/]+)/.exec(header("authorization"))?.[1] ?? "none");
    const passed = ["authorization", "content-type", "x-amz-date", "x-amz-target"];
    const answer = await fetch(embedded.dynamodbEndpoint, {
      method: "POST",
      headers: passed.map((name): [string, string] => [name, header(name)]),
      body,
    });
    response.writeHead(answer.status).end(await answer.text());
  });
  running.push(dynamodb);
  vi.stubEnv("DYNAMODB_ENDPOINT", dynamodb.url);
  const gateway = await start();
  const customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
  const { id } = await customer.send();
  await vi.waitFor(async () => expect((await customer.message(id)).status).toBe("sent"), patience);
  expect(accessKeys).toEqual(new Set([localCredentials.accessKeyId]));
});

it("a function that is ended starts again with the next call", async () => {
  const gateway = await start();
  const customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
  await functionNamed(gateway, "GetWallet").kill();
  expect(await customer.balance()).toBe(1);
});

it("a call that is under way when its function ends gets API Gateway's 500", async () => {
  const gateway = await start({
    interceptor: async (request, next) => {
      if (request.operation === "dynamodb:GetItem" && request.functionName.includes("GetMe")) {
        await functionNamed(gateway, "GetMe").kill();
      }
      return next(request);
    },
  });
  const customer = await Customer.register({ baseUrl: gateway.url });
  expect(await customer.call("/v1/auth/me")).toMatchObject({
    status: 500,
    body: { message: "Internal Server Error" },
  });
});

it("log lines carry no secret, no password, no number and no message text", async () => {
  const gateway = await start({ runsSchedules: true });
  const customer = await Customer.register({ balance: 5, baseUrl: gateway.url });
  const hook = await startWebhookReceiver();
  const webhook = await customer.call("/v1/webhooks", { json: { url: hook.url } });
  const { secret } = await customer.createApiKey();
  await customer.call("/v1/sms/send", {
    credential: secret,
    json: { to: "447700900123", message: "top secret text", senderId: "ACME" },
  });
  await customer.call("/v1/sms/send", { json: { to: "447700900124", message: "more secret text" } });
  await customer.call("/v1/sms/send", { raw: '{"message":"secret text' });
  await customer.call("/v1/auth/login", { json: { email: customer.email, password: "wrong secret" } });
  await hook.waitForCalls(1);
  for (const event of ["webhook.called", "due_jobs.released"]) {
    await vi.waitFor(() => expect(log.join("\n")).toContain(`"${event}"`), patience);
  }
  await hook.stop();

  const written = log.join("\n");
  expect(log.filter((line) => line.includes('"event":"request"')).length).toBeGreaterThanOrEqual(8);
  // Each is JSON: a log line, or counts in CloudWatch's metric format.
  for (const line of log) {
    expect(Object.keys(z.record(z.string(), z.unknown()).parse(JSON.parse(line)))[0]).toMatch(
      /^(level|_aws)$/,
    );
  }
  const signingSecret = /whsec_[^"]+/.exec(webhook.text)?.[0] ?? "there is none";
  for (const secretText of [
    secret,
    customer.token,
    signingSecret,
    "secret text",
    "wrong secret",
    "correct horse",
    "447700900123",
    "447700900124",
    customer.email,
  ]) {
    expect(written).not.toContain(secretText);
  }
});

it("a body beyond 10 MB is rejected before any function sees it", async () => {
  const gateway = await start();
  const customer = await Customer.register({ baseUrl: gateway.url });
  const response = await customer.call("/v1/sms/send", { raw: `"${"x".repeat(10 * 1024 * 1024)}"` });
  expect(response).toMatchObject({ status: 413, body: { message: "Request Entity Too Large" } });
});
