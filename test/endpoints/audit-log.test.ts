import { createHash } from "node:crypto";

import { decodeJwt } from "jose/jwt/decode";
import { beforeEach, expect, it } from "vitest";
import * as z from "zod/mini";

import { AuditEntry } from "../../shared/api/contract/audit-log.ts";
import { call, Customer, dataOf, errorOf, invalidFields, pageOf, password } from "../support/api.ts";

let customer: Customer;
beforeEach(async () => {
  customer = await Customer.register();
});

/** The newest entries, and their number. */
async function read(query = ""): Promise<{ entries: AuditEntry[]; total: number }> {
  const { rows, meta } = pageOf(await customer.call(`/v1/audit-log${query}`), AuditEntry);
  return { entries: rows, total: meta.total };
}

it("the log shows who created and who disabled a key, from where and when, and never its secret", async () => {
  const key = await customer.createApiKey();
  const disabled = await customer.client.disableApiKey({ params: { id: key.id } });
  const { user } = await customer.client.getMe();

  const response = await customer.call("/v1/audit-log?limit=2");
  const { rows } = pageOf(response, AuditEntry);
  const { id, hint, createdAt } = key;
  const from = {
    actor: expect.objectContaining({ type: "user", userId: user.id }),
    sourceAddress: expect.stringMatching(/^[\da-f.:]+$/),
    requestId: expect.any(String),
    outcome: "done",
  };
  expect(rows).toEqual([
    {
      ...from,
      id: expect.stringMatching(/^aud_/),
      createdAt: expect.any(String),
      action: "POST /v1/auth/api-keys/{id}/disable",
      subject: { id },
      after: expect.objectContaining({ id, hint, status: "disabled", disabledAt: disabled.disabledAt }),
    },
    {
      ...from,
      id: expect.stringMatching(/^aud_/),
      createdAt: expect.any(String),
      action: "POST /v1/auth/api-keys",
      after: expect.objectContaining({ id, hint, status: "active" }),
    },
  ]);
  expect(Date.parse(rows[1]?.createdAt ?? "")).toBeLessThanOrEqual(Date.parse(createdAt));
  expect(response.text).not.toContain(key.secret);
});

it("an action with an API key is logged as the key's, with its owner", async () => {
  const { id: keyId, secret } = await customer.createApiKey();
  const { user } = await customer.client.getMe();
  await customer.call("/v1/wallet", {
    method: "PATCH",
    json: { lowBalanceThreshold: 5 },
    credential: secret,
  });
  const { entries } = await read("?limit=1");
  expect(entries).toMatchObject([
    {
      actor: { type: "apiKey", keyId, userId: user.id },
      action: "PATCH /v1/wallet",
      after: { lowBalanceThreshold: 5 },
    },
  ]);
  expect(entries[0]?.before).not.toHaveProperty("lowBalanceThreshold");
});

it("registrations and log-ins are in it, and wrong passwords are not", async () => {
  const logIn = async (guess: string) =>
    call("/v1/auth/login", { json: { email: customer.email, password: guess } });
  expect((await logIn("wrong")).status).toBe(401);
  const session = await logIn(password);
  expect(session.status).toBe(200);
  const { token } = dataOf(session, z.object({ token: z.string() }));
  const { entries } = await read();
  expect(entries.map(({ action, outcome }) => [action, outcome])).toEqual([
    ["POST /v1/auth/login", "done"],
    ["POST /v1/auth/register", "done"],
  ]);
  expect(entries[0]).toMatchObject({
    // All actions with the token have the same id.
    actor: { type: "user", sessionId: decodeJwt(token).jti },
    sourceAddress: expect.stringMatching(/^[\da-f.:]+$/),
  });
});

it("a webhook's entry has its URL before and after, and no secret of any endpoint", async () => {
  const made = await customer.client.createWebhook({ body: { url: "https://example.com/old" } });
  const params = { id: made.id };
  await customer.client.updateWebhook({ params, body: { url: "https://example.com/new" } });
  const rotated = await customer.client.rotateWebhookSecret({ params });
  await customer.client.deleteWebhook({ params });

  const { text, body } = await customer.call("/v1/audit-log?limit=4");
  const { rows } = pageOf({ text, body, status: 200, headers: new Headers() }, AuditEntry);
  expect(rows.map(({ before, after }) => [before?.["url"], after?.["url"]])).toEqual([
    ["https://example.com/new", undefined],
    [undefined, "https://example.com/new"],
    ["https://example.com/old", "https://example.com/new"],
    [undefined, "https://example.com/old"],
  ]);
  for (const secret of [made.secret, rotated.secret]) expect(text).not.toContain(secret);
});

it("a rejected action is in the log with its code, and one that never began is not", async () => {
  const { total } = await read();
  const unknown = "/v1/auth/api-keys/key_01J00000000000000000000000/disable";
  expect(errorOf(await customer.call(unknown, { method: "POST" })).code).toBe("NOT_FOUND");
  expect(errorOf(await customer.call("/v1/webhooks", { json: { url: "ftp://x" } })).code).toBe(
    "VALIDATION_ERROR",
  );
  expect(errorOf(await customer.call("/v1/kyc", { json: {} })).code).toBe("VALIDATION_ERROR");
  const { entries } = await read();
  const added = entries.slice(0, entries.length - total);
  expect(added.map(({ action, outcome, errorCode }) => [action, outcome, errorCode])).toContainEqual([
    "POST /v1/auth/api-keys/{id}/disable",
    "refused",
    "NOT_FOUND",
  ]);
  expect(added.filter(({ action }) => action.includes("kyc"))).toEqual([]);
});

