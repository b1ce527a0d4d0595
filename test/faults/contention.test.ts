import { beforeEach, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import type { AwsRequest } from "../../infra/local/local-aws.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { call, Customer, errorOf, password, type ApiResponse } from "../support/api.ts";
import { collision, conflict, dropAnswer, isBy, throttle } from "../support/faults.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

/*
 * The response to a customer whose write repeatedly collides with other writes is that the service is unavailable,
 * never that the request is invalid.
 */

const { gateway, faults, log } = await gatewayOfFile();
let customer: Customer;

beforeEach(async () => {
  customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
});

const unavailable = { status: 503, code: "UNAVAILABLE" };

/** The operations that write in a transaction, each with a request that would succeed. */
const transactions: Record<string, () => Promise<ApiResponse>> = {
  Register: async () =>
    call("/v1/auth/register", {
      baseUrl: gateway.url,
      json: { email: `${crypto.randomUUID()}@example.com`, password },
    }),
  CreateApiKey: async () => customer.call("/v1/auth/api-keys", { method: "POST" }),
  DisableApiKey: async () => {
    const { id } = await customer.createApiKey();
    return customer.call(`/v1/auth/api-keys/${id}/disable`, { method: "POST" });
  },
  CreateWebhook: async () => customer.call("/v1/webhooks", { json: { url: "http://127.0.0.1:9/hook" } }),
  DeleteWebhook: async () => {
    const { id } = await customer.client.createWebhook({ body: { url: "http://127.0.0.1:9/hook" } });
    return customer.call(`/v1/webhooks/${id}`, { method: "DELETE" });
  },
  CreateContact: async () => customer.call("/v1/contacts", { json: { phoneNumber: "15005550000" } }),
  CreateTemplate: async () => customer.call("/v1/templates", { json: { name: "a", body: "b" } }),
  SubmitKyc: async () => customer.call("/v1/kyc", { json: { businessName: "Acme" } }),
  CreateSenderId: async () => customer.call("/v1/sender-ids", { json: { senderId: "ACME" } }),
};

it.each(Object.entries(transactions))(
  "%s that only collides with other transactions returns UNAVAILABLE",
  async (name, request) => {
    faults.next(isBy(name, "dynamodb:TransactWriteItems"), collision, 6);
    expect(errorOf(await request())).toEqual(unavailable);
    faults.clear();
    expect((await request()).status).toBeLessThan(300);
  },
);

/** The write that stores the Idempotency-Key, as opposed to those of the audit log. */
const isPut = (request: AwsRequest): boolean =>
  isBy("TopUpWallet", "dynamodb:PutItem")(request) && request.body.includes("IDEMPOTENCY#");
const topUp = async (): Promise<ApiResponse> =>
  customer.call("/v1/wallet/top-up", { json: { amount: 1 }, headers: { "Idempotency-Key": "one" } });

it.each([
  ["meets a running transaction", conflict],
  ["is throttled", throttle],
])("a plain write that %s is retried, and then returns UNAVAILABLE", async (_name, fault) => {
  faults.next(isPut, fault, 4);
  expect((await topUp()).status).toBe(200);
  expect(faults.seen.filter(isPut)).toHaveLength(5);
  faults.clear();
  faults.next(isPut, fault, 8);
  expect(errorOf(await topUp())).toEqual(unavailable);
});

it.each([
  ["GetWallet", "dynamodb:GetItem", "/v1/wallet"],
  ["ListSms", "dynamodb:Query", "/v1/sms"],
])("a throttled read by %s is retried, and then returns UNAVAILABLE", async (name, action, path) => {
  // The concurrent reads identify the caller.
  const isRead = (request: AwsRequest): boolean =>
    isBy(name, action)(request) && !/"(ORG|USER)#/.test(request.body);
  faults.next(isRead, throttle, 4);
  expect((await customer.call(path)).status).toBe(200);
  faults.next(isRead, throttle, 8);
  expect(errorOf(await customer.call(path))).toEqual(unavailable);
});

it("a wallet lock that cannot be released does not hide the outcome of its posting", async () => {
  faults.next(isBy("TopUpWallet", "dynamodb:TransactWriteItems"), collision, 2);
  const endsTurn = ({ body }: AwsRequest): boolean => body.includes("REMOVE #leaseToken");
  const isEnd = (request: AwsRequest): boolean =>
    isBy("TopUpWallet", "dynamodb:UpdateItem")(request) && endsTurn(request);
  faults.next(isEnd, throttle, 8);
  expect((await topUp()).status).toBe(200);
  expect(faults.seen.filter(isEnd)).toHaveLength(8);
  expect((await customer.client.getWallet()).balance).toBe(2);
});

it("a plain write whose responses are lost is sent at most three times", async () => {
  faults.next(isPut, dropAnswer, 2);
  expect((await topUp()).status).toBe(200);
  expect(faults.seen.filter(isPut)).toHaveLength(3);
});

it("a count in a throttled partition is tried once, so that no request waits for it", async () => {
  const isCount = ({ body }: AwsRequest): boolean => body.includes("STATS#");
  faults.next(isCount, throttle, 8);
  await customer.send();
  const isCountOfSender = (request: AwsRequest): boolean => isBy("SendMessage")(request) && isCount(request);
  await vi.waitFor(() => expect(faults.seen.filter(isCountOfSender)).toHaveLength(1), patience);
  // Accepted messages are counted by the debit that pays for them.
  expect(faults.seen.filter((request) => isBy("SendSms")(request) && isCount(request))).toEqual([]);
});

it("the log names the keys of a throttled request and DynamoDB's reason, and the calls of each request", async () => {
  // The instance has been quiet about throttles for long enough.
  gateway.advanceClock(minuteMs);
  faults.next(isPut, throttle, 4);
  expect((await topUp()).status).toBe(200);
  const lines = log.map((line) => Logged.parse(JSON.parse(line)));
  // A function of the test before may still write a line.
  const throttledKeys = [`IDEMPOTENCY#${customer.organizationId}`];
  const ofCustomer = lines.filter((line) => line.throttledKeys?.join() === throttledKeys.join());
  expect(ofCustomer).toMatchObject([
    { event: "table.throttled", throttlingReasons: ["TableWriteKeyRangeThroughputExceeded"] },
  ]);
  const request = lines.find(({ event, route }) => event === "request" && route === "POST /v1/wallet/top-up");
  expect(request?.awsCalls).toBeGreaterThan(3);
  expect(request?.awsMs).toBeGreaterThan(0);

  // Its carrier rejects it, which the sender logs.
  const { id } = await customer.send({ to: "15005550002" });
  await vi.waitFor(() => {
    const sends = log.map((line) => Logged.parse(JSON.parse(line)));
    const sent = sends.filter(({ route }) => route === "POST /v1/sms/send");
    const accepted = sent.find(({ messageIds }) => messageIds?.join() === id);
    const failed = sends.find(({ messageId }) => messageId === id);
    expect(accepted?.requestId).toEqual(expect.any(String));
    expect(failed).toMatchObject({ event: "message.failed", requestId: accepted?.requestId });
  }, patience);
});

const Logged = z.looseObject({
  event: z.optional(z.string()),
  route: z.optional(z.string()),
  requestId: z.optional(z.string()),
  messageId: z.optional(z.string()),
  awsCalls: z.optional(z.int()),
  awsMs: z.optional(z.int()),
  messageIds: z.optional(z.array(z.string())),
  throttledKeys: z.optional(z.array(z.string())),
});
