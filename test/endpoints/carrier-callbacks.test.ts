import { createHash, randomUUID } from "node:crypto";

import { beforeAll, describe, expect, it, vi } from "vitest";

import { InboundMessage } from "../../shared/api/contract/inbound.ts";
import { MessageRecord } from "../../shared/messages/message/record.ts";
import { assignNumber } from "../../shared/messages/numbers/record.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { messageKey } from "../../shared/platform/table/shards.ts";
import { putItem, updateItem, updateOf, putUnchecked } from "../../shared/platform/table/write.ts";
import { call, Customer, errorOf, pageOf, type ApiCall, type ApiResponse } from "../support/api.ts";
import { patience } from "../support/patience.ts";

const suffix = randomUUID().slice(0, 8);
const kannel = `kannel-${suffix}`;
const http = `http-${suffix}`;
const token = randomUUID();
const notFound = { status: 404, code: "NOT_FOUND" };
const invalid = { status: 400, code: "VALIDATION_ERROR" };

async function putCarrier(name: string, settings: object): Promise<void> {
  const at = new Date().toISOString();
  const callbackTokenHash = createHash("sha256").update(token).digest("hex");
  await putItem(
    putUnchecked(keys.carrier(name), {
      entity: "carrier",
      name,
      settings,
      createdAt: at,
      updatedAt: at,
      callbackTokenHash,
    }),
  );
}

async function report(
  path: string,
  fields: Record<string, string> = {},
  options: ApiCall = {},
): Promise<ApiResponse> {
  return call(`/v1/carriers/${path}?${new URLSearchParams({ token, ...fields }).toString()}`, options);
}

let customer: Customer;
let number: string;
beforeAll(async () => {
  customer = await Customer.register({ balance: 1 });
  number = `1202${String(Date.now()).slice(-7)}`;
  await assignNumber({ number, organizationId: customer.organizationId });
  await putCarrier(kannel, { kind: "kannel", url: "http://127.0.0.1:9/cgi-bin/sendsms" });
  await putCarrier(http, {
    kind: "http",
    url: "http://127.0.0.1:9/send",
    responses: [{ meaning: "accepted", statuses: [200] }],
    receipts: { statusPath: "status", delivered: ["ok"], undelivered: ["no"], referencePath: "reference" },
    inbound: { fromPath: "from", toPath: "to", textPath: "text", idPath: "id" },
  });
  // The functions use a list of carriers that may be half a minute old.
  await vi.waitFor(async () => {
    const answers = [await report(`${kannel}/receipts`), await report(`${http}/receipts`, {}, { json: {} })];
    if (answers.some(({ status }) => status === notFound.status))
      throw new Error("a carrier is not known yet");
  }, patience);
});

/** Returns a message that a carrier has, so that its receipt arrives before it counts as sent. */
async function messageAt(carrier: string): Promise<{ id: string; reference: string }> {
  const { organizationId } = customer;
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
  const { id } = await customer.send({ scheduledAt });
  await updateItem(MessageRecord, updateOf(messageKey({ organizationId, id }), { set: { carrier } }));
  return { id, reference: `${organizationId}.${id}` };
}

