import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";

import type { LocalGateway } from "../../infra/local/gateway.ts";
import type { AwsRequest } from "../../infra/local/local-aws.ts";
import { call, Customer, errorOf, password, type ApiResponse } from "../support/api.ts";
import { collision, conflict, dropAnswer, Faults, isBy, throttle } from "../support/faults.ts";
import { startOwnGateway } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

/*
 * What a customer is told when a write meets other writes again and again: that it could not be done now, and never
 * that something is wrong with the request.
 */

const faults = new Faults();
let gateway: LocalGateway;
let customer: Customer;

beforeAll(async () => {
  gateway = await startOwnGateway(faults);
});
afterAll(async () => gateway.stop());
beforeEach(async () => {
  customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
});
afterEach(() => faults.clear());

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
  "%s that only meets other transactions is told to come again",
  async (name, request) => {
    faults.next(isBy(name, "dynamodb:TransactWriteItems"), collision, 6);
    expect(errorOf(await request())).toEqual(unavailable);
    faults.clear();
    expect((await request()).status).toBeLessThan(300);
  },
);

/** The one that takes the Idempotency-Key, beside those of the audit log. */
const isPut = (request: AwsRequest): boolean =>
  isBy("TopUpWallet", "dynamodb:PutItem")(request) && request.body.includes("IDEMPOTENCY#");
const topUp = async (): Promise<ApiResponse> =>
  customer.call("/v1/wallet/top-up", { json: { amount: 1 }, headers: { "Idempotency-Key": "one" } });

it.each([
  ["meets a running transaction", conflict],
  ["is throttled", throttle],
])(
  "a plain write that %s is tried again, and is no error of ours when that does not help",
  async (_name, fault) => {
    faults.next(isPut, fault, 4);
    expect((await topUp()).status).toBe(200);
    expect(faults.seen.filter(isPut)).toHaveLength(5);
    faults.clear();
    faults.next(isPut, fault, 8);
    expect(errorOf(await topUp())).toEqual(unavailable);
  },
);

it.each([
  ["GetWallet", "dynamodb:GetItem", "/v1/wallet"],
  ["ListSms", "dynamodb:Query", "/v1/sms"],
])(
  "a read by %s that is throttled is tried again, and is no error of ours either",
  async (name, action, path) => {
    // Others read side by side who calls.
    const isRead = (request: AwsRequest): boolean =>
      isBy(name, action)(request) && !/"(ORG|USER)#/.test(request.body);
    faults.next(isRead, throttle, 4);
    expect((await customer.call(path)).status).toBe(200);
    faults.next(isRead, throttle, 8);
    expect(errorOf(await customer.call(path))).toEqual(unavailable);
  },
);

it("a turn at the wallet that cannot be ended hides nothing of what became of its posting", async () => {
  faults.next(isBy("TopUpWallet", "dynamodb:TransactWriteItems"), collision, 2);
  const endsTurn = ({ body }: AwsRequest): boolean => body.includes("REMOVE #leaseToken");
  const isEnd = (request: AwsRequest): boolean =>
    isBy("TopUpWallet", "dynamodb:UpdateItem")(request) && endsTurn(request);
  faults.next(isEnd, throttle, 8);
  expect((await topUp()).status).toBe(200);
  expect(faults.seen.filter(isEnd)).toHaveLength(8);
  expect((await customer.client.getWallet()).balance).toBe(2);
});

it("a plain write whose answer is lost is sent three times at the most", async () => {
  faults.next(isPut, dropAnswer, 2);
  expect((await topUp()).status).toBe(200);
  expect(faults.seen.filter(isPut)).toHaveLength(3);
});

it("a count whose partition is throttled is tried once, for nobody is to wait for it", async () => {
  const isCount = ({ body }: AwsRequest): boolean => body.includes("STATS#");
  faults.next(isCount, throttle, 8);
  await customer.send();
  const isCountOfSender = (request: AwsRequest): boolean => isBy("SendMessage")(request) && isCount(request);
  await vi.waitFor(() => expect(faults.seen.filter(isCountOfSender)).toHaveLength(1), patience);
  // Accepted messages are counted by the debit that pays for them.
  expect(faults.seen.filter((request) => isBy("SendSms")(request) && isCount(request))).toEqual([]);
});
