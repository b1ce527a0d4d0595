import { createHash, createHmac, randomUUID } from "node:crypto";

import { beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { callbackReceiver, type CarrierCall } from "../../shared/messages/callbacks/receive.ts";
import { SecretsManager } from "../../shared/platform/aws/secrets-manager.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { putItem, putUnchecked } from "../../shared/platform/table/write.ts";
import { takeJobs } from "../support/queues.ts";

/*
 * How calls of carriers are authenticated, and what they add to the queue.
 */

const token = randomUUID();
const authToken = "12345";
const baseUrl = "https://sms.example.com";
const reference = "org_01J00000000000000000000000.msg_01J00000000000000000000000";

let take: ReturnType<typeof callbackReceiver>;
let name: string;
beforeEach(() => {
  take = callbackReceiver();
  name = `carrier-${randomUUID().slice(0, 8)}`;
  vi.spyOn(SecretsManager.prototype, "send").mockImplementation(async ({ input }) => {
    if (Object(input).SecretId !== "callbacks/twilio") throw new Error("there is no other secret");
    return { SecretString: JSON.stringify({ authToken }) };
  });
});

async function putCarrier(settings: object, fields: object = {}): Promise<void> {
  const at = "2026-01-01T00:00:00.000Z";
  const callbackTokenHash = createHash("sha256").update(token).digest("hex");
  const record = {
    entity: "carrier",
    name,
    settings,
    createdAt: at,
    updatedAt: at,
    callbackTokenHash,
  } as const;
  await putItem(putUnchecked(keys.carrier(name), { ...record, callbackBaseUrl: baseUrl, ...fields }));
}

function callOf(fields: Readonly<Record<string, string>>, changes: Partial<CarrierCall> = {}): CarrierCall {
  const path = `/v1/carriers/${name}/receipts`;
  const queryString = `token=${token}&reference=${reference}`;
  const query = { token, reference };
  return {
    params: { carrier: name, callback: "receipts" },
    query,
    callbacks: [fields],
    method: "POST",
    path,
    queryString,
    headers: {},
    ...changes,
  };
}

/** A call with Twilio's signature. */
function signed(fields: Readonly<Record<string, string>>, changes: Partial<CarrierCall> = {}): CarrierCall {
  const call = callOf(fields, changes);
  const text = Object.keys(fields)
    .toSorted()
    .reduce(
      (whole, each) => `${whole}${each}${fields[each] ?? ""}`,
      `${baseUrl}${call.path}?${call.queryString}`,
    );
  const signature = createHmac("sha1", authToken).update(text).digest("base64");
  return { ...call, headers: { "x-twilio-signature": signature } };
}

const twilio = { kind: "twilio", url: "https://api.twilio.com" };
const kannel = { kind: "kannel", url: "http://10.0.0.5/" };

const expectNotFound = async (call: CarrierCall): Promise<void> =>
  expect(take(call)).rejects.toMatchObject({ code: "NOT_FOUND" });
const expectNotUnderstood = async (call: CarrierCall): Promise<void> =>
  expect(take(call)).rejects.toMatchObject({ code: "VALIDATION_ERROR", details: undefined });

it("a call of Twilio's is accepted with both the token and the signature, and not with one of them", async () => {
  await putCarrier(twilio, { callbackSecretId: "callbacks/twilio" });
  const fields = { MessageSid: "SM1", MessageStatus: "undelivered", ErrorCode: "30005" };
  const answer = await take(signed(fields));
  expect(answer.body).toContain("<Response/>");
  const [organizationId, messageId] = reference.split(".");
  expect(await takeJobs("carrierCallbacks")).toMatchObject([
    {
      kind: "receipt",
      carrier: name,
      organizationId,
      messageId,
      status: "undelivered",
      errorCode: "DELIVERY_INVALID_DESTINATION",
    },
  ]);
  await expectNotFound(callOf(fields));
  const changed = { ...signed(fields), callbacks: [{ ...fields, MessageStatus: "delivered" }] };
  await expectNotFound(changed);
  await expectNotFound(signed(fields, { query: { token: "guess", reference } }));
  await expectNotFound(signed(fields, { method: "GET" }));
  expect(await takeJobs("carrierCallbacks")).toEqual([]);
});

it("a carrier with signed calls and without a secret to verify them is rejected", async () => {
  await putCarrier(twilio);
  await expect(take(signed({ MessageStatus: "delivered" }))).rejects.toMatchObject({ code: "NOT_FOUND" });
});

it("the token before a rotation counts until its end", async () => {
  const previousTokenHash = createHash("sha256").update("earlier").digest("hex");
  const previousTokenUntil = new Date(Date.now() + 1_000).toISOString();
  await putCarrier(kannel, { previousTokenHash, previousTokenUntil });
  const earlier = callOf({ type: "1" }, { query: { token: "earlier", reference } });
  await take(earlier);
  vi.setSystemTime(Date.now() + 1_000);
  await expectNotFound(earlier);
  await take(callOf({ type: "1" }));
  expect(await takeJobs("carrierCallbacks")).toHaveLength(2);
});

it("a carrier without a token is rejected, and a disabled one is accepted", async () => {
  await putCarrier(kannel, { callbackTokenHash: "" });
  await expectNotFound(callOf({ type: "1" }, { query: { token: "", reference } }));
  name = `${name}-off`;
  await putCarrier(kannel, { disabledAt: "2026-01-01T00:00:00.000Z" });
  // It continues to report on messages that were submitted to it before.
  take = callbackReceiver();
  await take(callOf({ type: "1" }));
  expect(await takeJobs("carrierCallbacks")).toHaveLength(1);
});

it("a receipt before the final one is accepted and adds no job", async () => {
  await putCarrier(kannel);
  for (const type of ["4", "8"]) await take(callOf({ type, answer: "ACK/" }));
  expect(await takeJobs("carrierCallbacks")).toEqual([]);
});

it("a call that cannot be understood is rejected, and neither response nor log has a word of it", async () => {
  await putCarrier(kannel);
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const garbage = { type: "a-secret", answer: "another-secret", text: "a-third" };
  await expectNotUnderstood(callOf(garbage));
  const replies = { params: { carrier: name, callback: "inbound" } } as const;
  await expectNotUnderstood(callOf(garbage, replies));
  await expectNotUnderstood(callOf({ type: "1" }, { query: { token, reference: "x" } }));
  const lines = write.mock.calls.map(([line]) => String(line));
  expect(lines.filter((line) => /secret|third/.test(line))).toEqual([]);
});

describe("a list", () => {
  const settings = {
    kind: "http",
    url: "http://10.0.0.5/",
    responses: [{ meaning: "accepted", statuses: [200] }],
    receipts: {
      statusPath: "status",
      delivered: ["DELIVERED"],
      undelivered: ["FAILED"],
      referencePath: "id",
    },
    inbound: { fromPath: "from", toPath: "to", textPath: "text" },
  };
  const references = ["1", "2", "3"].map((digit) => `${reference.slice(0, -1)}${digit}`);

  it("of receipts is accepted one by one, except those that are not final or not understood", async () => {
    await putCarrier(settings);
    const [first, second, third] = references;
    const callbacks = [
      { id: first, status: "DELIVERED" },
      { id: second, status: "ON ITS WAY" },
      { id: "someone else's", status: "DELIVERED" },
      // The reference in the address does not apply to receipts without one.
      { status: "DELIVERED" },
      { id: third, status: "FAILED" },
    ];
    await take(callOf({}, { callbacks }));
    const jobs = await takeJobs("carrierCallbacks");
    const summaries = z.array(z.object({ messageId: z.string(), status: z.string() })).parse(jobs);
    expect(summaries.map(({ messageId, status }) => `${messageId} ${status}`).toSorted()).toEqual([
      `${first?.split(".")[1]} delivered`,
      `${third?.split(".")[1]} undelivered`,
    ]);
  });

  it("of more entries than one queue request, and one of inbound messages, are accepted whole", async () => {
    await putCarrier(settings);
    const callbacks = Array.from({ length: 25 }, () => ({ id: references[0], status: "DELIVERED" }));
    await take(callOf({}, { callbacks }));
    expect(await takeJobs("carrierCallbacks")).toHaveLength(25);
    const replies = [1, 2].map((count) => ({ from: "447700900123", to: "90909", text: `reply ${count}` }));
    await take(callOf({}, { params: { carrier: name, callback: "inbound" }, callbacks: replies }));
    expect(await takeJobs("carrierCallbacks")).toHaveLength(2);
  });

  it("without an understandable entry is rejected, and so is one of Twilio's, because no signature covers it", async () => {
    await putCarrier(settings);
    await expectNotUnderstood(callOf({}, { callbacks: [{}, { status: "DELIVERED" }] }));
    name = `${name}-twilio`;
    await putCarrier(twilio, { callbackSecretId: "callbacks/twilio" });
    take = callbackReceiver();
    const fields = { MessageSid: "SM1", MessageStatus: "delivered" };
    const call = signed(fields);
    await expectNotFound({ ...call, callbacks: [fields, fields] });
    expect(await takeJobs("carrierCallbacks")).toEqual([]);
  });
});

it("an inbound message has the carrier's id in its job, or a new one where it has none", async () => {
  await putCarrier(kannel);
  const replies = { params: { carrier: name, callback: "inbound" }, method: "GET" } as const;
  const fields = { from: "+447700900123", to: "90909", text: "hi" };
  await take(callOf({ ...fields, id: "kannel-1" }, replies));
  await take(callOf(fields, replies));
  const [first, second] = await takeJobs("carrierCallbacks");
  expect(first).toMatchObject({
    kind: "inbound",
    carrier: name,
    carrierId: "kannel-1",
    from: "447700900123",
  });
  const { carrierId, callbackId } = z.object({ carrierId: z.string(), callbackId: z.string() }).parse(second);
  expect(carrierId).toBe(callbackId);
});
