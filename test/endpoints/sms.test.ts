import { beforeAll, describe, expect, it, vi } from "vitest";

import { AcceptedMessage, Estimate, Message } from "../../shared/api/contract/sms.ts";
import { call, Customer, dataOf, errorOf, invalidFields, pageOf } from "../support/api.ts";
import { expectLedgerToAddUp } from "../support/ledger.ts";
import { patience } from "../support/patience.ts";

const invalid = { status: 400, code: "VALIDATION_ERROR" };

describe("sending", () => {
  let customer: Customer;
  beforeAll(async () => {
    customer = await Customer.register({ balance: 1_000 });
  });

  it("accepts a message, debits the wallet immediately and returns the cost", async () => {
    const sender = await Customer.register({ balance: 1 });
    const response = await sender.trySend({ to: "447700900123", message: "x".repeat(161) });
    expect(response.status).toBe(202);
    expect(response.body).toEqual({ data: dataOf(response, AcceptedMessage) });
    expect(dataOf(response, AcceptedMessage)).toMatchObject({
      status: "queued",
      to: "447700900123",
      pricing: { segments: 2, unitPrice: 0.046, total: 0.092, currency: "USD" },
    });
    expect(await sender.balance()).toBe(0.908);
  });

  it("brings a message from queued to sent", async () => {
    const { id } = await customer.send({ message: "Grüße, 你好" });
    await vi.waitFor(async () => expect((await customer.message(id)).status).toBe("sent"), patience);
    const message = await customer.message(id);
    expect(Message.parse(message)).toEqual(message);
    expect(message).toMatchObject({ message: "Grüße, 你好", senderId: "ACME", encoding: "UCS-2" });
    expect(Date.parse(message.sentAt ?? "")).toBeGreaterThanOrEqual(Date.parse(message.queuedAt));
  });

  it.each([
    ["15005550001", "MESSAGE_INVALID_DESTINATION"],
    ["15005550002", "MESSAGE_UNROUTABLE"],
    ["15005550006", "MESSAGE_PROVIDER_ERROR"],
  ])(
    "brings a message to %s from queued to failed, with %s, and returns its price",
    async (to, errorCode) => {
      const sender = await Customer.register({ balance: 1 });
      const { id } = await sender.send({ to });
      await vi.waitFor(async () => expect((await sender.message(id)).status).toBe("failed"), patience);
      expect(await sender.message(id)).toMatchObject({ errorCode });
      await vi.waitFor(async () => expect(await sender.balance()).toBe(1), patience);
      const entries = (await sender.ledger()).map(({ type, amount, messageId }) => ({
        type,
        amount,
        messageId,
      }));
      expect(entries).toEqual([
        { type: "top_up", amount: 1, messageId: undefined },
        { type: "message", amount: -0.0079, messageId: id },
        { type: "refund", amount: 0.0079, messageId: id },
      ]);
    },
  );

  it("tries again when the carrier throttles it", async () => {
    const { id } = await customer.send({ to: "15005550003" });
    await vi.waitFor(async () => expect((await customer.message(id)).status).toBe("sent"), 20_000);
    const { queuedAt, sentAt } = await customer.message(id);
    // Two waits, of 1 and 5 seconds, lie between the three attempts.
    expect(Date.parse(sentAt ?? "") - Date.parse(queuedAt)).toBeGreaterThanOrEqual(6_000);
  });

  it.each([
    ["15005550007", { status: "delivered" }],
    ["15005550008", { status: "undelivered", errorCode: "DELIVERY_UNREACHABLE" }],
  ])("to %s is sent, and its receipt follows a moment later: %j", async (to, said) => {
    const { id } = await customer.send({ to });
    await vi.waitFor(async () => {
      expect(await customer.message(id)).toMatchObject({ status: "sent", delivery: said });
    }, patience);
  });

  it("accepts the documented forms of every field", async () => {
    const soon = new Date(Date.now() + 3_600_000);
    for (const fields of [
      { message: "x".repeat(1_600) },
      { message: "😀".repeat(1_600) },
      { message: "line\nbreak\ttab\u0000nul" },
      { senderId: "A" },
      { senderId: "ABCDEFGHI12" },
      { language: "Unicode" },
      { messageType: "otp" },
      { messageType: "transactional" },
      { messageType: "marketing" },
      { scheduledAt: soon.toISOString() },
      { scheduledAt: soon.toISOString().replace("Z", "+00:00") },
      { expiresInSeconds: 60 },
      { expiresInSeconds: 259_200 },
      // The shortest and the longest possible numbers, and one that is not assigned.
      { to: "2904567" },
      { to: "431234567890123" },
      { to: "15551234567" },
    ]) {
      expect((await customer.trySend(fields)).status, JSON.stringify(fields).slice(0, 80)).toBe(202);
    }
  });

  it.each([
    ["a missing to", { to: undefined }, "to"],
    ["to with a plus sign", { to: "+15005550000" }, "to"],
    ["to with spaces", { to: "1500 555 0000" }, "to"],
    ["to with a newline at its end", { to: "15005550000\n" }, "to"],
    ["to in Arabic digits", { to: "١٥٠٠٥٥٥٠٠٠٠" }, "to"],
    ["to as a number", { to: 15005550000 }, "to"],
    ["to with a leading zero", { to: "015005550000" }, "to"],
    ["to that is too short", { to: "123456" }, "to"],
    ["to that is too long", { to: "1234567890123456" }, "to"],
    ["a missing message", { message: undefined }, "message"],
    ["an empty message", { message: "" }, "message"],
    ["a message of 1,601 characters", { message: "x".repeat(1_601) }, "message"],
    ["a message that is not text", { message: ["hello"] }, "message"],
    ["an empty senderId", { senderId: "" }, "senderId"],
    ["a senderId of 12 characters", { senderId: "ABCDEFGHI123" }, "senderId"],
    ["a senderId with a newline at its end", { senderId: "ACME\n" }, "senderId"],
    ["a senderId with a space", { senderId: "AC ME" }, "senderId"],
    ["a senderId with an accent", { senderId: "ÄCME" }, "senderId"],
    ["an unknown language", { language: "Klingon" }, "language"],
    ["an unknown messageType", { messageType: "spam" }, "messageType"],
    ["a scheduledAt that is no time", { scheduledAt: "tomorrow" }, "scheduledAt"],
    ["a scheduledAt without a time zone", { scheduledAt: "2099-01-01T00:00:00" }, "scheduledAt"],
    ["a scheduledAt on a day that does not exist", { scheduledAt: "2099-02-30T00:00:00Z" }, "scheduledAt"],
    ["a scheduledAt in the past", { scheduledAt: "2020-01-01T00:00:00Z" }, "scheduledAt"],
    ["an expiresInSeconds below a minute", { expiresInSeconds: 59 }, "expiresInSeconds"],
    ["an expiresInSeconds beyond three days", { expiresInSeconds: 259_201 }, "expiresInSeconds"],
    ["an expiresInSeconds that is not a whole number", { expiresInSeconds: 60.5 }, "expiresInSeconds"],
    ["an expiresInSeconds as text", { expiresInSeconds: "60" }, "expiresInSeconds"],
    ["a scheduledAt beyond 30 days", { scheduledAt: "2099-01-01T00:00:00Z" }, "scheduledAt"],
  ])("rejects %s, names the field and debits nothing", async (_name, fields, path) => {
    const before = await customer.balance();
    const response = await customer.trySend(fields);
    expect(errorOf(response)).toEqual(invalid);
    expect(invalidFields(response)).toEqual([path]);
    expect(await customer.balance()).toBe(before);
  });

  it("uses the last of two equal keys, and accepts no body in base64", async () => {
    const raw = '{"to":"nonsense","to":"15005550000","message":"x","senderId":"ACME"}';
    expect((await customer.call("/v1/sms/send", { raw })).status).toBe(202);
    const base64 = Buffer.from(raw).toString("base64");
    expect(errorOf(await customer.call("/v1/sms/send", { raw: base64 }))).toEqual(invalid);
  });

  it("checks in the documented order: fields, sender ID, wallet, balance", async () => {
    const poor = await Customer.register();
    expect(errorOf(await poor.trySend({ senderId: undefined, to: "x" }))).toEqual(invalid);
    expect(errorOf(await poor.trySend({ senderId: undefined }))).toEqual({
      status: 400,
      code: "MISSING_SENDER_ID",
    });
    expect(errorOf(await poor.trySend())).toEqual({ status: 402, code: "INSUFFICIENT_BALANCE" });
  });

  it("accepts exactly as many of 100 parallel messages as the balance covers", async () => {
    const racer = await Customer.register({ balance: 0.3 });
    // 37 messages at 0.0079 cost 0.2923; the remaining 0.0077 do not cover another one.
    const responses = await Promise.all(
      Array.from({ length: 100 }, async () => {
        for (;;) {
          const response = await racer.trySend();
          // A machine that is too busy for all of them returns retryable errors to some.
          if (response.status !== 503) return response;
        }
      }),
    );
    expect(responses.filter(({ status }) => status === 202)).toHaveLength(37);
    const rejected = responses.filter(({ status }) => status === 402);
    expect(rejected).toHaveLength(63);
    expect(new Set(rejected.map((response) => errorOf(response).code))).toEqual(
      new Set(["INSUFFICIENT_BALANCE"]),
    );
    expect(await racer.balance()).toBe(0.0077);

    const ledger = await expectLedgerToAddUp(racer);
    expect(ledger).toHaveLength(38);
    const accepted = responses
      .filter(({ status }) => status === 202)
      .map((response) => dataOf(response, AcceptedMessage).id);
    expect(new Set(ledger.slice(1).map(({ messageId }) => messageId))).toEqual(new Set(accepted));
  });
});

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
    const { rows, meta } = await customer.client.listSms({ query: { status: "sent", limit: 1 } });
    expect([rows.map(({ id }) => id), meta.total]).toEqual([[sent[0]], 2]);
    expect(await idsOf({ query: { status: "sent", limit: 1, cursor: meta.nextCursor } })).toEqual([sent[1]]);
    const response = await customer.call("/v1/sms?status=lost&to=150055");
    expect(errorOf(response)).toEqual(invalid);
    expect(invalidFields(response).toSorted()).toEqual(["status", "to"]);
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
    await vi.waitFor(async () => expect((await customer.message(id)).status).toBe("sent"), patience);
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

