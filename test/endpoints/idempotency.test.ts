import { describe, expect, it } from "vitest";
import * as z from "zod/mini";

import { AcceptedMessage } from "../../shared/api/contract/sms.ts";
import { routes } from "../../shared/api/routes.ts";
import type { Route } from "../../shared/api/routes/route.ts";
import { Customer, dataOf, errorOf, invalidFields, type ApiResponse } from "../support/api.ts";
import { ping, receiversOfFile, registerWebhook, waitForStates } from "../support/webhook-calls.ts";

const message = { to: "15005550000", message: "hello", senderId: "ACME" };

const receiver = receiversOfFile();

async function send(customer: Customer, key: string, json: object = message): Promise<ApiResponse> {
  return customer.call("/v1/sms/send", { json, headers: { "Idempotency-Key": key } });
}

describe("a send with an Idempotency-Key", () => {
  it("gets the first response again, marked as a repetition, and is paid for once", async () => {
    const customer = await Customer.register({ balance: 1 });
    const first = await send(customer, "order-1");
    const second = await send(customer, "order-1");
    expect([first.status, second.status]).toEqual([202, 202]);
    expect(second.body).toEqual(first.body);
    expect(first.headers.get("idempotent-replayed")).toBeNull();
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(await customer.balance()).toBe(0.9921);
    expect(await customer.ledger()).toHaveLength(2);
  });

  it("is debited once though 50 arrive at the same time, and then another body is rejected", async () => {
    const customer = await Customer.register({ balance: 1 });
    const responses = await Promise.all(Array.from({ length: 50 }, async () => send(customer, "race")));
    const accepted = responses.filter(({ status }) => status === 202);
    const rejected = responses.filter(({ status }) => status === 409).map(errorOf);
    expect(accepted.length).toBeGreaterThanOrEqual(1);
    expect(accepted.length + rejected.length).toBe(50);
    expect(new Set(accepted.map((response) => dataOf(response, AcceptedMessage).id)).size).toBe(1);
    for (const { code } of rejected) expect(code).toBe("IDEMPOTENCY_IN_PROGRESS");
    expect(await customer.balance()).toBe(0.9921);

    const other = await send(customer, "race", { ...message, message: "something else" });
    expect(errorOf(other)).toEqual({ status: 422, code: "IDEMPOTENCY_KEY_REUSED" });
    expect(await customer.balance()).toBe(0.9921);
  });

  it("treats the same fields in another order, and explicit defaults, as the same request", async () => {
    const customer = await Customer.register({ balance: 1 });
    const first = await send(customer, "order");
    const again = await send(customer, "order", {
      language: "English",
      message: "hello",
      senderId: "ACME",
      to: "15005550000",
    });
    expect(again.body).toEqual(first.body);
  });

  it("can be sent again with the same key after it failed", async () => {
    const customer = await Customer.register();
    expect(errorOf(await send(customer, "retry"))).toEqual({ status: 402, code: "INSUFFICIENT_BALANCE" });
    await customer.topUp(1);
    const response = await send(customer, "retry");
    expect(response.status).toBe(202);
    expect(response.headers.get("idempotent-replayed")).toBeNull();
  });

  it("is independent of the keys of another organization, and of those of another operation", async () => {
    const [one, other] = await Promise.all([
      Customer.register({ balance: 1 }),
      Customer.register({ balance: 1 }),
    ]);
    const ids = [await send(one, "shared"), await send(other, "shared")].map(
      (response) => dataOf(response, AcceptedMessage).id,
    );
    expect(ids[0]).not.toBe(ids[1]);
    const topUp = await one.call("/v1/wallet/top-up", { json: {}, headers: { "Idempotency-Key": "shared" } });
    expect(errorOf(topUp)).toEqual({ status: 422, code: "IDEMPOTENCY_KEY_REUSED" });
  });

  it("belongs to the organization, whichever of its credentials sends it", async () => {
    const customer = await Customer.register({ balance: 1 });
    const first = await send(customer, "shared");
    const byKey = await send(await customer.withApiKey(), "shared");
    expect(byKey.headers.get("idempotent-replayed")).toBe("true");
    expect(byKey.body).toEqual(first.body);
    expect(await customer.balance()).toBe(0.9921);
  });

  it.each([
    ["an empty key", ""],
    ["256 characters", "x".repeat(256)],
    ["a space", "a b"],
  ])("rejects %s", async (_name, key) => {
    const customer = await Customer.register({ balance: 1 });
    const response = await send(customer, key);
    expect(errorOf(response)).toEqual({ status: 400, code: "VALIDATION_ERROR" });
    expect(invalidFields(response)).toEqual(["Idempotency-Key"]);
  });

  it("accepts a key of 255 characters", async () => {
    const customer = await Customer.register({ balance: 1 });
    expect((await send(customer, "x".repeat(255))).status).toBe(202);
  });
});

