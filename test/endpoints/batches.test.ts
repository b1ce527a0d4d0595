import { beforeAll, describe, expect, it } from "vitest";

import { AcceptedBatch, BatchEstimate } from "../../shared/api/contract/batches.ts";
import { Message } from "../../shared/api/contract/sms.ts";
import { Template } from "../../shared/api/contract/templates.ts";
import { Customer, dataOf, errorOf, invalidFields, pageOf, type ApiResponse } from "../support/api.ts";
import { isOnEmulator } from "../support/emulator.ts";

const price = 0.0079;
const text = { message: "hello", senderId: "ACME" };
let customer: Customer;
beforeAll(async () => {
  customer = await Customer.register({ balance: 30 });
});

async function send(json: object, key?: string, by = customer): Promise<ApiResponse> {
  return by.call("/v1/sms/batch", {
    json,
    headers: key === undefined ? {} : { "Idempotency-Key": key },
  });
}

async function messagesOf(batchId: string, by = customer): Promise<Message[]> {
  return pageOf(await by.call(`/v1/sms?limit=100&batchId=${batchId}`), Message).rows;
}

/** The result of a message with one wrong field. */
function invalid(index: number, name: string, message: string): object {
  return {
    index,
    code: "VALIDATION_ERROR",
    message: name === "" ? message : `${name}: ${message}`,
    details: [{ path: name, message }],
  };
}

function messages(count: number): { to: string }[] {
  return Array.from({ length: count }, (_, index) => ({ to: String(15_006_000_000 + index) }));
}

it("a thousand messages are accepted in one call, and the response fits its item", async () => {
  const size = isOnEmulator() ? 100 : 1_000;
  const total = Number((size * price).toFixed(4));
  const before = await customer.balance();
  const startedAt = performance.now();
  const response = await send({ messages: messages(size), defaults: text }, "a-thousand");
  const elapsedMs = performance.now() - startedAt;
  const batch = dataOf(response, AcceptedBatch);
  expect(batch).toMatchObject({ accepted: size, rejected: 0, total, currency: "USD" });
  expect(JSON.stringify(response.body).length).toBeLessThan(60_000);
  expect(await customer.balance()).toBeCloseTo(before - total, 4);
  // It takes less than two seconds on a quiet machine, and the function has fifteen.
  expect(elapsedMs).toBeLessThan(14_000);
});

