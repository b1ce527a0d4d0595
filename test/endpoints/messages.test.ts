import { describe, expect, it, vi } from "vitest";

import { AcceptedMessage, Message } from "../../shared/api/contract/sms.ts";
import { call, Customer, dataOf, errorOf, invalidFields, pageOf } from "../support/api.ts";
import { expectLedgerToAddUp } from "../support/ledger.ts";
import { longPatience, patience } from "../support/patience.ts";

const invalid = { status: 400, code: "VALIDATION_ERROR" };

describe("messages", () => {
  it("of another organization are not found", async () => {
    const [owner, stranger] = await Promise.all([Customer.register({ balance: 1 }), Customer.register()]);
    const { id } = await owner.send();
    expect((await owner.call(`/v1/sms/${id}`)).status).toBe(200);
    expect(errorOf(await stranger.call(`/v1/sms/${id}`))).toEqual({ status: 404, code: "NOT_FOUND" });
    expect((await stranger.call("/v1/sms")).body).toMatchObject({ data: [], meta: { total: 0 } });
  });

  it("are listed newest first, page by page and by cursor", async () => {
    const customer = await Customer.register({ balance: 1 });
    const ids: string[] = [];
    for (let count = 0; count < 7; count += 1) ids.unshift((await customer.send()).id);
    const list = async (query: string) => {
      const { rows, meta } = pageOf(await customer.call(`/v1/sms?${query}`), Message);
      return { ids: rows.map(({ id }) => id), meta };
    };
    const all = await list("");
    expect(all.ids).toEqual(ids);
    expect(all.meta).toEqual({ page: 1, limit: 20, total: 7, totalPages: 1 });

    const first = await list("limit=3");
    expect(first.ids).toEqual(ids.slice(0, 3));
    expect((await list("limit=3&page=2")).ids).toEqual(ids.slice(3, 6));
    const last = await list("limit=3&page=3");
    expect(last.ids).toEqual(ids.slice(6));
    expect(last.meta).toEqual({ page: 3, limit: 3, total: 7, totalPages: 3 });
    expect((await list("limit=3&page=4")).ids).toEqual([]);

    const walked = first.ids;
    let { nextCursor } = first.meta;
    while (nextCursor !== undefined) {
      const page = await list(`limit=3&cursor=${nextCursor}`);
      walked.push(...page.ids);
      ({ nextCursor } = page.meta);
    }
    expect(walked).toEqual(ids);
  });

  it("are listed by state and by number, alone and together", async () => {
    const customer = await Customer.register({ balance: 1 });
    const failed = await customer.send({ to: "15005550001" });
    const sent = [await customer.send(), await customer.send()].map(({ id }) => id).toReversed();
    const waiting = await customer.send({ scheduledAt: new Date(Date.now() + 86_400_000).toISOString() });
    const idsOf = async (query: Parameters<typeof customer.client.listSms>[0]): Promise<string[]> =>
      (await customer.client.listSms(query)).rows.map(({ id }) => id);
    await vi.waitFor(async () => expect(await idsOf({ query: { status: "sent" } })).toEqual(sent), patience);
    await vi.waitFor(
      async () => expect(await idsOf({ query: { status: "failed" } })).toEqual([failed.id]),
      patience,
    );
    expect(await idsOf({ query: { to: "15005550001" } })).toEqual([failed.id]);
    expect(await idsOf({ query: { to: "15005550000" } })).toEqual([waiting.id, ...sent]);
    expect(await idsOf({ query: { to: "15005550000", status: "queued" } })).toEqual([waiting.id]);
    expect(await idsOf({ query: { to: "15005550009" } })).toEqual([]);
    expect(await idsOf({ query: { displayStatus: "scheduled" } })).toEqual([waiting.id]);
    expect(await idsOf({ query: { displayStatus: "queued" } })).toEqual([]);
    const { rows, meta } = await customer.client.listSms({ query: { status: "sent", limit: 1 } });
    expect([rows.map(({ id }) => id), meta.total]).toEqual([[sent[0]], 2]);
    expect(await idsOf({ query: { status: "sent", limit: 1, cursor: meta.nextCursor } })).toEqual([sent[1]]);
    const response = await customer.call("/v1/sms?status=lost&to=150055");
    expect(errorOf(response)).toEqual(invalid);
    expect(invalidFields(response).toSorted()).toEqual(["status", "to"]);
  });

  it("are found by text, a number as people write it, time, sender and campaign", async () => {
    const customer = await Customer.register({ balance: 1 });
    const bob = await customer.send({
      to: "447700900123",
      message: "Bob, see you on Tuesday",
      senderId: "HARBOUR",
    });
    const { queuedAt } = bob;
    const ada = await customer.send({ to: "15005550000", message: "Your code is 900123" });
    const idsOf = async (
      query: NonNullable<NonNullable<Parameters<typeof customer.client.listSms>[0]>["query"]>,
    ): Promise<string[]> => (await customer.client.listSms({ query })).rows.map(({ id }) => id);
    expect(await idsOf({ search: "TUESDAY" })).toEqual([bob.id]);
    for (const search of ["07700 900123", "+44 (0)7700 900123", "0044 7700-900.123", "900123"]) {
      expect(await idsOf({ search })).toEqual([bob.id]);
    }
    expect(await idsOf({ search: "07700" })).toEqual([]);
    expect(await idsOf({ search: "12" })).toEqual([ada.id]);
    expect(await idsOf({ search: ".*" })).toEqual([]);
    expect(await idsOf({ senderId: "HARBOUR" })).toEqual([bob.id]);
    expect(await idsOf({ campaignId: "cmp_01K4ZZZZZZZZZZZZZZZZZZZZZZ" })).toEqual([]);
    const later = new Date(Date.parse(ada.queuedAt) + 1).toISOString();
    expect(await idsOf({ after: queuedAt })).toEqual([ada.id, bob.id]);
    expect(await idsOf({ after: ada.queuedAt })).toEqual([ada.id]);
    expect(await idsOf({ after: later })).toEqual([]);
    expect(await idsOf({ before: ada.queuedAt })).toEqual([bob.id]);
    expect(await idsOf({ after: queuedAt, before: later, search: "code" })).toEqual([ada.id]);
    expect(await idsOf({ after: later, before: queuedAt })).toEqual([]);
    const distant = { after: "2999-01-01T00:00:00Z", before: "2001-01-01T00:00:00Z" };
    expect(await idsOf(distant)).toEqual([]);
    expect(await idsOf({ ...distant, search: "900123" })).toEqual([]);
    const first = await customer.client.listSms({ query: { after: queuedAt, limit: 1 } });
    expect(await idsOf({ after: queuedAt, limit: 1, cursor: first.meta.nextCursor })).toEqual([bob.id]);
    const response = await customer.call("/v1/sms?after=yesterday&search=&campaignId=7");
    expect(errorOf(response)).toEqual(invalid);
    expect(invalidFields(response).toSorted()).toEqual(["after", "campaignId", "search"]);
  });

  it("that wait for their time are listed, also those of one API key", async () => {
    const customer = await Customer.register({ balance: 1 });
    const { id: apiKeyId, secret } = await customer.createApiKey();
    const scheduledAt = new Date(Date.now() + 86_400_000).toISOString();
    await customer.send();
    const own = await customer.send({ scheduledAt });
    const json = { to: "15005550000", message: "hi", senderId: "ACME", scheduledAt };
    const sent = await call("/v1/sms/send", { credential: secret, json });
    const ofKey = dataOf(sent, AcceptedMessage);
    const idsOf = async (query: { scheduled?: boolean; apiKeyId?: string }): Promise<string[]> =>
      (await customer.client.listSms({ query: { scheduled: true, ...query } })).rows.map(({ id }) => id);
    expect(await idsOf({})).toEqual([ofKey.id, own.id]);
    expect(await idsOf({ apiKeyId })).toEqual([ofKey.id]);
    expect(await idsOf({ scheduled: false })).toHaveLength(3);
    await customer.client.cancelSms({ params: { id: ofKey.id } });
    expect(await idsOf({ apiKeyId })).toEqual([]);
  });

  it("beyond 10,000 rows are reached by cursor, as the error states", async () => {
    const customer = await Customer.register();
    expect((await customer.call("/v1/sms?page=100&limit=100")).status).toBe(200);
    const tooDeep = await customer.call("/v1/sms?page=101&limit=100");
    expect(errorOf(tooDeep)).toEqual(invalid);
    expect(tooDeep.text).toContain("cursor");
  });
});