describe("an estimate", () => {
  it("shows the cost of a message and whether the balance covers it, and debits nothing", async () => {
    const customer = await Customer.register({ balance: 0.1 });
    const estimate = async (json: Record<string, unknown>) =>
      dataOf(await customer.call("/v1/sms/estimate", { json }), Estimate);
    expect(await estimate({ to: "447700900123", message: "x".repeat(161) })).toEqual({
      to: "447700900123",
      encoding: "GSM-7",
      pricing: { segments: 2, unitPrice: 0.046, total: 0.092, currency: "USD" },
      balance: 0.1,
      isCovered: true,
    });
    expect(await estimate({ to: "447700900123", message: "你".repeat(141) })).toMatchObject({
      encoding: "UCS-2",
      pricing: { segments: 3 },
      isCovered: false,
    });
    expect(await estimate({ to: "447700900123", message: "hi", language: "Unicode" })).toMatchObject({
      encoding: "UCS-2",
      pricing: { segments: 1 },
    });
    expect(await customer.balance()).toBe(0.1);
    expect(await customer.ledger()).toHaveLength(1);
    const invalidNumber = await customer.call("/v1/sms/estimate", { json: { to: "+1", message: "x" } });
    expect(invalidFields(invalidNumber)).toEqual(["to"]);
  });
});