describe("a batch", () => {
  it("has own texts and templates, defaults that its messages replace, and an error for each that has neither", async () => {
    const body = "Hi {{name}}";
    const template = dataOf(
      await customer.call("/v1/templates", { json: { name: "greeting", body } }),
      Template,
    );
    const response = await send({
      defaults: {
        templateId: template.id,
        senderId: "ACME",
        messageType: "transactional",
        values: undefined,
      },
      messages: [
        { to: "15005550000", values: { name: "Ada" } },
        { to: "15006000001", message: "own text", senderId: "OTHER", messageType: "otp" },
        { to: "15005550000" },
        { to: "15005550000", templateId: "tpl_01M7Y6EJCCCYF8FQN69JCEXBCE" },
        { to: "15005550000", templateId: template.id, message: "both" },
      ],
    });
    expect(response.status).toBe(202);
    const batch = dataOf(response, AcceptedBatch);
    expect(batch.results).toEqual([
      { index: 0, id: expect.any(String) },
      { index: 1, id: expect.any(String) },
      invalid(2, "values.name", "is missing"),
      invalid(3, "templateId", "is no template of the organization"),
      invalid(4, "message", "must not be given together with templateId"),
    ]);
    expect(batch).toMatchObject({ accepted: 2, rejected: 3, total: 2 * price });
    const listed = await messagesOf(batch.id);
    expect(listed.map(({ id }) => id).toSorted()).toEqual(
      batch.results.flatMap(({ id }) => id ?? []).toSorted(),
    );
    const byNumber = Object.fromEntries(listed.map((each) => [each.to, each]));
    expect(byNumber["15005550000"]).toMatchObject({
      message: "Hi Ada",
      senderId: "ACME",
      messageType: "transactional",
      batchId: batch.id,
    });
    expect(byNumber["15006000001"]).toMatchObject({
      message: "own text",
      senderId: "OTHER",
      messageType: "otp",
    });
  });

  it("gets its first response again, and each key has one batch", async () => {
    const json = { messages: messages(50), defaults: text };
    const [first, again] = [await send(json, "batch"), await send(json, "batch")];
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(errorOf(await send({ ...json, mode: "all" }, "batch"))).toEqual({
      status: 422,
      code: "IDEMPOTENCY_KEY_REUSED",
    });
    const other = dataOf(await send(json, "other"), AcceptedBatch);
    expect(other.id).not.toBe(dataOf(first, AcceptedBatch).id);
    expect(await messagesOf(other.id)).toHaveLength(50);
  });

  it("is rejected as a whole for its shape and its size", async () => {
    expect(invalidFields(await send({ messages: [] }))).toEqual(["messages"]);
    expect(invalidFields(await send({ messages: messages(1_001), defaults: text }))).toEqual(["messages"]);
    const large = { messages: messages(1_000).map((each) => ({ ...each, message: "x".repeat(1_100) })) };
    expect(errorOf(await send(large))).toEqual({ status: 413, code: "PAYLOAD_TOO_LARGE" });
  });

  it("has a result for each message that is not valid, and sends the others for their price", async () => {
    const wrong = [{ to: "abc", extra: 1 }, "no message", { to: "15006000001", language: "Klingon" }];
    const json = { messages: [wrong[0], { to: "15005550000" }, ...wrong.slice(1)], defaults: text };
    const estimate = dataOf(await customer.call("/v1/sms/batch/estimate", { json }), BatchEstimate);
    const before = await customer.balance();
    const first = await send(json, "wrong");
    const batch = dataOf(first, AcceptedBatch);
    expect(batch).toMatchObject({ accepted: 1, rejected: 3, total: price });
    expect(batch.results).toMatchObject([
      {
        index: 0,
        code: "VALIDATION_ERROR",
        details: [{ path: "to" }, { path: "extra", message: "unknown field" }],
      },
      { index: 1, id: expect.any(String) },
      invalid(2, "", "must be an object"),
      invalid(3, "language", "must be one of English, Unicode"),
    ]);
    expect(estimate).toMatchObject({ segments: 1, total: price });
    expect(estimate.rejected).toEqual(batch.results.filter(({ code }) => code !== undefined));
    expect((await send(json, "wrong")).body).toEqual(first.body);
    expect(await customer.balance()).toBeCloseTo(before - price, 4);
    const all = { ...json, mode: "all" };
    for (const path of ["/v1/sms/batch", "/v1/sms/batch/estimate"]) {
      const names = ["0.to", "0.extra", "2", "3.language"];
      const rejected = await customer.call(path, { json: all });
      expect(invalidFields(rejected)).toEqual(names.map((name) => `messages.${name}`));
    }
    expect(await customer.balance()).toBeCloseTo(before - price, 4);
  });

  it("is charged once, and has short results, also with a name of 200,000 letters in one of its messages", async () => {
    const before = await customer.balance();
    const hostile = { to: "15005550000", metadata: { ["k".repeat(200_000)]: "x" } };
    const json = { messages: [...messages(48), hostile], defaults: text };
    const response = await send(json);
    expect(dataOf(response, AcceptedBatch)).toMatchObject({ accepted: 48, rejected: 1 });
    expect(JSON.stringify(response.body).length).toBeLessThan(10_000);
    expect(await customer.balance()).toBeCloseTo(before - 48 * price, 4);
    expect(JSON.stringify((await send({ ...json, mode: "all" })).body).length).toBeLessThan(1_000);
  });

  it("has the text of a mistake whose field has a name that is too long for its results", async () => {
    const json = { messages: [{ to: "15005550000", ["\u6771".repeat(70)]: 1 }], defaults: text };
    expect(dataOf(await send(json), AcceptedBatch).results).toMatchObject([
      { details: [{ path: "", message: "unknown field" }] },
    ]);
  });

  it("with another message that has the same mistake is another request", async () => {
    expect((await send({ messages: [{ to: "abc" }] }, "same-mistake")).status).toBe(202);
    const other = await send({ messages: [{ to: "abcd" }] }, "same-mistake");
    expect(errorOf(other)).toEqual({ status: 422, code: "IDEMPOTENCY_KEY_REUSED" });
  });

  it("of a thousand wrong messages gets its first response again", async () => {
    const wrong = { ['\u{1f4f1}"'.repeat(20)]: 1, to: "\u96fb\u8a71", ["\u6771".repeat(60)]: 2 };
    const json = { messages: Array.from({ length: 1_000 }, () => wrong) };
    const first = await send(json, "thousand-wrong");
    expect(dataOf(first, AcceptedBatch)).toMatchObject({ accepted: 0, rejected: 1_000 });
    const again = await send(json, "thousand-wrong");
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(again.body).toEqual(first.body);
  });

  it("in the mode all is accepted or rejected as a whole, with the position of what is wrong", async () => {
    const json = { messages: messages(48), defaults: text, mode: "all" };
    expect(dataOf(await send(json), AcceptedBatch)).toMatchObject({ accepted: 48 });
    const before = await customer.balance();
    const scheduledAt = "2020-01-01T00:00:00Z";
    const wrong = { ...json, messages: [{ to: "15005550000" }, { to: "15005550000", scheduledAt }] };
    const response = await send(wrong);
    expect(invalidFields(response)).toEqual(["messages.1"]);
    expect(await customer.balance()).toBe(before);
  });

  it("of a test key is free, and its messages are test messages", async () => {
    const byKey = await customer.withApiKey({ test: true });
    const before = await customer.balance();
    const batch = dataOf(
      await send({ messages: messages(3), defaults: text }, undefined, byKey),
      AcceptedBatch,
    );
    expect(batch).toMatchObject({ accepted: 3, total: 0.0237 });
    expect(await messagesOf(batch.id, byKey)).toHaveLength(3);
    expect(await messagesOf(batch.id)).toEqual([]);
    expect(await customer.balance()).toBe(before);
  });
});

