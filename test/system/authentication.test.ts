import { beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { createClient } from "../../shared/api/client/client.ts";
import type { CreatedApiKey } from "../../shared/api/contract/api-keys.ts";
import { hourMs, minuteMs, now } from "../../shared/platform/clock.ts";
import type { EntityName } from "../../shared/platform/table/entities.ts";
import type { Changes } from "../../shared/platform/table/expressions.ts";
import { keys, type Key } from "../../shared/platform/table/keys.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { deleteItem, updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { call, Customer, errorOf, password, type ApiResponse } from "../support/api.ts";
import { loseRequest } from "../support/faults.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

/*
 * The end of a credential, which counts from the next call on, and the record of its use.
 */

const { gateway, faults, log: lines } = await gatewayOfFile();
let customer: Customer;
let userId: string;
let apiKey: CreatedApiKey;

/** How far the gateway's clock has been set forward. */
let aheadMs = 0;

beforeEach(async () => {
  customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
  ({ id: userId } = (await customer.client.getMe()).user);
  apiKey = await customer.createApiKey();
});

function advance(ms: number): void {
  aheadMs += ms;
  gateway.advanceClock(ms);
}

async function change<Name extends EntityName>(key: Key<Name>, changes: Changes<Name>): Promise<void> {
  const changed = await updateItem(z.unknown(), updateOf(key, changes, { present: ["pk"] }));
  expect(changed.applied).toBe(true);
}

async function bySession(): Promise<ApiResponse> {
  return customer.call("/v1/wallet");
}

async function byKey({ secret }: CreatedApiKey = apiKey): Promise<ApiResponse> {
  return customer.call("/v1/wallet", { credential: secret });
}

const unauthorized = { status: 401, code: "UNAUTHORIZED" };
const suspended = { status: 403, code: "ORGANIZATION_SUSPENDED" };

it("a suspended organization is rejected with any credential, and a resumed one is let in", async () => {
  const key = keys.organization(customer.organizationId);
  await change(key, { set: { suspendedAt: now().toISOString(), suspendedReason: "fraud" } });
  const response = await bySession();
  expect(errorOf(response)).toEqual(suspended);
  expect(response.text).not.toContain("fraud");
  expect(errorOf(await byKey())).toEqual(suspended);
  expect(errorOf(await customer.trySend())).toEqual(suspended);
  await change(key, { remove: ["suspendedAt"] });
  expect([(await bySession()).status, (await byKey()).status]).toEqual([200, 200]);
});

it("an erased organization has no credentials", async () => {
  await deleteItem(keys.organization(customer.organizationId));
  expect(errorOf(await bySession())).toEqual(unauthorized);
  expect(errorOf(await byKey())).toEqual(unauthorized);
});

describe("the session", () => {
  it("of an erased user has ended; the organization's keys have not", async () => {
    await deleteItem(keys.user(userId));
    await deleteItem(keys.email(customer.email));
    expect(errorOf(await bySession())).toEqual(unauthorized);
    expect(errorOf(await customer.trySend())).toEqual(unauthorized);
    expect((await byKey()).status).toBe(200);
  });

  it("of a removed user has ended", async () => {
    await change(keys.user(userId), { set: { removedAt: now().toISOString() } });
    expect(errorOf(await bySession())).toEqual(unauthorized);
  });

  it("of a user who belongs to another organization now has ended", async () => {
    const other = await Customer.register({ baseUrl: gateway.url });
    await change(keys.user(userId), { set: { organizationId: other.organizationId } });
    expect(errorOf(await bySession())).toEqual(unauthorized);
  });

  it("of a user who ended the earlier ones is valid only if it began later", async () => {
    const sessionsValidFrom = new Date(Date.now() + aheadMs).toISOString();
    await change(keys.user(userId), { set: { sessionsValidFrom } });
    expect(errorOf(await bySession())).toEqual(unauthorized);
    const anonymous = createClient({ baseUrl: gateway.url });
    const { token } = await anonymous.login({ body: { email: customer.email, password } });
    expect((await customer.call("/v1/wallet", { credential: token })).status).toBe(200);
  });

  it("that was ended is rejected, and no other", async () => {
    const anonymous = createClient({ baseUrl: gateway.url });
    const { token } = await anonymous.login({ body: { email: customer.email, password } });
    const [, claims = ""] = token.split(".");
    const { jti } = z
      .object({ jti: z.string() })
      .parse(JSON.parse(Buffer.from(claims, "base64url").toString()));
    await change(keys.user(userId), { set: { endedSessionIds: new Set([jti]) } });
    expect(errorOf(await customer.call("/v1/wallet", { credential: token }))).toEqual(unauthorized);
    expect((await bySession()).status).toBe(200);
  });

  it.each([
    ["developer", 403, 200],
    ["viewer", 403, 403],
    ["admin", 200, 200],
  ] as const)("may what the role of a %s may", async (role, ofBilling, ofContacts) => {
    await change(keys.member(customer.organizationId, userId), { set: { role } });
    expect((await bySession()).status).toBe(200);
    const topUp = await customer.call("/v1/wallet/top-up", { json: { amount: 1 } });
    expect(topUp.status).toBe(ofBilling);
    const contact = await customer.call("/v1/contacts", { json: { phoneNumber: "15005550009" } });
    expect(contact.status === 201 ? 200 : contact.status).toBe(ofContacts);
  });

  it("of a developer creates keys with at most the permissions of a developer", async () => {
    await change(keys.member(customer.organizationId, userId), { set: { role: "developer" } });
    const { scopes } = await customer.createApiKey();
    expect(scopes).not.toContain("billing");
    const asked = await customer.call("/v1/auth/api-keys", { json: { scopes: ["billing"] } });
    expect(errorOf(asked)).toEqual({ status: 403, code: "INSUFFICIENT_SCOPE" });
    const rotated = await customer.call(`/v1/auth/api-keys/${apiKey.id}/rotate`, { method: "POST" });
    expect(errorOf(rotated)).toEqual({ status: 403, code: "INSUFFICIENT_SCOPE" });
    const limits = { dailyBudget: 100 };
    const wide = { scopes: ["send", "billing"], limits: { dailyBudget: 1 } } as const;
    await change(keys.member(customer.organizationId, userId), { set: { role: "owner" } });
    const { id } = await customer.client.createApiKey({ body: { ...wide, scopes: [...wide.scopes] } });
    for (const role of ["developer", "sender"] as const) {
      await change(keys.member(customer.organizationId, userId), { set: { role } });
      const changed = await customer.call(`/v1/auth/api-keys/${id}`, { method: "PATCH", json: { limits } });
      expect(errorOf(changed), role).toEqual({ status: 403, code: "INSUFFICIENT_SCOPE" });
    }
    await change(keys.member(customer.organizationId, userId), { set: { role: "developer" } });
    // Revoking a key gives no one a permission.
    expect((await customer.client.disableApiKey({ params: { id: apiKey.id } })).status).toBe("disabled");
  });
});

describe("an API key", () => {
  it("without scopes may do everything", async () => {
    const client = createClient({ baseUrl: gateway.url, credential: apiKey.secret });
    expect((await client.topUpWallet({ body: { amount: 1 } })).balance).toBe(2);
    const child = await client.createApiKey();
    expect(child.createdBy).toEqual({ type: "apiKey", id: apiKey.id });
    const { rows } = await client.listApiKeys();
    expect(rows.find(({ id }) => id === apiKey.id)).toMatchObject({ scopes: child.scopes, status: "active" });
  });

  it("ends at its time, and is shown as expired", async () => {
    const expiresAt = new Date(Date.now() + aheadMs + hourMs).toISOString();
    const owner = await customer.withApiKey();
    const limited = await owner.client.createApiKey({ body: { expiresAt } });
    expect((await byKey(limited)).status).toBe(200);
    advance(hourMs);
    expect(errorOf(await byKey(limited))).toEqual(unauthorized);
    const { rows } = await owner.client.listApiKeys();
    expect(rows.find(({ id }) => id === limited.id)).toMatchObject({ status: "expired", expiresAt });
    const rotated = await owner.call(`/v1/auth/api-keys/${limited.id}/rotate`, { method: "POST" });
    expect(errorOf(rotated)).toEqual({ status: 409, code: "CONFLICT" });
  });

  it("that was rotated works until the overlap is over, and its successor longer", async () => {
    const rotation = { params: { id: apiKey.id }, body: { overlapHours: 2 } };
    const next = await customer.client.rotateApiKey(rotation);
    advance(2 * hourMs - minuteMs);
    expect([(await byKey()).status, (await byKey(next)).status]).toEqual([200, 200]);
    advance(minuteMs);
    expect(errorOf(await byKey())).toEqual(unauthorized);
    expect((await byKey(next)).status).toBe(200);
  });

  it("shows when it was last used, which is recorded once an hour", async () => {
    const owner = await customer.withApiKey();
    const lastUse = async (): Promise<string | undefined> =>
      (await owner.client.listApiKeys()).rows.find(({ id }) => id === apiKey.id)?.lastUsedAt;
    expect(await lastUse()).toBeUndefined();
    const isNote = ({ operation, body }: { operation: string; body: string }): boolean =>
      operation === "dynamodb:UpdateItem" && body.includes("KEY_USES#") && body.includes(apiKey.id);
    await byKey();
    const first = await lastUse();
    expect(first).toBeDefined();
    await byKey();
    // Another function reads it, and finds that the use is recorded.
    await customer.call("/v1/dashboard/stats", { credential: apiKey.secret });
    expect(await lastUse()).toBe(first);
    expect(faults.seen.filter(isNote)).toHaveLength(2);
    advance(hourMs);
    await byKey();
    expect(Date.parse((await lastUse()) ?? "")).toBeGreaterThan(Date.parse(first ?? ""));
  });

  it("is let in when its use cannot be recorded", async () => {
    faults.next(({ body }) => body.includes("KEY_USES#"), loseRequest);
    expect((await byKey()).status).toBe(200);
    await vi.waitFor(() => expect(lines.join("\n")).toContain('"event":"api_key.use_not_noted"'), patience);
  });

  it("that is deleted frees its place, and leaves no item", async () => {
    await byKey();
    const count = async (): Promise<unknown> =>
      (await findItem(z.looseObject({}), keys.organization(customer.organizationId), { consistent: true }))?.[
        "apiKeyCount"
      ];
    expect(await count()).toBe(1);
    await customer.client.deleteApiKey({ params: { id: apiKey.id } });
    expect(await count()).toBe(0);
    const use = keys.apiKeyUse(customer.organizationId, apiKey.id);
    expect(await findItem(z.unknown(), use, { consistent: true })).toBeUndefined();
  });

  it("of a chain of a hundred keys creates no more", async () => {
    const ancestorIds = Array.from({ length: 100 }, () => apiKey.id);
    await change(keys.apiKeyOfOrganization(customer.organizationId, apiKey.id), { set: { ancestorIds } });
    const make = async (path: string) =>
      call(path, { baseUrl: gateway.url, credential: apiKey.secret, method: "POST" });
    for (const path of ["/v1/auth/api-keys", `/v1/auth/api-keys/${apiKey.id}/rotate`]) {
      expect(errorOf(await make(path))).toEqual({ status: 409, code: "CONFLICT" });
    }
    expect((await customer.client.rotateApiKey({ params: { id: apiKey.id } })).createdBy.type).toBe("user");
  });
});

it("the log line of a request names the caller, the credential and the address", async () => {
  const Line = z.looseObject({ event: z.optional(z.string()), requestId: z.optional(z.string()) });
  const lineOf = async (response: ApiResponse): Promise<z.infer<typeof Line> | undefined> =>
    vi.waitFor(() => {
      const all = lines.map((line) => Line.parse(JSON.parse(line)));
      const line = all.find(
        ({ event, requestId }) => event === "request" && requestId === response.headers.get("x-request-id"),
      );
      expect(line).toBeDefined();
      return line;
    }, patience);
  const { organizationId } = customer;
  const sourceIp = "127.0.0.1";
  const ofSession = await lineOf(await bySession());
  expect(ofSession).toMatchObject({ organizationId, userId, sourceIp });
  expect(ofSession).not.toHaveProperty("apiKeyId");
  const ofKey = await lineOf(await byKey());
  expect(ofKey).toMatchObject({ organizationId, apiKeyId: apiKey.id, sourceIp });
  // The key identifies its user.
  expect(ofKey).not.toHaveProperty("userId");
  const { secret } = await customer.client.createApiKey({ body: { scopes: ["send"] } });
  const rejected = await customer.call("/v1/wallet", { credential: secret });
  expect(await lineOf(rejected)).toMatchObject({
    apiKeyId: expect.stringMatching(/^key_/),
    errorCode: "INSUFFICIENT_SCOPE",
    status: 403,
  });
});
