import { beforeAll, describe, expect, it } from "vitest";
import * as z from "zod/mini";

import { Customer, errorOf, type ApiResponse } from "../support/api.ts";

/*
 * A mistyped field must not spend money by mistake, and a mistyped filter must not return all rows.
 */

let customer: Customer;
beforeAll(async () => {
  customer = await Customer.register({ balance: 1 });
});

const RejectedError = z.object({
  error: z.object({ details: z.array(z.object({ path: z.string(), message: z.string() })) }),
});

async function rejection(
  path: string,
  options: Parameters<typeof customer.call>[1] = {},
): Promise<Record<string, string>> {
  const response: ApiResponse = await customer.call(path, options);
  expect(errorOf(response)).toEqual({ status: 400, code: "VALIDATION_ERROR" });
  const { error } = RejectedError.parse(response.body);
  return Object.fromEntries(error.details.map(({ path: field, message }) => [field, message]));
}

const message = { to: "15005550000", message: "hello", senderId: "ACME" };

it.each([
  ["/v1/sms/send", message, { schedule_at: "scheduledAt", sendrId: "senderId", MessageType: "messageType" }],
  ["/v1/sms/estimate", message, { scheduleAt: "scheduledAt", messages: "message" }],
  ["/v1/templates/tpl_01J00000000000000000000000/send", { to: message.to }, { value: "values" }],
  [
    "/v1/campaigns",
    { name: "Spring", message: "hello", audience: { all: true } },
    { "schedule-at": "scheduledAt", template_id: "templateId" },
  ],
  ["/v1/wallet/top-up", {}, { ammount: "amount" }],
])("%s rejects unknown fields, names the nearest, and spends nothing", async (path, body, typos) => {
  const unknown = Object.fromEntries(Object.keys(typos).map((name) => [name, "x"]));
  const details = await rejection(path, { json: { ...body, ...unknown, mediaUrls: [] } });
  expect(details).toEqual({
    ...Object.fromEntries(
      Object.entries(typos).map(([name, known]) => [name, `unknown field; did you mean \`${known}\`?`]),
    ),
    mediaUrls: "unknown field",
  });
  expect(await customer.balance()).toBe(1);
});

it.each([
  ["/v1/auth/api-keys", "scope", "scopes"],
  ["/v1/auth/api-keys", "limit", "limits"],
  ["/v1/auth/api-keys", "allowedIps", undefined],
  ["/v1/auth/api-keys", "expires_at", "expiresAt"],
  ["/v1/auth/api-keys", "dailyBudget", undefined],
  ["/v1/auth/api-keys", "permissions", undefined],
  ["/v1/auth/api-keys", "isTest", undefined],
  ["/v1/webhooks", "event", "events"],
  ["/v1/webhooks", "secret", undefined],
])("%s creates nothing with the unknown field %s", async (path, field, meant) => {
  const body = path.endsWith("keys") ? { name: "shop" } : { url: "https://shop.example/events" };
  const hint = meant === undefined ? "" : `; did you mean \`${meant}\`?`;
  const details = await rejection(path, { json: { ...body, [field]: ["send"] } });
  expect(details).toEqual({ [field]: `unknown field${hint}` });
  expect((await customer.call(path)).body).toMatchObject({ data: [], meta: { total: 0 } });
});

it.each([
  ["rotate", "overlapMinutes", undefined],
  ["rotate", "overlap_hours", "overlapHours"],
  ["disable", "children", undefined],
  ["disable", "descendant", "descendants"],
])("%s of an API key rejects the unknown field %s, and changes no key", async (action, field, meant) => {
  const { id } = await customer.client.createApiKey({});
  const hint = meant === undefined ? "" : `; did you mean \`${meant}\`?`;
  const details = await rejection(`/v1/auth/api-keys/${id}/${action}`, { json: { [field]: 0 } });
  expect(details).toEqual({ [field]: `unknown field${hint}` });
  expect(await rejection("/v1/auth/api-keys/revoke-all", { json: { [field]: false } })).toHaveProperty(field);
  expect((await customer.client.listApiKeys()).rows).toMatchObject([{ id, status: "active" }]);
  await customer.client.deleteApiKey({ params: { id } });
});

it.each([
  ["/v1/contacts", { phoneNumber: "15005550041" }, "optedout", "optedOut"],
  ["/v1/contacts", { phoneNumber: "15005550041" }, "opted_out", "optedOut"],
  ["/v1/sender-ids", { senderId: "SHOP" }, "sender_Id", "senderId"],
])("%s rejects a field that resembles a known one", async (path, body, field, meant) => {
  const details = await rejection(path, { json: { ...body, [field]: true } });
  expect(details).toEqual({ [field]: `unknown field; did you mean \`${meant}\`?` });
  expect((await customer.call(path)).body).toMatchObject({ data: [] });
});

it("an unknown field that resembles none is ignored where nothing depends on it", async () => {
  const json = { phoneNumber: "15005550042", externalId: "7" };
  expect((await customer.call("/v1/contacts", { json })).status).toBe(201);
});

it("a missing field is reported together with the unknown fields", async () => {
  expect(await rejection("/v1/contacts", { json: { phone: "15005550043", msisdn: "1" } })).toEqual({
    phoneNumber: "is required",
    phone: "unknown field; did you mean `phoneNumber`?",
    msisdn: "unknown field",
  });
  expect(await rejection("/v1/templates", { json: { name: "hello", content: "Hello" } })).toEqual({
    body: "is required",
    content: "unknown field",
  });
  const contacts = [{ phone: "15005550043" }, { phoneNumber: "15005550043", tag: ["x"] }];
  const { results } = await customer.client.importContacts({ body: { contacts } });
  expect(results).toMatchObject([
    { status: "invalid", details: [{ path: "phoneNumber" }, { path: "phone" }] },
    { status: "invalid", details: [{ path: "tag", message: "unknown field; did you mean `tags`?" }] },
  ]);
});