describe("a scheduled message", () => {
  const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString();
  const conflict = { status: 409, code: "CONFLICT" };
  const cancel = async (customer: Customer, id: string) =>
    customer.call(`/v1/sms/${id}`, { method: "DELETE" });

  it("is paid immediately and leaves at its time, never before", async () => {
    const customer = await Customer.register({ balance: 1 });
    const scheduledAt = new Date(Date.now() + 2_500).toISOString();
    const { id } = await customer.send({ scheduledAt });
    expect(await customer.balance()).toBe(0.9921);
    await vi.waitFor(async () => expect((await customer.message(id)).status).toBe("sent"), longPatience);
    const { sentAt = "" } = await customer.message(id);
    expect(Date.parse(sentAt)).toBeGreaterThanOrEqual(Date.parse(scheduledAt));
  });

  it("is cancelled and refunded once, with the same response to repetitions", async () => {
    const customer = await Customer.register({ balance: 1 });
    for (const scheduledAt of [inAnHour(), new Date(Date.now() + 600_000).toISOString()]) {
      const { id } = await customer.send({ scheduledAt });
      expect(await customer.balance()).toBe(0.9921);
      const [first, ...others] = await Promise.all([1, 2, 3].map(async () => cancel(customer, id)));
      expect(first).toMatchObject({ status: 200, body: { data: { id, status: "cancelled" } } });
      for (const other of [...others, await cancel(customer, id)]) expect(other.body).toEqual(first?.body);
      expect(await customer.balance()).toBe(1);
      expect((await customer.message(id)).status).toBe("cancelled");
    }
    const types = (await expectLedgerToAddUp(customer)).map(({ type }) => type);
    expect(types).toEqual(["top_up", "message", "refund", "message", "refund"]);
  });

  it("cannot be cancelled too late, without a schedule, or by another customer", async () => {
    const customer = await Customer.register({ balance: 1 });
    const { id: unscheduled } = await customer.send();
    expect(errorOf(await cancel(customer, unscheduled))).toEqual(conflict);
    const { id } = await customer.send({ scheduledAt: new Date(Date.now() + 1_500).toISOString() });
    await vi.waitFor(async () => expect((await customer.message(id)).status).toBe("sent"), patience);
    expect(errorOf(await cancel(customer, id))).toEqual(conflict);
    const { id: waiting } = await customer.send({ scheduledAt: inAnHour() });
    const stranger = await Customer.register();
    expect(errorOf(await cancel(stranger, waiting))).toEqual({ status: 404, code: "NOT_FOUND" });
    expect((await customer.message(waiting)).status).toBe("queued");
  });
});

describe("a message that expires", () => {
  it("shows when, after its schedule if it has one, in its response and in its view", async () => {
    const customer = await Customer.register({ balance: 1 });
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
    const later = await customer.send({ scheduledAt, expiresInSeconds: 60 });
    expect(Date.parse(later.expiresAt ?? "") - Date.parse(scheduledAt)).toBe(60_000);
    expect((await customer.message(later.id)).expiresAt).toBe(later.expiresAt);
    const code = await customer.send({ messageType: "otp" });
    expect(Date.parse(code.expiresAt ?? "") - Date.parse(code.queuedAt)).toBe(600_000);
    expect((await customer.send()).expiresAt).toBeUndefined();
  });
});