describe("marketing to a contact who has opted out", () => {
  const to = "15005550020";
  const rejected = { status: 403, code: "RECIPIENT_OPTED_OUT" };
  let customer: Customer;
  let id: string;
  beforeAll(async () => {
    customer = await Customer.register({ balance: 1 });
    ({ id } = await customer.client.createContact({ body: { phoneNumber: to, optedOut: true } }));
  });

  it("is rejected and costs nothing, also with a schedule or a template", async () => {
    const { client } = customer;
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
    expect(errorOf(await customer.trySend({ to, messageType: "marketing" }))).toEqual(rejected);
    expect(errorOf(await customer.trySend({ to, messageType: "marketing", scheduledAt }))).toEqual(rejected);
    const { id: templateId } = await client.createTemplate({ body: { name: "sale", body: "Sale" } });
    const json = { to, senderId: "ACME", messageType: "marketing" };
    expect(errorOf(await customer.call(`/v1/templates/${templateId}/send`, { json }))).toEqual(rejected);
    expect(await customer.balance()).toBe(1);
  });

  it("is the only rejected type, and only to that contact", async () => {
    const stranger = await Customer.register({ balance: 1 });
    const answers = [
      await customer.trySend({ to, messageType: "otp" }),
      await customer.trySend({ to, messageType: "transactional" }),
      await customer.trySend({ to }),
      await customer.trySend({ to: "15005550021", messageType: "marketing" }),
      await stranger.trySend({ to, messageType: "marketing" }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202]);
    await customer.client.updateContact({ params: { id }, body: { optedOut: false } });
    expect((await customer.trySend({ to, messageType: "marketing" })).status).toBe(202);
  });
});
