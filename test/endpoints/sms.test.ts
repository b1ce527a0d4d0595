import { beforeAll, describe, expect, it, vi } from "vitest";

import { Estimate } from "../../shared/api/contract/estimates.ts";
import { AcceptedMessage, Message } from "../../shared/api/contract/sms.ts";
import { Customer, dataOf, errorOf, invalidFields } from "../support/api.ts";
import { expectLedgerToAddUp } from "../support/ledger.ts";
import { longPatience, patience } from "../support/patience.ts";

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
    await vi.waitFor(async () => expect((await customer.message(id)).status).toBe("sent"), longPatience);
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
    ["to with a plus sign", { to: "+15005550000" }, "to"],
    ["a scheduledAt in the past", { scheduledAt: "2020-01-01T00:00:00Z" }, "scheduledAt"],
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
