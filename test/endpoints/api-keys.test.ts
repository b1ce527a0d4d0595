import { describe, expect, it, vi } from "vitest";

import { type ApiKey, CreatedApiKey } from "../../shared/api/contract/api-keys.ts";
import { allScopes, type Scope } from "../../shared/api/contract/scopes.ts";
import { hourMs } from "../../shared/platform/clock.ts";
import { call, Customer, dataOf, errorOf, invalidFields, statusesOf } from "../support/api.ts";

const insufficientScope = { status: 403, code: "INSUFFICIENT_SCOPE" };
/** A busy machine is slow. */
const patience = { timeout: 30_000, interval: 100 };
const everything: Scope[] = [...allScopes];

type Fields = Partial<{ scopes: Scope[]; expiresAt: string; allowedAddresses: string[] }>;

/** A key that may manage keys, also on a stage where keys do not get that scope by default. */
async function managingKey(customer: Customer, fields: Fields = {}): Promise<CreatedApiKey> {
  return customer.client.createApiKey({ body: { scopes: everything, ...fields } });
}

/** A key that is made with another. */
async function childOf({ secret }: CreatedApiKey, fields: Fields = {}): Promise<CreatedApiKey> {
  const json = { scopes: everything, ...fields };
  return dataOf(await call("/v1/auth/api-keys", { credential: secret, json }), CreatedApiKey);
}

async function keysOf(customer: Customer): Promise<ApiKey[]> {
  return (await customer.client.listApiKeys({ query: { limit: 100 } })).rows;
}

async function statusOf({ secret }: CreatedApiKey): Promise<number> {
  return (await call("/v1/wallet", { credential: secret })).status;
}

describe("a key's limits", () => {
  it("are shown, with the creator of the key", async () => {
    const customer = await Customer.register();
    const { user } = await customer.client.getMe();
    const expiresAt = new Date(Date.now() + hourMs).toISOString();
    const fields: Fields = {
      scopes: ["send", "keys"],
      expiresAt,
      allowedAddresses: ["0.0.0.0/0", "::/0"],
    };
    const parent = await customer.client.createApiKey({ body: fields });
    const child = await childOf(parent, { ...fields, scopes: ["send"] });
    expect(await keysOf(customer)).toMatchObject([
      { ...fields, id: child.id, scopes: ["send"], createdBy: { type: "apiKey", id: parent.id } },
      { ...fields, id: parent.id, status: "active", createdBy: { type: "user", id: user.id } },
    ]);
  });

  it("are inherited by a key without limits of its own from the key that creates it", async () => {
    const customer = await Customer.register();
    const expiresAt = new Date(Date.now() + hourMs).toISOString();
    const limits: Fields = {
      scopes: ["read", "keys", "send"],
      expiresAt,
      allowedAddresses: ["0.0.0.0/0", "::/0"],
    };
    const { secret } = await customer.client.createApiKey({ body: limits });
    const { scopes, ...others } = dataOf(
      await call("/v1/auth/api-keys", { credential: secret, method: "POST" }),
      CreatedApiKey,
    );
    expect(others).toMatchObject({ expiresAt, allowedAddresses: limits.allowedAddresses });
    expect(scopes.filter((scope) => !limits.scopes?.includes(scope))).toEqual([]);
    expect(scopes).toContain("send");
  });

  it.each<[string, Fields]>([
    ["may more", { scopes: ["read", "keys", "billing"] }],
    ["lives longer", { expiresAt: new Date(Date.now() + 3 * hourMs).toISOString() }],
    ["may be used from more addresses", { allowedAddresses: ["0.0.0.0/0", "2001:db8::/32", "::/0"] }],
  ])("prevent that it creates, rotates or disables a key that %s than itself", async (_, more) => {
    const customer = await Customer.register();
    const limits: Fields = {
      scopes: ["read", "keys"],
      expiresAt: new Date(Date.now() + 2 * hourMs).toISOString(),
      allowedAddresses: ["0.0.0.0/0", "::/1"],
    };
    const { secret: credential } = await customer.client.createApiKey({ body: limits });
    const equal = await customer.client.createApiKey({ body: limits });
    const mighty = await customer.client.createApiKey({ body: { ...limits, ...more } });
    const make = async (fields: Fields) => call("/v1/auth/api-keys", { credential, json: fields });
    expect(errorOf(await make({ ...limits, ...more }))).toEqual(insufficientScope);
    expect((await make(limits)).status).toBe(201);
    const path = (id: string): string => `/v1/auth/api-keys/${id}`;
    const attempts = [
      [`${path(mighty.id)}/rotate`, "POST"],
      [`${path(mighty.id)}/disable`, "POST"],
      [path(mighty.id), "DELETE"],
      ["/v1/auth/api-keys/revoke-all", "POST"],
    ] as const;
    for (const [where, method] of attempts) {
      expect(errorOf(await call(where, { credential, method })), where).toEqual(insufficientScope);
    }
    expect(await statusOf(mighty)).toBe(200);
    expect((await call(`${path(equal.id)}/disable`, { credential, method: "POST" })).status).toBe(200);
  });

  it("reject all calls of the key from another address", async () => {
    const customer = await Customer.register();
    const away = await customer.client.createApiKey({
      body: { allowedAddresses: ["192.0.2.0/24", "2001:db8::7"] },
    });
    const response = await call("/v1/wallet", { credential: away.secret });
    expect(errorOf(response)).toEqual({ status: 403, code: "ADDRESS_NOT_ALLOWED" });
    const anywhere = await customer.client.createApiKey({
      body: { allowedAddresses: ["0.0.0.0/0", "::/0"] },
    });
    expect(await statusOf(anywhere)).toBe(200);
  });

  it("have no end that has passed", async () => {
    const customer = await Customer.register();
    const json = { expiresAt: "2020-01-01T00:00:00Z" };
    expect(invalidFields(await customer.call("/v1/auth/api-keys", { json }))).toEqual(["expiresAt"]);
    expect(await keysOf(customer)).toEqual([]);
  });
});