describe("a receipt", () => {
  it("of a carrier that calls an address sets the delivery of its message, and not its status", async () => {
    const { id, reference } = await messageAt(kannel);
    const answer = await report(`${kannel}/receipts`, { reference, type: "8", answer: "ACK/" });
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining("<Response/>")]);
    await report(`${kannel}/receipts`, { reference, type: "2", answer: "id:1 stat:EXPIRED err:001" });
    const get = async () => customer.client.getSms({ params: { id } });
    await vi.waitFor(async () => {
      expect(await get()).toMatchObject({
        status: "queued",
        delivery: { status: "undelivered", errorCode: "DELIVERY_EXPIRED" },
      });
    }, patience);
    await report(`${kannel}/receipts`, { reference, type: "1", answer: "id:1 stat:DELIVRD err:000" });
    await vi.waitFor(async () => expect((await get()).delivery?.status).toBe("delivered"), patience);
    expect((await get()).delivery?.errorCode).toBeUndefined();
    const stats = await customer.client.getDashboardStats();
    expect(stats.today).toMatchObject({ delivered: 1, undelivered: 0, receiptRate: 1 });
  });

  it("is accepted as JSON or as a form from a carrier that posts", async () => {
    const [first, second] = [await messageAt(http), await messageAt(http)];
    const json = { status: "ok", reference: first.reference };
    expect((await report(`${http}/receipts`, {}, { json })).status).toBe(200);
    const form = {
      raw: new URLSearchParams({ status: "no", reference: second.reference }).toString(),
      headers: { "Content-Type": "application/x-www-form-urlencoded; charset=utf-8" },
    };
    expect((await report(`${http}/receipts`, {}, form)).status).toBe(200);
    await vi.waitFor(async () => {
      const { rows } = await customer.client.listSms();
      const statusOf = (id: string) => rows.find((row) => row.id === id)?.delivery;
      expect(statusOf(first.id)).toMatchObject({ status: "delivered" });
      expect(statusOf(second.id)).toMatchObject({ status: "undelivered", errorCode: "DELIVERY_FAILED" });
    }, patience);
  });

  it("is accepted in a list of several, and rejected in an empty or wrong list", async () => {
    const [first, second] = [await messageAt(http), await messageAt(http)];
    const json = [first, second].map(({ reference }) => ({ status: "ok", reference }));
    expect((await report(`${http}/receipts`, {}, { json })).status).toBe(200);
    for (const { id } of [first, second]) {
      await vi.waitFor(async () => {
        const { delivery } = await customer.client.getSms({ params: { id } });
        expect(delivery?.status).toBe("delivered");
      }, patience);
    }
    for (const wrong of [[], ["ok"], [json]]) {
      expect(errorOf(await report(`${http}/receipts`, {}, { json: wrong }))).toEqual(invalid);
    }
  });

  it("of an unknown message is accepted, so that the carrier does not repeat it", async () => {
    const reference = `${customer.organizationId}.msg_01J00000000000000000000000`;
    expect((await report(`${kannel}/receipts`, { reference, type: "1" })).status).toBe(200);
  });
});

it("an inbound message is listed for the owner of its number, and STOP is obeyed", async () => {
  const from = "15005550077";
  await report(`${kannel}/inbound`, {
    from: `+${from}`,
    to: number,
    text: "Stöp it",
    id: "1",
    charset: "UTF-8",
  });
  await report(`${http}/inbound`, {}, { json: { from, to: number, text: "Stop.", id: "2" } });
  await report(`${http}/inbound`, {}, { json: { from, to: number, text: "Stop.", id: "2" } });
  // They are one number in JavaScript.
  const longIds = ["7091800003790954036", "7091800003790954037"];
  for (const id of longIds) {
    await report(`${http}/inbound`, {}, { raw: `{"from":${from},"to":${number},"text":"${id}","id":${id}}` });
  }
  await vi.waitFor(async () => {
    const { rows } = pageOf(await customer.call("/v1/inbound"), InboundMessage);
    expect(rows.map(({ message }) => message).toSorted()).toEqual([...longIds, "Stop.", "Stöp it"]);
  }, patience);
  await vi.waitFor(async () => {
    expect(await customer.client.getOptOut({ params: { phoneNumber: from } })).toMatchObject({
      source: "reply",
    });
  }, patience);
  const rejected = await customer.trySend({ to: from, messageType: "marketing" });
  expect(errorOf(rejected)).toEqual({ status: 403, code: "RECIPIENT_OPTED_OUT" });
});

describe("a caller other than our carriers", () => {
  it.each([
    ["an unknown carrier", "none/receipts", {}],
    ["another token", `${kannel}/receipts`, { token: "guess" }],
    ["no token", `${kannel}/receipts`, { token: "" }],
    ["an unknown kind of report", `${kannel}/refunds`, {}],
  ])("gets only a 404: %s", async (_, path, fields) => {
    expect(errorOf(await report(path, fields))).toEqual(notFound);
    expect(errorOf(await report(path, fields, { json: {} }))).toEqual(notFound);
  });

  it.each([
    ["no reference", { type: "1" }],
    ["another's reference", { type: "1", reference: "their-own" }],
    ["no type", { reference: "org_01J00000000000000000000000.msg_01J00000000000000000000000" }],
  ])("a receipt that cannot be understood is rejected: %s", async (_, fields) => {
    expect(errorOf(await report(`${kannel}/receipts`, fields))).toEqual(invalid);
    expect(errorOf(await report(`${kannel}/inbound`, fields))).toEqual(invalid);
  });
});
