import { describe, expect, it, vi } from "vitest";

import { Campaign } from "../../shared/api/contract/campaigns.ts";
import { Message } from "../../shared/api/contract/sms.ts";
import { Customer, dataOf, errorOf, invalidFields, pageOf, type ApiResponse } from "../support/api.ts";
import { importContacts, numberOf } from "../support/contacts.ts";
import { expectLedgerToAddUp } from "../support/ledger.ts";
import { longPatience, patience } from "../support/patience.ts";

const conflict = { status: 409, code: "CONFLICT" };

async function tryCreate(
  customer: Customer,
  fields: Record<string, unknown>,
  headers: Record<string, string> = {},
): Promise<ApiResponse> {
  const json = { name: "Spring", message: "Hello", audience: { all: true }, senderId: "ACME", ...fields };
  return customer.call("/v1/campaigns", { json, headers });
}

async function create(customer: Customer, fields: Record<string, unknown> = {}): Promise<Campaign> {
  return dataOf(await tryCreate(customer, fields), Campaign);
}

async function act(
  customer: Customer,
  id: string,
  action: "cancel" | "launch" | "pause" | "resume",
): Promise<ApiResponse> {
  return customer.call(`/v1/campaigns/${id}/${action}`, { method: "POST" });
}

async function get(customer: Customer, id: string): Promise<Campaign> {
  return dataOf(await customer.call(`/v1/campaigns/${id}`), Campaign);
}

/** Waits for a state. @returns the campaign in it */
async function reach(
  customer: Customer,
  id: string,
  status: Campaign["status"],
  within = patience,
): Promise<Campaign> {
  await vi.waitFor(async () => expect((await get(customer, id)).status).toBe(status), within);
  return get(customer, id);
}

async function messagesOf(customer: Customer): Promise<Message[]> {
  return pageOf(await customer.call("/v1/sms?limit=100"), Message).rows;
}