describe("a top-up with an Idempotency-Key", () => {
  it("adds its money once, also when twenty arrive at the same time", async () => {
    const customer = await Customer.register();
    const topUp = async (amount: number): Promise<ApiResponse> =>
      customer.call("/v1/wallet/top-up", { json: { amount }, headers: { "Idempotency-Key": "top-up" } });
    const responses = await Promise.all(Array.from({ length: 20 }, async () => topUp(3)));
    expect(new Set(responses.map(({ status }) => status)).isSubsetOf(new Set([200, 409]))).toBe(true);
    expect(await topUp(3)).toMatchObject({ status: 200, body: { data: { balance: 3 } } });
    expect(errorOf(await topUp(4))).toEqual({ status: 422, code: "IDEMPOTENCY_KEY_REUSED" });
    expect(await customer.balance()).toBe(3);
  });
});

/** Operations whose repeats other tests make: they need an account that is verified, a conversation, a template or a wait. */
const testedElsewhere = new Set([
  "inviteMember",
  "replyToConversation",
  "sendTemplate",
  "checkVerification",
  "resendVerification",
]);

/** The first example of an operation's body in its document. */
function exampleOf({ body }: Route): object {
  const examples: unknown = body && z.globalRegistry.get(body)?.["examples"];
  return Array.isArray(examples) ? Object(examples[0]) : {};
}

describe("an Idempotency-Key", () => {
  it("of an operation that creates gets the first response again, and nothing twice", async () => {
    const customer = await Customer.register({ balance: 10 });
    const hook = await receiver(() => 204);
    const webhook = await registerWebhook(customer, { url: hook.url });
    const { id: delivery } = await ping(customer, webhook);
    await waitForStates(customer, webhook, ["succeeded"]);
    const { methods } = await customer.client.getBilling();
    // A deployed stage may have no payments.
    const left = new Set([
      ...testedElsewhere,
      ...(methods.length > 0 ? [] : ["addPaymentMethod", "createPayment"]),
    ]);
    const keeping = Object.entries<Route>(routes).filter(
      ([operation, { idempotent }]) => idempotent === true && !left.has(operation),
    );
    for (const [operation, route] of keeping) {
      const path = route.path.replace("{id}", webhook.id).replace("{deliveryId}", delivery);
      const options = { json: exampleOf(route), headers: { "Idempotency-Key": operation } };
      const [first, again] = [await customer.call(path, options), await customer.call(path, options)];
      expect([first.status, again.status], operation).toEqual([route.status ?? 200, route.status ?? 200]);
      expect(again.headers.get("idempotent-replayed"), operation).toBe("true");
      expect(again.body).toEqual(first.body);
    }
  });

  it("keeps the results of a thousand wrong rows", async () => {
    const customer = await Customer.register();
    const fields = Array.from({ length: 22 }, (_, index) => [`unknown${index}`, 1]);
    const wrong = { phoneNumber: "x", ...Object.fromEntries(fields) };
    const json = { contacts: Array.from({ length: 1_000 }, () => wrong) };
    const options = { json, headers: { "Idempotency-Key": "import" } };
    const [first, again] = [
      await customer.call("/v1/contacts/import", options),
      await customer.call("/v1/contacts/import", options),
    ];
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(again.body).toEqual(first.body);
  });

  it("is rejected where the response has a secret, and has no effect where nothing is created", async () => {
    const customer = await Customer.register();
    const headers = { "Idempotency-Key": "once" };
    for (const [operation, route] of Object.entries<Route>(routes)) {
      if (route.rejectsIdempotencyKey !== true) continue;
      const rejected = await customer.call(route.path, { json: exampleOf(route), headers });
      expect(errorOf(rejected), operation).toEqual({ status: 400, code: "VALIDATION_ERROR" });
      expect(invalidFields(rejected)).toEqual(["Idempotency-Key"]);
    }
    const estimate = { to: "15005550000", message: "hello" };
    const ignored = await customer.call("/v1/sms/estimate", { json: estimate, headers });
    expect([ignored.status, ignored.headers.get("idempotency-key-ignored")]).toEqual([200, "true"]);
    const without = await customer.call("/v1/sms/estimate", { json: estimate });
    expect(without.headers.get("idempotency-key-ignored")).toBeNull();
  });
});
