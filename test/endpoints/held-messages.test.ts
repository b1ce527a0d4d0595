import { beforeAll, describe, expect, it } from "vitest";
import * as z from "zod/mini";

import { HeldMessage } from "../../shared/api/contract/held-messages.ts";
import { AcceptedMessage } from "../../shared/api/contract/sms.ts";
import { call, Customer, dataOf, errorOf, type ApiResponse } from "../support/api.ts";
import { Agent } from "../support/mcp.ts";

/** The price of a message with one segment. */
const price = 0.0079;
const long = "x".repeat(200);

let customer: Customer;
let secret: string;
let apiKeyId: string;
beforeAll(async () => {
  customer = await Customer.register({ balance: 1 });
  ({ secret, id: apiKeyId } = await customer.client.createApiKey({ body: { limits: { holdAbove: price } } }));
});

async function send(fields: Record<string, unknown> = {}, idempotencyKey?: string): Promise<ApiResponse> {
  return call("/v1/sms/send", {
    credential: secret,
    json: { to: "15005550000", message: long, senderId: "ACME", ...fields },
    ...(idempotencyKey === undefined ? {} : { headers: { "Idempotency-Key": idempotencyKey } }),
  });
}

async function hold(fields: Record<string, unknown> = {}): Promise<string> {
  return dataOf(await send(fields), AcceptedMessage).id;
}

async function decide(id: string, approve: boolean, credential = customer.token): Promise<ApiResponse> {
  return call(`/v1/held-messages/${id}/decision`, { credential, json: { approve } });
}

describe("a message above the limit of its key", () => {
  it("is held without a charge, and cheaper ones are sent", async () => {
    const before = (await customer.client.getWallet()).balance;
    const held = await send();
    expect(held.status).toBe(202);
    const { id, pricing } = dataOf(held, AcceptedMessage);
    expect(held.body).toMatchObject({ data: { id: expect.stringMatching(/^hld_/), status: "held" } });
    expect(pricing).toMatchObject({ segments: 2, total: 2 * price });
    expect((await customer.client.getWallet()).balance).toBe(before);
    const fields = { status: "held", message: long, senderId: "ACME", apiKeyId, pricing };
    expect(await customer.client.getHeldMessage({ params: { id } })).toMatchObject(fields);
    expect(dataOf(await send({ message: "short" }), AcceptedMessage).status).toBe("queued");
  });

  it("is held once for each Idempotency-Key", async () => {
    const held = await send({}, "order-1");
    const repeated = await send({}, "order-1");
    expect(repeated.body).toEqual(held.body);
    expect(repeated.headers.get("idempotent-replayed")).toBe("true");
  });

  it("is checked as others are", async () => {
    await customer.client.createOptOut({ body: { phoneNumber: "15005550019" } });
    const toOptedOut = await send({ to: "15005550019", messageType: "marketing" });
    expect(errorOf(toOptedOut)).toEqual({ status: 403, code: "RECIPIENT_OPTED_OUT" });
  });

  it("is charged and sent when a person approves it, once", async () => {
    const own = await Customer.register({ balance: 1 });
    const key = await own.client.createApiKey({ body: { limits: { holdAbove: 0, dailyBudget: 0.01 } } });
    const sent = await call("/v1/sms/send", {
      credential: key.secret,
      json: { to: "15005550000", message: long, senderId: "ACME" },
    });
    const { id } = dataOf(sent, AcceptedMessage);
    const answers = await Promise.all([1, 2, 3].map(async () => decide(id, true, own.token)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
    const approved = answers.find(({ status }) => status === 200);
    const { messageId = "", ...decided } = dataOf(approved ?? sent, HeldMessage);
    expect(decided).toMatchObject({ status: "approved", decidedBy: expect.stringMatching(/^usr_/) });
    const paid = { balance: 1 - 2 * price, spentToday: 2 * price };
    expect(await own.client.getWallet()).toMatchObject(paid);
    expect((await own.client.listSms()).rows.map((row) => row.id)).toEqual([messageId]);
    expect(errorOf(await decide(id, true, own.token))).toEqual({ status: 409, code: "CONFLICT" });
    expect(errorOf(await decide(id, false, own.token))).toEqual({ status: 409, code: "CONFLICT" });
    const { rows } = await own.client.listHeldMessages({ query: { status: "approved" } });
    expect(rows.map((row) => row.messageId)).toEqual([messageId]);
  });

  it("stays held when its approval fails", async () => {
    const poor = await Customer.register();
    const key = await poor.client.createApiKey({ body: { limits: { holdAbove: 0 } } });
    const json = { to: "15005550000", message: "hello", senderId: "ACME" };
    const { id } = dataOf(await call("/v1/sms/send", { credential: key.secret, json }), AcceptedMessage);
    const failed = await decide(id, true, poor.token);
    expect(errorOf(failed)).toEqual({ status: 402, code: "INSUFFICIENT_BALANCE" });
    expect((await poor.client.getHeldMessage({ params: { id } })).status).toBe("held");
    await poor.topUp(1);
    expect((await decide(id, true, poor.token)).status).toBe(200);
  });

  it("is never sent when a person rejects it", async () => {
    const id = await hold({ to: "15005550016" });
    expect((await decide(id, false)).body).toMatchObject({ data: { status: "rejected" } });
    expect(errorOf(await decide(id, true))).toEqual({ status: 409, code: "CONFLICT" });
    expect((await customer.client.listSms({ query: { to: "15005550016" } })).rows).toEqual([]);
  });

  it("is sent immediately if its schedule has passed, and on schedule otherwise", async () => {
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
    const id = await hold({ scheduledAt, to: "15005550017" });
    expect((await decide(id, true)).status).toBe(200);
    const { rows } = await customer.client.listSms({ query: { to: "15005550017" } });
    expect(rows).toMatchObject([{ status: "queued", scheduledAt }]);
  });

  it("cannot be decided about by an API key, a viewer, or another organization", async () => {
    const id = await hold();
    const rejected = { status: 403, code: "INSUFFICIENT_SCOPE" };
    expect(errorOf(await decide(id, true, secret))).toEqual(rejected);
    const { secret: unlimited } = await customer.createApiKey();
    expect(errorOf(await decide(id, true, unlimited))).toEqual(rejected);
    const other = await Customer.register({ balance: 1 });
    expect(errorOf(await decide(id, true, other.token))).toEqual({ status: 404, code: "NOT_FOUND" });
  });
});

it("an agent reads over MCP that its message is held, and cannot approve it", async () => {
  const agent = await Agent.connect(secret, "all");
  const { body } = await agent.call("sendSms", { to: "15005550000", message: long, senderId: "ACME" });
  const { data } = z.object({ data: AcceptedMessage }).parse(body);
  expect(data.status).toBe("held");
  const { error } = await agent.call("decideHeldMessage", { id: data.id, approve: true });
  expect(error).toContain("INSUFFICIENT_SCOPE: Only a person who is logged in");
  const read = await agent.call("getHeldMessage", { id: data.id });
  expect(read.body).toMatchObject({ data: { status: "held" } });
});