describe("a campaign", () => {
  it("goes to every contact once, with its own text, except those that it must not or cannot reach", async () => {
    const customer = await Customer.register({ balance: 1 });
    await importContacts(customer, 60, (index) => ({
      ...(index === 7 ? {} : { firstName: `Name${index}` }),
      optedOut: index % 20 === 0,
      attributes: { city: "Oslo" },
    }));
    const draft = await create(customer, { message: "Hi {{firstName}} in {{ city }}" });
    expect(draft).toMatchObject({ status: "draft", progress: { accepted: 0 } });
    expect((await act(customer, draft.id, "launch")).status).toBe(200);
    const { progress, startedAt, endedAt } = await reach(customer, draft.id, "completed");
    expect(progress).toEqual({
      accepted: 56,
      queued: 0,
      sent: 56,
      failed: 0,
      delivered: 0,
      undelivered: 0,
      receiptRate: null,
      skipped: { optedOut: 3, unrenderable: 1, unknown: 0 },
      charged: 0.4424,
      currency: "USD",
    });
    expect(Date.parse(endedAt ?? "")).toBeGreaterThanOrEqual(Date.parse(startedAt ?? ""));
    expect(await customer.balance()).toBe(0.5576);

    const expected = Array.from({ length: 60 }, (_, index) => index).filter(
      (index) => index % 20 !== 0 && index !== 7,
    );
    const messages = await messagesOf(customer);
    expect(messages.map(({ to, message }) => `${to} ${message}`).toSorted()).toEqual(
      expected.map((index) => `${numberOf(index)} Hi Name${index} in Oslo`),
    );
    expect(new Set(messages.map(({ campaignId, messageType }) => `${campaignId} ${messageType}`))).toEqual(
      new Set([`${draft.id} marketing`]),
    );
    expect(await expectLedgerToAddUp(customer)).toHaveLength(57);
  });

  it("is changed as a draft, and no longer once it is launched", async () => {
    const customer = await Customer.register({ balance: 1 });
    await importContacts(customer, 2, () => ({ tags: ["vip"] }));
    const template = await customer.client.createTemplate({
      body: { name: "sale", body: "From the template" },
    });
    const { id } = await create(customer, { expiresInSeconds: 3_600 });
    const change = async (json: object, by = customer): Promise<ApiResponse> =>
      by.call(`/v1/campaigns/${id}`, { method: "PATCH", json });
    const before = await get(customer, id);
    expect(dataOf(await change({}), Campaign)).toEqual(before);
    const changed = dataOf(await change({ templateId: template.id, expiresInSeconds: null }), Campaign);
    expect(changed).toMatchObject({ name: "Spring", message: "From the template", templateId: template.id });
    expect(changed).not.toHaveProperty("expiresInSeconds");
    const others = {
      message: "Hello again",
      audience: { tags: ["vip"] },
      senderId: "HARBOUR",
      language: "Unicode",
    };
    expect(dataOf(await change({ ...others, name: "Winter" }), Campaign)).toMatchObject({
      ...others,
      name: "Winter",
    });
    expect(await get(customer, id)).not.toHaveProperty("templateId");
    expect(invalidFields(await change({ scheduledAt: "2030-01-01T00:00:00Z" }))).toEqual(["scheduledAt"]);
    expect(invalidFields(await change({ message: "a", templateId: template.id }))).toEqual(["message"]);
    expect(invalidFields(await change({ message: "{{" }))).toEqual(["message"]);
    expect(errorOf(await change({}, await Customer.register()))).toEqual({ status: 404, code: "NOT_FOUND" });
    const [launched, late] = await Promise.all([
      act(customer, id, "launch"),
      change({ message: "Last words" }),
    ]);
    expect(launched.status).toBe(200);
    const { message } = await reach(customer, id, "completed");
    expect(message).toBe(late.status === 200 ? "Last words" : "Hello again");
    expect((await messagesOf(customer)).map((each) => each.message)).toEqual([message, message]);
    expect(errorOf(await change({ name: "Late" }))).toEqual(conflict);
  });

  it("goes to the named contacts, each once, or to those with one of its tags", async () => {
    const customer = await Customer.register({ balance: 1 });
    const ids = await importContacts(customer, 9, (index) => ({
      tags: [index % 3 === 0 ? "vip" : "other", ...(index === 1 ? ["beta"] : [])],
    }));
    const named = await create(customer, {
      audience: { contactIds: [ids[2], ids[4], ids[2], "con_01J00000000000000000000000"] },
    });
    const tagged = await create(customer, { audience: { tags: ["vip", "beta"] } });
    await Promise.all([act(customer, named.id, "launch"), act(customer, tagged.id, "launch")]);
    expect((await reach(customer, named.id, "completed")).progress).toMatchObject({
      accepted: 2,
      skipped: { unknown: 1 },
    });
    expect((await reach(customer, tagged.id, "completed")).progress).toMatchObject({ accepted: 4 });
    const to = (campaign: Campaign, messages: Message[]) =>
      messages.filter(({ campaignId }) => campaignId === campaign.id).map((message) => message.to);
    const messages = await messagesOf(customer);
    expect(to(named, messages).toSorted()).toEqual([2, 4].map(numberOf));
    expect(to(tagged, messages).toSorted()).toEqual([0, 1, 3, 6].map(numberOf));
    const { rows } = await customer.client.listSms({ query: { campaignId: named.id } });
    expect(rows.map((row) => row.to).toSorted()).toEqual([2, 4].map(numberOf));
  });

  it("gives each message its time to be sent, from when it was accepted", async () => {
    const customer = await Customer.register({ balance: 1 });
    await importContacts(customer, 2);
    const { id, expiresInSeconds } = await create(customer, { expiresInSeconds: 3_600, messageType: "otp" });
    expect(expiresInSeconds).toBe(3_600);
    await act(customer, id, "launch");
    await reach(customer, id, "completed");
    const messages = await messagesOf(customer);
    expect(messages).toHaveLength(2);
    for (const { queuedAt, expiresAt = "" } of messages) {
      expect(Date.parse(expiresAt) - Date.parse(queuedAt)).toBe(3_600_000);
    }
  });

  it("stops when the money runs out, reports that, and continues from there when it is launched again", async () => {
    const customer = await Customer.register({ balance: 0.06 });
    await importContacts(customer, 10);
    const { id } = await create(customer);
    await act(customer, id, "launch");
    const stopped = await reach(customer, id, "failed");
    expect(stopped).toMatchObject({ errorCode: "INSUFFICIENT_BALANCE", progress: { accepted: 7 } });
    expect(await customer.balance()).toBe(0.0047);
    await customer.topUp(1);
    const relaunched = dataOf(await act(customer, id, "launch"), Campaign);
    expect(relaunched.errorCode).toBeUndefined();
    expect((await reach(customer, id, "completed")).progress).toMatchObject({ accepted: 10, sent: 10 });
    const numbers = (await messagesOf(customer)).map(({ to }) => to).toSorted();
    expect(numbers).toEqual(Array.from({ length: 10 }, (_, index) => numberOf(index)));
    expect(await customer.balance()).toBe(0.981);
  });

  it("with a time is scheduled and starts by itself, not before", async () => {
    const customer = await Customer.register({ balance: 1 });
    await importContacts(customer, 2);
    const scheduledAt = new Date(Date.now() + 3_000).toISOString();
    const { id, status } = await create(customer, { scheduledAt });
    expect(status).toBe("scheduled");
    expect(errorOf(await act(customer, id, "launch"))).toEqual(conflict);
    const { progress, startedAt = "" } = await reach(customer, id, "completed", longPatience);
    expect(progress.sent).toBe(2);
    expect(Date.parse(startedAt)).toBeGreaterThanOrEqual(Date.parse(scheduledAt));
  });

  it("without recipients is not launched, and one without any left completes without a message", async () => {
    const customer = await Customer.register();
    const noRecipients = { status: 409, code: "NO_RECIPIENTS" };
    for (const audience of [{ all: true }, { tags: ["nobody"] }]) {
      const { id } = await create(customer, { audience });
      expect(errorOf(await act(customer, id, "launch"))).toEqual(noRecipients);
    }
    const [contact = ""] = await importContacts(customer, 1);
    const { id: named } = await create(customer, { audience: { contactIds: [contact] } });
    const { id } = await create(customer, { audience: { tags: ["nobody"] } });
    expect(errorOf(await act(customer, id, "launch"))).toEqual(noRecipients);
    await customer.client.updateContact({ params: { id: contact }, body: { optedOut: true } });
    await act(customer, named, "launch");
    expect((await reach(customer, named, "completed")).progress).toMatchObject({ accepted: 0, charged: 0 });
    expect(await messagesOf(customer)).toEqual([]);
  });

  it("is cancelled as a draft or while it waits, once and permanently, and not when it is finished", async () => {
    const customer = await Customer.register({ balance: 1 });
    await importContacts(customer, 1);
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
    for (const fields of [{}, { scheduledAt }]) {
      const { id } = await create(customer, fields);
      const first = await act(customer, id, "cancel");
      expect(first).toMatchObject({ status: 200, body: { data: { status: "cancelled" } } });
      expect((await act(customer, id, "cancel")).body).toEqual(first.body);
      expect(errorOf(await act(customer, id, "launch"))).toEqual(conflict);
    }
    const { id } = await create(customer);
    await act(customer, id, "launch");
    await reach(customer, id, "completed");
    expect(errorOf(await act(customer, id, "cancel"))).toEqual(conflict);
    expect(errorOf(await act(customer, id, "launch"))).toEqual(conflict);
    expect(await messagesOf(customer)).toHaveLength(1);
  });

  it("uses a template's text as it is when the campaign is created", async () => {
    const customer = await Customer.register();
    const template = await customer.call("/v1/templates", { json: { name: "hi", body: "Hi {{firstName}}" } });
    const { id: templateId } = Object(template.body).data;
    const campaign = await create(customer, { message: undefined, templateId });
    expect(campaign).toMatchObject({ message: "Hi {{firstName}}", templateId });
    await customer.call(`/v1/templates/${templateId}`, { method: "PATCH", json: { body: "Bye" } });
    expect((await get(customer, campaign.id)).message).toBe("Hi {{firstName}}");
  });

  it("uses the organization's sender ID when it names none, and needs one of them", async () => {
    const customer = await Customer.register();
    expect(errorOf(await tryCreate(customer, { senderId: undefined }))).toEqual({
      status: 400,
      code: "MISSING_SENDER_ID",
    });
  });

  it("is created once for an Idempotency-Key", async () => {
    const customer = await Customer.register();
    const key = { "Idempotency-Key": "spring" };
    const first = await tryCreate(customer, {}, key);
    const again = await tryCreate(customer, {}, key);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(again.body).toEqual(first.body);
    expect(errorOf(await tryCreate(customer, { name: "Autumn" }, key)).code).toBe("IDEMPOTENCY_KEY_REUSED");
    expect(pageOf(await customer.call("/v1/campaigns"), Campaign).meta.total).toBe(1);
  });

  it("of another organization is not found", async () => {
    const [owner, stranger] = await Promise.all([Customer.register(), Customer.register()]);
    const { id } = await create(owner);
    const notFound = { status: 404, code: "NOT_FOUND" };
    expect(errorOf(await stranger.call(`/v1/campaigns/${id}`))).toEqual(notFound);
    expect(errorOf(await act(stranger, id, "launch"))).toEqual(notFound);
    expect(errorOf(await act(stranger, id, "cancel"))).toEqual(notFound);
    expect((await get(owner, id)).status).toBe("draft");
  });
});

