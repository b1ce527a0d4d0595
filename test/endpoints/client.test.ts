import { beforeAll, describe, expect, inject, it } from "vitest";

import { createClient, everyRow, RequestError, type Client } from "../../shared/api/client/client.ts";
import { routes } from "../../shared/api/routes.ts";
import { Customer } from "../support/api.ts";

let customer: Customer;
let client: Client;
beforeAll(async () => {
  customer = await Customer.register({ balance: 1 });
  ({ client } = customer);
});

const body = { to: "15005550000", message: "hello", senderId: "ACME" };

/** The RequestError that a call must end in. */
async function failureOf(calling: Promise<unknown>): Promise<RequestError> {
  const error = await calling.catch((reason: unknown) => reason);
  if (error instanceof RequestError) return error;
  throw new Error("the call did not fail");
}

describe("the client", () => {
  it("has a method for every row of the route table", () => {
    expect(Object.keys(client)).toEqual(Object.keys(routes));
  });

  it("sends paths, queries and bodies, and returns the data of the envelope", async () => {
    const sent = await client.sendSms({ body });
    expect(sent.status).toBe("queued");
    expect(await client.getSms({ params: { id: sent.id } })).toMatchObject({ id: sent.id, message: "hello" });
    expect(await client.listSms({ query: { limit: 1 } })).toMatchObject({
      rows: [{ id: sent.id }],
      meta: { page: 1, limit: 1 },
    });
    expect(await client.getOpenApi()).toContain('"openapi":"3.1.0"');
  });

  it("repeats a request under one idempotency key without paying twice", async () => {
    const before = await customer.balance();
    const first = await client.sendSms({ body, idempotencyKey: "once" });
    expect(await client.sendSms({ body, idempotencyKey: "once" })).toEqual(first);
    expect(await customer.balance()).toBeCloseTo(before - first.pricing.total, 6);
  });

  it("iterates over all pages of a list", async () => {
    const keys = await Promise.all([client.createApiKey(), client.createApiKey(), client.createApiKey()]);
    const walked: string[] = [];
    for await (const { id } of everyRow(async (next) =>
      client.listApiKeys({ query: { limit: 2, ...next } }),
    )) {
      walked.push(id);
    }
    expect(new Set(walked)).toEqual(new Set(keys.map(({ id }) => id)));
  });

  it("throws every error with all details of the gateway", async () => {
    const error = await failureOf(client.sendSms({ body: { ...body, to: "nobody" } }));
    expect(error).toMatchObject({ status: 400, code: "VALIDATION_ERROR", retryAfterSeconds: undefined });
    expect(error.requestId).toMatch(/^\S{8,}$/);
    expect(error.details.map(({ path }) => path)).toEqual(["to"]);
  });

  it("recognizes a response of the front door, and how long to wait", async () => {
    const limited = createClient({
      baseUrl: inject("baseUrl"),
      fetch: async () =>
        new Response('{"message":"Too Many Requests"}', { status: 429, headers: { "Retry-After": "7" } }),
    });
    const error = await failureOf(limited.getHealth());
    expect(error).toMatchObject({ status: 429, code: undefined, requestId: undefined, retryAfterSeconds: 7 });
    const broken = createClient({
      baseUrl: inject("baseUrl"),
      fetch: async () => new Response("<html>", { status: 502 }),
    });
    expect((await failureOf(broken.getHealth())).message).toBe("the gateway responded with 502");
  });
});