describe("a key that leaked", () => {
  it("takes along all keys that were made with it, directly or not, also through deleted ones", async () => {
    const customer = await Customer.register();
    const [leaked, other] = [await managingKey(customer), await managingKey(customer)];
    const child = await childOf(leaked);
    const grandchild = await childOf(child);
    const greatGrandchild = await childOf(grandchild);
    const rotated = dataOf(
      await call(`/v1/auth/api-keys/${grandchild.id}/rotate`, {
        credential: grandchild.secret,
        method: "POST",
      }),
      CreatedApiKey,
    );
    const alone = { params: { id: child.id }, body: { descendants: false } };
    await customer.client.disableApiKey(alone);
    const deleting = { credential: leaked.secret, method: "DELETE" };
    expect((await call(`/v1/auth/api-keys/${child.id}`, deleting)).status).toBe(200);
    expect(await statusOf(greatGrandchild)).toBe(200);
    const ofOther = await childOf(other);
    await customer.client.disableApiKey({ params: { id: leaked.id } });
    for (const key of [leaked, child, grandchild, greatGrandchild, rotated])
      expect(await statusOf(key)).toBe(401);
    for (const key of [other, ofOther]) expect(await statusOf(key)).toBe(200);
  });

  it("takes them along too when it is deleted", async () => {
    const customer = await Customer.register();
    const leaked = await managingKey(customer);
    const child = await childOf(leaked);
    await customer.client.deleteApiKey({ params: { id: leaked.id } });
    expect([await statusOf(leaked), await statusOf(child)]).toEqual([401, 401]);
  });

  it("leaves the others alone when it is deleted after it was disabled alone", async () => {
    const customer = await Customer.register();
    const parent = await managingKey(customer);
    const child = await childOf(parent);
    await customer.client.disableApiKey({ params: { id: parent.id }, body: { descendants: false } });
    await customer.client.deleteApiKey({ params: { id: parent.id } });
    expect(await statusOf(child)).toBe(200);
  });

  it("takes them along when a person rotates it without an overlap", async () => {
    const customer = await Customer.register();
    const leaked = await managingKey(customer);
    const child = await childOf(leaked);
    const rotation = { params: { id: leaked.id }, body: { overlapHours: 0 } };
    const next = await customer.client.rotateApiKey(rotation);
    expect([await statusOf(leaked), await statusOf(child), await statusOf(next)]).toEqual([401, 401, 200]);
  });

  it("leaves the others alone where the request excludes them", async () => {
    const customer = await Customer.register();
    const parent = await managingKey(customer);
    const child = await childOf(parent);
    await customer.client.disableApiKey({ params: { id: parent.id }, body: { descendants: false } });
    expect([await statusOf(parent), await statusOf(child)]).toEqual([401, 200]);
  });

  it("has no child left, also when it creates some at the same moment", async () => {
    const customer = await Customer.register();
    const leaked = await managingKey(customer);
    const make = async () => call("/v1/auth/api-keys", { credential: leaked.secret, method: "POST" });
    const disable = async () => customer.call(`/v1/auth/api-keys/${leaked.id}/disable`, { method: "POST" });
    const [, ...made] = await Promise.all([disable(), ...Array.from({ length: 10 }, make)]);
    // A transaction that met the others too many times gets a retryable error.
    await vi.waitFor(async () => expect((await disable()).status).toBe(200), patience);
    expect([201, 401, 503]).toEqual(expect.arrayContaining([...new Set(statusesOf(made))]));
    const active = (await keysOf(customer)).filter(({ status }) => status === "active");
    expect(active).toEqual([]);
  });

  it("manages no keys without the scope for it", async () => {
    const customer = await Customer.register();
    const production = await customer.createApiKey();
    const { secret } = await customer.client.createApiKey({ body: { scopes: ["send", "read"] } });
    const attempts = [
      ["/v1/auth/api-keys", "GET"],
      ["/v1/auth/api-keys", "POST"],
      [`/v1/auth/api-keys/${production.id}/disable`, "POST"],
      [`/v1/auth/api-keys/${production.id}/rotate`, "POST"],
      [`/v1/auth/api-keys/${production.id}`, "DELETE"],
      ["/v1/auth/api-keys/revoke-all", "POST"],
    ] as const;
    for (const [path, method] of attempts) {
      expect(errorOf(await call(path, { credential: secret, method })), path).toEqual(insufficientScope);
    }
    expect(await statusOf(production)).toBe(200);
  });
});

describe("all keys", () => {
  it("are revoked immediately, also the calling one", async () => {
    const customer = await Customer.register();
    const all = [await managingKey(customer), await managingKey(customer), await managingKey(customer)];
    const [, , last] = all;
    const credential = last?.secret ?? "";
    const revoked = await call("/v1/auth/api-keys/revoke-all", { credential, method: "POST" });
    expect(revoked).toMatchObject({ status: 200, body: { data: { count: 3 } } });
    expect(await Promise.all(all.map(statusOf))).toEqual([401, 401, 401]);
    expect(await customer.client.revokeAllApiKeys()).toEqual({ count: 0 });
  });

  it("are revoked except the calling one on request, and those of other organizations always stay", async () => {
    const [customer, stranger] = await Promise.all([Customer.register(), Customer.register()]);
    const [calling, other] = [await managingKey(customer), await managingKey(customer)];
    const foreign = await stranger.createApiKey();
    const json = { exceptCalling: true };
    const revoked = await call("/v1/auth/api-keys/revoke-all", { credential: calling.secret, json });
    expect(revoked).toMatchObject({ status: 200, body: { data: { count: 1 } } });
    expect(await Promise.all([calling, other, foreign].map(statusOf))).toEqual([200, 401, 200]);
  });
});