describe("campaigns", () => {
  it("are listed newest first, with their progress", async () => {
    const customer = await Customer.register({ balance: 1 });
    await importContacts(customer, 3);
    const older = await create(customer, { name: "older" });
    const newer = await create(customer, { name: "newer" });
    await act(customer, older.id, "launch");
    const completed = await reach(customer, older.id, "completed");
    const { rows, meta } = pageOf(await customer.call("/v1/campaigns"), Campaign);
    expect(rows).toEqual([newer, completed]);
    expect(meta).toEqual({ page: 1, limit: 20, total: 2, totalPages: 1 });
  });

  it.each([
    [
      "an unknown template",
      { message: undefined, templateId: "tpl_01J00000000000000000000000" },
      "templateId",
    ],
    ["both a text and a template", { templateId: "tpl_01J00000000000000000000000" }, "message"],
    ["a malformed placeholder", { message: "Hi {{1}}" }, "message"],
    ["a time in the past", { scheduledAt: "2020-01-01T00:00:00Z" }, "scheduledAt"],
    ["a time beyond 30 days", { scheduledAt: "2099-01-01T00:00:00Z" }, "scheduledAt"],
  ])("are rejected with %s", async (_name, fields, path) => {
    const response = await tryCreate(await Customer.register(), fields);
    expect(errorOf(response)).toEqual({ status: 400, code: "VALIDATION_ERROR" });
    expect(invalidFields(response)).toEqual([path]);
  });
});