it("the estimate of a batch has its sum and what is rejected, and charges nothing", async () => {
  const before = await customer.balance();
  const json = { messages: [...messages(3), { to: "15005550000", message: undefined }], defaults: text };
  const [first, ...others] = json.messages;
  const response = await customer.call("/v1/sms/batch/estimate", {
    json: { ...json, messages: [{ ...first, templateId: "tpl_01M7Y6EJCCCYF8FQN69JCEXBCE" }, ...others] },
  });
  expect(dataOf(response, BatchEstimate)).toEqual({
    segments: 3,
    total: 0.0237,
    currency: "USD",
    balance: before,
    isCovered: true,
    rejected: [invalid(0, "templateId", "is no template of the organization")],
  });
  expect(await customer.balance()).toBe(before);
});

it("each message of a batch has its own reference and metadata, or those of the defaults", async () => {
  const metadata = { order: "1" };
  const response = await send({
    defaults: { ...text, metadata, reference: "shared" },
    messages: [
      { to: "15005550000" },
      { to: "15005550000", reference: "own", metadata: { order: "2" } },
      { to: "15005550000", callbackUrl: "ftp://example.com" },
    ],
  });
  const batch = dataOf(response, AcceptedBatch);
  expect(batch.results[2]).toMatchObject({ code: "VALIDATION_ERROR" });
  const listed = (await messagesOf(batch.id)).map(({ reference, metadata: pairs }) => ({
    reference,
    order: pairs?.["order"],
  }));
  const byOrder = listed.toSorted((one, other) => (one.order ?? "").localeCompare(other.order ?? ""));
  expect(byOrder).toEqual([
    { reference: "shared", order: "1" },
    { reference: "own", order: "2" },
  ]);
});