it("a top-up that is repeated with its Idempotency-Key is one entry, with the balance before and after", async () => {
  const topUp = async () =>
    customer.call("/v1/wallet/top-up", { json: { amount: 5 }, headers: { "Idempotency-Key": "once" } });
  await topUp();
  expect((await topUp()).headers.get("idempotent-replayed")).toBe("true");
  const { entries } = await read();
  const topUps = entries.filter(({ action }) => action === "POST /v1/wallet/top-up");
  expect(topUps.map(({ before, after }) => [before?.["balance"], after?.["balance"]])).toEqual([[0, 5]]);
});

it("the log is read page by page, and by time", async () => {
  for (let count = 0; count < 3; count += 1) await customer.createApiKey();
  const { entries, total } = await read();
  expect([entries.length, total]).toEqual([4, 4]);
  const first = pageOf(await customer.call("/v1/audit-log?limit=3"), AuditEntry);
  const rest = pageOf(
    await customer.call(`/v1/audit-log?limit=3&cursor=${first.meta.nextCursor}`),
    AuditEntry,
  );
  expect([...first.rows, ...rest.rows]).toEqual(entries);

  const since = entries[1]?.createdAt ?? "";
  const later = entries.filter(({ createdAt }) => createdAt >= since);
  expect((await read(`?from=${since}`)).entries).toEqual(later);
  expect((await read(`?to=${since}`)).entries).toEqual(entries.slice(later.length));
  expect((await read("?from=2001-01-01T00:00:00Z&to=2001-01-02T00:00:00Z")).entries).toEqual([]);
  expect((await read("?to=0252-03-15T22:07:05Z")).entries).toEqual([]);
  const backwards = `?from=${since}&to=2001-01-01T00:00:00Z`;
  for (const query of ["?from=yesterday", backwards]) {
    expect(errorOf(await customer.call(`/v1/audit-log${query}`)).code).toBe("VALIDATION_ERROR");
  }
});

it.each([
  ["/v1/audit-log?from=2026-01-01T00:00:00Z&cursor=", "aud_00000000000000000000000000"],
  ["/v1/audit-log?to=2026-01-01T00:00:00Z&cursor=", "aud_7ZZZZZZZZZZZZZZZZZZZZZZZZZ"],
  ["/v1/inbound?limit=24&cursor=", "y"],
])("a list does not continue from outside its range: %s%s", async (path, position) => {
  const response = await customer.call(path + Buffer.from(position).toString("base64url"));
  expect(errorOf(response)).toEqual({ status: 400, code: "VALIDATION_ERROR" });
  expect(invalidFields(response)).toEqual(["cursor"]);
});

it("an organization's log is visible to no other", async () => {
  const other = await Customer.register();
  await other.createApiKey();
  expect((await read()).entries.map(({ action }) => action)).toEqual(["POST /v1/auth/register"]);
});

it("each change of an opt-out is in the log, by any way, without the number", async () => {
  const { client } = customer;
  const phoneNumber = "15005550041";
  const params = { phoneNumber };
  await client.createOptOut({ body: { phoneNumber } });
  await client.deleteOptOut({ params });
  const { id } = await client.createContact({ body: { phoneNumber, optedOut: true } });
  await client.updateContact({ params: { id }, body: { optedOut: false } });
  const contacts = [{ phoneNumber: "15005550042", optedOut: true }];
  await customer.call("/v1/contacts/import", { json: { contacts } });
  const { entries } = await read("?limit=5");
  const phoneNumberDigest = createHash("sha256")
    .update(`${customer.organizationId} ${phoneNumber}`)
    .digest("hex");
  expect(entries.map(({ action, subject, before, after }) => ({ action, subject, before, after }))).toEqual([
    {
      action: "POST /v1/contacts/import",
      after: { totals: { created: 1, duplicates: 0, invalid: 0 } },
    },
    {
      action: "PATCH /v1/contacts/{id}",
      subject: { id },
      before: { id, phoneNumberDigest, optedOut: true },
      after: { id, phoneNumberDigest, optedOut: false },
    },
    { action: "POST /v1/contacts", after: { id, phoneNumberDigest, optedOut: true } },
    {
      action: "DELETE /v1/opt-outs/{phoneNumber}",
      subject: { phoneNumberDigest },
      before: { source: "api", createdAt: expect.any(String) },
      after: {},
    },
    {
      action: "POST /v1/opt-outs",
      after: { phoneNumberDigest, source: "api", createdAt: expect.any(String) },
    },
  ]);
  expect(JSON.stringify(entries)).not.toContain(phoneNumber);
});

it("a contact that is created or changed without its opt-out is not in the log", async () => {
  const { total } = await read();
  const { id } = await customer.client.createContact({ body: { phoneNumber: "15005550043" } });
  await customer.client.updateContact({ params: { id }, body: { firstName: "Ada" } });
  await customer.call("/v1/contacts/import", { json: { contacts: [{ phoneNumber: "15005550044" }] } });
  const contacts = [{ phoneNumber: "15005550045", optedOut: true }];
  await customer.call("/v1/contacts/import", { json: { contacts, dryRun: true } });
  expect((await read()).total).toBe(total);
});
