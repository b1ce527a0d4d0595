import { describe, expect, it } from "vitest";

import { type ApiKey, CreatedApiKey } from "../../shared/api/contract/api-keys.ts";
import { allScopes, type Scope } from "../../shared/api/contract/scopes.ts";
import { hourMs } from "../../shared/platform/clock.ts";
import { call, Customer, dataOf, errorOf, invalidFields, statusesOf } from "../support/api.ts";

const unauthorized = { status: 401, code: "UNAUTHORIZED" };
const conflict = { status: 409, code: "CONFLICT" };

type Fields = Partial<{ scopes: Scope[]; expiresAt: string; allowedAddresses: string[] }>;

/** A key that may manage keys, also on a stage where keys do not get that scope by default. */
async function managingKey(customer: Customer): Promise<CreatedApiKey> {
  return customer.client.createApiKey({ body: { scopes: [...allScopes] } });
}

async function keysOf(customer: Customer): Promise<ApiKey[]> {
  return (await customer.client.listApiKeys({ query: { limit: 100 } })).rows;
}

async function statusOf({ secret }: CreatedApiKey): Promise<number> {
  return (await call("/v1/wallet", { credential: secret })).status;
}

describe("a deleted key", () => {
  it("is rejected, is no longer listed, and cannot be deleted again", async () => {
    const customer = await Customer.register();
    const [gone, kept] = [await customer.createApiKey(), await customer.createApiKey()];
    expect(await customer.client.deleteApiKey({ params: { id: gone.id } })).toEqual({
      id: gone.id,
      deleted: true,
      webhooks: [],
    });
    expect(errorOf(await call("/v1/wallet", { credential: gone.secret }))).toEqual(unauthorized);
    expect((await keysOf(customer)).map(({ id }) => id)).toEqual([kept.id]);
    const again = await customer.call(`/v1/auth/api-keys/${gone.id}`, { method: "DELETE" });
    expect(errorOf(again)).toEqual({ status: 404, code: "NOT_FOUND" });
  });

  it("of another organization is not found", async () => {
    const [owner, stranger] = await Promise.all([Customer.register(), Customer.register()]);
    const key = await owner.createApiKey();
    for (const [path, method] of [
      ["", "DELETE"],
      ["/rotate", "POST"],
    ] as const) {
      const response = await stranger.call(`/v1/auth/api-keys/${key.id}${path}`, { method });
      expect(errorOf(response)).toEqual({ status: 404, code: "NOT_FOUND" });
    }
    expect(await statusOf(key)).toBe(200);
  });
});

describe("rotation", () => {
  it("gives a new key with the same limits, and keeps the old one in use", async () => {
    const customer = await Customer.register();
    const limits: Fields = {
      scopes: ["send", "read"],
      expiresAt: new Date(Date.now() + hourMs).toISOString(),
      allowedAddresses: ["0.0.0.0/0", "::/0"],
    };
    const old = await customer.client.createApiKey({ body: { name: "server", ...limits } });
    const next = await customer.client.rotateApiKey({ params: { id: old.id } });
    expect(next).toMatchObject({ ...limits, name: "server", status: "active" });
    expect(next.secret).not.toBe(old.secret);
    expect([await statusOf(old), await statusOf(next)]).toEqual([200, 200]);
    expect(await keysOf(customer)).toMatchObject([
      { id: next.id },
      // It would have ended before the day of the overlap is over.
      { id: old.id, status: "active", expiresAt: limits.expiresAt },
    ]);
  });

  it("without an overlap disables the old one immediately", async () => {
    const customer = await Customer.register();
    const old = await managingKey(customer);
    const rotated = await call(`/v1/auth/api-keys/${old.id}/rotate`, {
      credential: old.secret,
      json: { overlapHours: 0 },
    });
    const next = dataOf(rotated, CreatedApiKey);
    expect([await statusOf(old), await statusOf(next)]).toEqual([401, 200]);
    expect(await keysOf(customer)).toMatchObject([{ id: next.id }, { id: old.id, status: "disabled" }]);
  });

  it("is done once, however many request it at the same time", async () => {
    const customer = await Customer.register();
    const { id } = await customer.createApiKey();
    const rotate = async () => customer.call(`/v1/auth/api-keys/${id}/rotate`, { method: "POST" });
    const rotations = await Promise.all([rotate(), rotate(), rotate()]);
    expect(statusesOf(rotations)).toEqual([201, 409, 409]);
    expect(errorOf(await rotate())).toEqual(conflict);
    expect(await keysOf(customer)).toHaveLength(2);
  });

  it("of a disabled key is rejected", async () => {
    const customer = await Customer.register();
    const { id } = await customer.createApiKey();
    await customer.client.disableApiKey({ params: { id } });
    const response = await customer.call(`/v1/auth/api-keys/${id}/rotate`, { method: "POST" });
    expect(errorOf(response)).toEqual(conflict);
  });

  it.each([-1, 169, 1.5])("has no overlap of %s hours", async (overlapHours) => {
    const customer = await Customer.register();
    const { id } = await customer.createApiKey();
    const response = await customer.call(`/v1/auth/api-keys/${id}/rotate`, { json: { overlapHours } });
    expect(invalidFields(response)).toEqual(["overlapHours"]);
  });
});
