import { beforeAll, describe, expect, it } from "vitest";
import * as z from "zod/mini";

import { CreatedApiKey, type CreateApiKeyRequest } from "../../shared/api/contract/api-keys.ts";
import { Webhook } from "../../shared/api/contract/webhooks.ts";
import { call, Customer, dataOf, errorOf, invalidFields, type ApiResponse } from "../support/api.ts";
import { Agent } from "../support/mcp.ts";

type Limits = NonNullable<CreateApiKeyRequest["limits"]>;

const message = { to: "15005550000", message: "hello", senderId: "ACME" };
/** The price of `message`, and a budget for two of it. */
const price = 0.0079;
const dailyBudget = 0.02;

let customer: Customer;
beforeAll(async () => {
  customer = await Customer.register({ balance: 10 });
});

async function keyWith(limits: Limits): Promise<string> {
  return (await customer.client.createApiKey({ body: { limits } })).secret;
}

async function send(credential: string, fields: Record<string, unknown> = {}): Promise<ApiResponse> {
  return call("/v1/sms/send", { credential, json: { ...message, ...fields } });
}

/** The time of the day in UTC, some minutes from now. */
function timeIn(minutes: number): string {
  return new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16);
}

describe("the limits of an API key", () => {
  it("are in the list of keys, and absent for a key without limits", async () => {
    const own = await Customer.register();
    const hours = { from: "08:00", to: "20:00", timeZone: "Europe/Paris" };
    const limits = { dailyBudget: 5, holdAbove: 1e-309, allowedRecipients: ["+44", "15005550000"], hours };
    const created = await own.client.createApiKey({ body: { limits } });
    const stored = { ...limits, holdAbove: 0, allowedRecipients: ["44", "15005550000"] };
    expect(created.limits).toEqual(stored);
    const { id } = await own.client.createApiKey();
    const { rows } = await own.client.listApiKeys();
    expect(rows.find((row) => row.id === created.id)?.limits).toEqual(stored);
    expect(rows.find((row) => row.id === id)).not.toHaveProperty("limits");
  });

  it.each([
    [{}, ["limits"]],
    [{ dailybudget: 5 }, ["limits.dailybudget", "limits"]],
    [{ dailyBudget: 0 }, ["limits.dailyBudget"]],
    [{ allowedRecipients: [] }, ["limits.allowedRecipients"]],
    [{ allowedRecipients: ["0"] }, ["limits.allowedRecipients.0"]],
    [{ hours: { from: "08:00", to: "08:00", timeZone: "UTC" } }, ["limits.hours"]],
    [
      { hours: { from: "8", to: "24:00", timeZone: "Nowhere" } },
      ["limits.hours.from", "limits.hours.to", "limits.hours.timeZone"],
    ],
  ])("cannot be %j", async (limits, fields) => {
    const response = await customer.call("/v1/auth/api-keys", { json: { limits } });
    expect(invalidFields(response)).toEqual(fields);
  });

  it("allow the listed recipients only", async () => {
    const secret = await keyWith({ allowedRecipients: ["+1500555", "447700900123"] });
    expect((await send(secret)).status).toBe(202);
    const other = { status: 403, code: "RECIPIENT_NOT_ALLOWED_FOR_KEY" };
    expect(errorOf(await send(secret, { to: "447700900124" }))).toEqual(other);
  });

  it("allow the listed hours only, also for scheduled messages", async () => {
    const secret = await keyWith({ hours: { from: timeIn(-5), to: timeIn(5), timeZone: "UTC" } });
    expect((await send(secret)).status).toBe(202);
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
    const outside = { status: 403, code: "OUTSIDE_KEY_HOURS" };
    expect(errorOf(await send(secret, { scheduledAt }))).toEqual(outside);
    const later = await keyWith({ hours: { from: timeIn(30), to: timeIn(90), timeZone: "UTC" } });
    expect(errorOf(await send(later))).toEqual(outside);
    expect((await send(later, { scheduledAt })).status).toBe(202);
  });

  it("stop at the daily budget, and do not count sends that were rejected", async () => {
    const secret = await keyWith({ dailyBudget });
    expect((await send(secret)).status).toBe(202);
    expect((await send(secret, { scheduledAt: "2001-01-01T00:00:00Z" })).status).toBe(400);
    const poor = await Customer.register({ balance: 0.01 });
    const { secret: ofPoor } = await poor.client.createApiKey({ body: { limits: { dailyBudget } } });
    expect((await send(ofPoor)).status).toBe(202);
    for (let count = 1; count <= 3; count += 1) {
      expect(errorOf(await send(ofPoor))).toEqual({ status: 402, code: "INSUFFICIENT_BALANCE" });
    }
    await poor.topUp(1);
    expect((await send(ofPoor)).status).toBe(202);
    expect((await send(secret)).status).toBe(202);
    const rejected = await send(secret);
    expect(errorOf(rejected)).toEqual({ status: 402, code: "KEY_BUDGET_REACHED" });
    expect(Number(rejected.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  it("are those of the keys that it makes or that replace it, which share its budget", async () => {
    const { id, secret } = await customer.client.createApiKey({ body: { limits: { dailyBudget } } });
    const maker = { credential: secret };
    const wider = await call("/v1/auth/api-keys", { ...maker, json: { limits: { dailyBudget: 100 } } });
    expect(errorOf(wider)).toEqual({ status: 403, code: "INSUFFICIENT_SCOPE" });
    const Created = z.object({ data: z.object({ secret: z.string(), limits: z.unknown() }) });
    const made = Created.parse((await call("/v1/auth/api-keys", { ...maker, json: {} })).body).data;
    const rotated = await customer.client.rotateApiKey({ params: { id }, body: { overlapHours: 1 } });
    for (const { limits } of [made, rotated]) expect(limits).toEqual({ dailyBudget });
    expect((await send(made.secret)).status).toBe(202);
    expect((await send(rotated.secret)).status).toBe(202);
    for (const each of [secret, made.secret, rotated.secret]) {
      expect(errorOf(await send(each))).toEqual({ status: 402, code: "KEY_BUDGET_REACHED" });
    }
  });

  it("are changed by a person from the next request on, for all keys that share the budget", async () => {
    const own = await Customer.register({ balance: 1 });
    const { id, secret } = await own.client.createApiKey({ body: { limits: { dailyBudget } } });
    const Created = z.object({ data: z.object({ secret: z.string() }) });
    const made = Created.parse(
      (await call("/v1/auth/api-keys", { credential: secret, json: { name: "made" } })).body,
    ).data;
    const rotated = await own.client.rotateApiKey({ params: { id }, body: { overlapHours: 1 } });
    const other = await own.client.createApiKey({ body: { limits: { dailyBudget: 1 } } });
    const secrets = [secret, made.secret, rotated.secret];
    for (const each of secrets.slice(1)) expect((await send(each)).status).toBe(202);
    expect((await own.client.listApiKeys()).rows.map(({ spentToday }) => spentToday)).toEqual([
      0,
      2 * price,
      2 * price,
      2 * price,
    ]);
    const limits = { dailyBudget: 0.05, allowedRecipients: ["447700900123", "1500555"] };
    const changed = await own.client.updateApiKey({ params: { id: rotated.id }, body: { limits } });
    expect(changed).toMatchObject({ id: rotated.id, limits });
    for (const each of secrets) {
      const status = { status: 403, code: "RECIPIENT_NOT_ALLOWED_FOR_KEY" };
      expect(errorOf(await send(each, { to: "447700900124" }))).toEqual(status);
      expect((await send(each)).status).toBe(202);
    }
    // A budget below what was spent stops all of them, and the budget of another key stays.
    await own.client.updateApiKey({ params: { id }, body: { limits: { dailyBudget } } });
    for (const each of secrets) {
      expect(errorOf(await send(each))).toEqual({ status: 402, code: "KEY_BUDGET_REACHED" });
    }
    expect((await send(other.secret)).status).toBe(202);
    const stored = (await own.client.listApiKeys()).rows.map((row) => row.limits);
    expect(stored).toEqual([{ dailyBudget: 1 }, { dailyBudget }, { dailyBudget }, { dailyBudget }]);
    const log = await own.call("/v1/audit-log?limit=3");
    expect(log.body).toMatchObject({
      data: [
        { action: "PATCH /v1/auth/api-keys/{id}", before: { limits: { dailyBudget: 0.05 } } },
        {
          before: { limits: { dailyBudget } },
          after: {
            id: rotated.id,
            limits: { dailyBudget: 0.05, recipientDigests: [expect.any(String), expect.any(String)] },
          },
        },
        { after: { id: other.id, limits: { dailyBudget: 1 } } },
      ],
    });
    expect(log.text).not.toContain("447700900123");
  });

  it("are changed by no key, and neither removed nor added later", async () => {
    const own = await Customer.register();
    const { id, secret } = await own.client.createApiKey({ body: { limits: { dailyBudget } } });
    const free = await own.createApiKey();
    const change = async (keyId: string, limits: object, credential?: string): Promise<ApiResponse> =>
      own.call(`/v1/auth/api-keys/${keyId}`, {
        method: "PATCH",
        json: { limits },
        ...(credential === undefined ? {} : { credential }),
      });
    for (const credential of [secret, free.secret]) {
      const rejected = { status: 403, code: "INSUFFICIENT_SCOPE" };
      expect(errorOf(await change(id, { dailyBudget: 100 }, credential))).toEqual(rejected);
    }
    expect(invalidFields(await change(id, {}))).toEqual(["limits"]);
    const conflict = { status: 409, code: "CONFLICT" };
    expect(errorOf(await change(free.id, { dailyBudget }))).toEqual(conflict);
    const stranger = await Customer.register();
    const foreign = await stranger.client.createApiKey({ body: { limits: { dailyBudget } } });
    expect(errorOf(await change(foreign.id, { dailyBudget: 1 }))).toEqual({ status: 404, code: "NOT_FOUND" });
    await own.client.disableApiKey({ params: { id } });
    expect(errorOf(await change(id, { dailyBudget: 1 }))).toEqual(conflict);
  });

  it("keep it from disabling, deleting or rotating other keys", async () => {
    const own = await Customer.register();
    const other = await own.client.createApiKey();
    const { secret } = await own.client.createApiKey({ body: { limits: { dailyBudget } } });
    for (const [path, method] of [
      [`/v1/auth/api-keys/${other.id}/disable`, "POST"],
      [`/v1/auth/api-keys/${other.id}/rotate`, "POST"],
      ["/v1/auth/api-keys/revoke-all", "POST"],
    ] as const) {
      const response = await call(path, { method, credential: secret, json: {} });
      expect(errorOf(response), path).toEqual({ status: 403, code: "INSUFFICIENT_SCOPE" });
    }
  });
});

it("a key with limits adds no recipients to the campaign of a person, and changes no text of others", async () => {
  const own = await Customer.register({ balance: 1 });
  const { secret } = await own.client.createApiKey({ body: { limits: { allowedRecipients: ["1500555"] } } });
  await own.client.createContact({ body: { phoneNumber: message.to, tags: ["vip"] } });
  const { id } = await own.client.createTemplate({ body: { name: "code", body: "Your code" } });
  const contacts = [{ phoneNumber: "447700900100", tags: ["vip"] }];
  for (const [path, method, json] of [
    ["/v1/contacts/import", "POST", { contacts }],
    ["/v1/contacts", "POST", contacts[0]],
    [`/v1/templates/${id}`, "PATCH", { body: "PHISH" }],
  ] as const) {
    expect((await call(path, { credential: secret, method, json })).status, path).toBe(403);
  }
  expect((await own.client.listContacts()).rows.map(({ phoneNumber }) => phoneNumber)).toEqual([message.to]);
  expect(await own.client.getTemplate({ params: { id } })).toMatchObject({ body: "Your code" });
  // An opt-out only keeps messages back.
  const optOut = await call("/v1/opt-outs", { credential: secret, json: { phoneNumber: message.to } });
  expect(optOut.status).toBe(201);
  expect(await own.balance()).toBe(1);
});

it("a key with limits changes only webhooks that keys with its budget made, which are listed when it ends", async () => {
  const own = await Customer.register();
  const { id: others } = await own.client.createWebhook({ body: { url: "https://example.com/hook" } });
  const key = await own.client.createApiKey({ body: { limits: { dailyBudget: 1 } } });
  const made = dataOf(
    await call("/v1/webhooks", { credential: key.secret, json: { url: "https://example.com/of-key" } }),
    Webhook,
  );
  const rotated = await own.client.rotateApiKey({ params: { id: key.id }, body: { overlapHours: 1 } });
  const change = async (id: string, method: string, path = ""): Promise<number> =>
    (await call(`/v1/webhooks/${id}${path}`, { credential: rotated.secret, method, json: { enabled: true } }))
      .status;
  for (const id of [others, "callbacks"]) expect(await change(id, "POST", "/rotate-secret"), id).toBe(403);
  expect([await change(others, "PATCH"), await change(others, "DELETE")]).toEqual([403, 403]);
  expect([await change(made.id, "PATCH"), await change(made.id, "POST", "/rotate-secret")]).toEqual([
    200, 200,
  ]);
  const child = dataOf(
    await call("/v1/auth/api-keys", { credential: key.secret, method: "POST" }),
    CreatedApiKey,
  );
  const url = "https://example.com/of-child";
  expect((await call("/v1/webhooks", { credential: child.secret, json: { url } })).status).toBe(201);
  const { webhooks } = await own.client.disableApiKey({ params: { id: key.id } });
  expect(webhooks.map((each) => each.url)).toEqual([url, made.url]);
  expect((await own.client.listWebhooks()).rows).toHaveLength(3);
  expect((await own.client.deleteApiKey({ params: { id: key.id } })).webhooks).toHaveLength(2);
});

it("an agent with a limited key cannot spend more than its budget, in whatever way it tries", async () => {
  const own = await Customer.register({ balance: 10 });
  const { secret } = await own.client.createApiKey({ body: { limits: { dailyBudget: 0.1 } } });
  const agent = await Agent.connect(secret, "all");
  const errors = new Set<string>();
  const attempt = async (by: Agent, name: string, values: Record<string, unknown>): Promise<unknown> => {
    const { error, body } = await by.call(name, values);
    if (error !== undefined) errors.add(`${name} ${error.split(":")[0]}`);
    return body;
  };
  const Created = z.object({ data: z.object({ id: z.string() }) });
  await attempt(agent, "createTemplate", { name: "all", body: "hello" });
  await attempt(agent, "createContact", { phoneNumber: message.to });
  const { id: template } = await own.client.createTemplate({ body: { name: "all", body: "hello" } });
  await own.client.createContact({ body: { phoneNumber: message.to } });
  // More keys, also with other limits, and keys of keys.
  const NewKey = z.object({ data: z.object({ secret: z.string() }) });
  const agents = [agent];
  let maker = secret;
  for (let count = 1; count <= 3; count += 1) {
    const make = async (json: object): Promise<ApiResponse> =>
      own.call("/v1/auth/api-keys", { credential: maker, json });
    expect((await make({ limits: { dailyBudget: 1_000 } })).status).toBe(403);
    maker = NewKey.parse((await make({ name: `key ${count}` })).body).data.secret;
    agents.push(await Agent.connect(maker, "all"));
  }
  // Campaigns: to launch one, and to schedule one.
  const campaign = { name: "all", message: "hello", senderId: "ACME", audience: { all: true } };
  const draft = Created.parse(await attempt(agent, "createCampaign", campaign));
  await attempt(agent, "launchCampaign", { id: draft.data.id });
  const scheduledAt = new Date(Date.now() + 60_000).toISOString();
  await attempt(agent, "createCampaign", { ...campaign, scheduledAt });
  // Many parallel sends with all keys, of messages and templates.
  const sends = agents.flatMap((each) =>
    Array.from({ length: 6 }, async (_, index) =>
      index % 2 === 0
        ? attempt(each, "sendSms", message)
        : attempt(each, "sendTemplate", { id: template, to: message.to, senderId: "ACME" }),
    ),
  );
  const sent = (await Promise.all(sends)).filter((body) => body !== undefined);
  expect(sent).toHaveLength(Math.floor(0.1 / price));
  // A cancelled message is refunded, which does not give the budget back.
  await attempt(agent, "sendSms", { ...message, scheduledAt });
  expect((await own.client.getWallet()).spentToday).toBeCloseTo(sent.length * price, 4);
  expect([...errors].toSorted()).toEqual([
    "createCampaign INSUFFICIENT_SCOPE",
    "createContact INSUFFICIENT_SCOPE",
    "createTemplate INSUFFICIENT_SCOPE",
    "launchCampaign INSUFFICIENT_SCOPE",
    "sendSms KEY_BUDGET_REACHED",
    "sendTemplate KEY_BUDGET_REACHED",
  ]);
});