describe("null in a POST", () => {
  it("means that an optional field is absent, at each level", async () => {
    const nothing = { firstName: null, lastName: null };
    const created = await customer.call("/v1/contacts", {
      json: { phoneNumber: "15005550044", ...nothing, tags: null, attributes: { city: null, name: "Ada" } },
    });
    expect(created.status, created.text).toBe(201);
    expect(created.body).toMatchObject({ data: { tags: [], attributes: { name: "Ada" } } });
    const sent = await customer.call("/v1/sms/send", {
      json: { ...message, language: null, messageType: null, reference: null, callbackUrl: null },
    });
    expect(sent.status, sent.text).toBe(202);
    const contacts = [{ phoneNumber: "15005550045", ...nothing }];
    const imported = await customer.call("/v1/contacts/import", { json: { contacts } });
    expect(imported.body).toMatchObject({ data: { totals: { created: 1 } } });
    // A PATCH clears the field instead.
    const { id } = await customer.client.createContact({
      body: { phoneNumber: "15005550046", firstName: "Ada" },
    });
    const cleared = await customer.call(`/v1/contacts/${id}`, { method: "PATCH", json: { firstName: null } });
    expect(cleared.status).toBe(200);
    expect(await customer.client.getContact({ params: { id } })).not.toHaveProperty("firstName");
  });

  it("does not stand for a required field, an entry of a list, or a limit", async () => {
    expect(await rejection("/v1/sms/send", { json: { ...message, to: null } })).toEqual({
      to: "is required",
    });
    expect(
      await rejection("/v1/webhooks", { json: { url: "https://shop.example", events: [null] } }),
    ).toHaveProperty("events.0");
    const held = "/v1/held-messages/hld_01J00000000000000000000000/decision";
    // JavaScript writes NaN and an invalid date as null.
    expect(await rejection(held, { json: { approve: true, total: Number.NaN } })).toEqual({
      total: "must be a number",
    });
    const rotate = "/v1/auth/api-keys/key_01J00000000000000000000000/rotate";
    expect(await rejection(rotate, { json: { overlapHours: Number.NaN } })).toEqual({
      overlapHours: "must be a number",
    });
    expect(await rejection("/v1/wallet/top-up", { json: { amount: Number.NaN } })).toEqual({
      amount: "must be a number",
    });
    await rejection("/v1/payments", { json: { amount: Number.NaN } });
    const limits = { dailyBudget: Number.NaN, allowedRecipients: ["1"], hours: null };
    expect(await rejection("/v1/auth/api-keys", { json: { limits } })).toEqual({
      "limits.dailyBudget": "must be a number",
      "limits.hours": "must be an object",
    });
    const noLimits = { limits: null, expiresAt: new Date(Number.NaN), allowedAddresses: null, scopes: null };
    expect(await rejection("/v1/auth/api-keys", { json: noLimits })).toEqual({
      limits: "must be an object",
      expiresAt: "must be a string",
      allowedAddresses: "must be a list",
      scopes: "must be a list",
    });
    expect((await customer.client.listApiKeys()).rows).toEqual([]);
    const created = await customer.call("/v1/auth/api-keys", { json: { name: null } });
    expect(created.status, created.text).toBe(201);
  });

  it("means that an entry of a map is absent, whatever its name", async () => {
    const attributes = { amount: null, limits: null, total: "1" };
    const created = await customer.call("/v1/contacts", { json: { phoneNumber: "15005550047", attributes } });
    expect(created.body).toMatchObject({ data: { attributes: { total: "1" } } });
    const { id } = await customer.client.createTemplate({ body: { name: "Hi", body: "Hi {{name}}" } });
    const values = { amount: null, expiresAt: null, name: "Ada" };
    const sent = await customer.call(`/v1/templates/${id}/send`, {
      json: { to: message.to, senderId: "ACME", values },
    });
    expect(sent.status, sent.text).toBe(202);
  });
});

it("the message for a missing audience shows its form", async () => {
  for (const audience of [undefined, ["con_1"], "all"]) {
    const details = await rejection("/v1/campaigns", {
      json: { name: "Spring", message: "hello", audience },
    });
    expect(details["audience"]).toContain('such as {"all": true}');
  }
});

it("an unknown field inside a field is named with its place", async () => {
  const body = { name: "Spring", message: "hello", audience: { all: true, tag: ["x"] } };
  expect(await rejection("/v1/campaigns", { json: body })).toMatchObject({
    "audience.tag": "unknown field; did you mean `tags`?",
  });
});

it("an estimate accepts the body of a whole send", async () => {
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
  const body = { ...message, language: "Unicode", messageType: "otp", scheduledAt, expiresInSeconds: 600 };
  expect((await customer.call("/v1/sms/estimate", { json: body })).status).toBe(200);
});

// `test/unit/route-input.test.ts` tests the query of each list.
it.each(["/v1/sms", "/v1/contacts", "/v1/auth/api-keys"])("the query of %s is checked", async (path) => {
  expect(await rejection(`${path}?Limit=5&folderId=x`)).toEqual({
    Limit: "unknown parameter; did you mean `limit`?",
    folderId: "unknown parameter",
  });
  expect(await rejection(`${path}?limit=1000`)).toEqual({ limit: "must be at most 100" });
});
