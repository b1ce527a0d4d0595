import { Webhook as StandardWebhook } from "standardwebhooks";
import { beforeAll, expect, it } from "vitest";

import type { SendSmsRequest } from "../../shared/api/contract/sms.ts";
import { Customer, errorOf, invalidFields } from "../support/api.ts";
import { receiversOfFile, waitForStates } from "../support/webhook-calls.ts";

const details = { reference: "order 1001", metadata: { order: "1001", "shop.url": "https://a.example:1" } };
const callbackUrl = "http://127.0.0.1:9/unreachable";

const receiver = receiversOfFile();

let customer: Customer;
beforeAll(async () => {
  customer = await Customer.register({ balance: 1 });
});

it("are returned with the message, also if it came from a template or was held before", async () => {
  const { client } = customer;
  const { id } = await customer.send({ ...details, callbackUrl });
  expect(await customer.message(id)).toMatchObject({ ...details, callbackUrl });
  expect(Object.keys(await customer.message((await customer.send()).id))).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/reference|metadata|callbackUrl/)]),
  );
  const template = await client.createTemplate({ body: { name: "Order", body: "Hello" } });
  const body = { to: "15005550000", senderId: "ACME", ...details };
  const fromTemplate = await client.sendTemplate({ params: { id: template.id }, body });
  expect(await customer.message(fromTemplate.id)).toMatchObject(details);

  const { client: limited } = await customer.withApiKey({ limits: { holdAbove: 0 } });
  const held = await limited.sendSms({ body: { ...body, message: "Hello", callbackUrl } });
  const params = { id: held.id };
  expect(await client.getHeldMessage({ params })).toMatchObject({ ...details, callbackUrl });
  const { messageId = "" } = await client.decideHeldMessage({ params, body: { approve: true } });
  expect(await customer.message(messageId)).toMatchObject({ ...details, callbackUrl });
});

it("filter the list of messages, together with others", async () => {
  const one = await customer.send({ reference: "a", metadata: { color: "red", time: "10:30" } });
  const other = await customer.send({ reference: "a", metadata: { color: "Red" } });
  const idsOf = async (query: object): Promise<string[]> =>
    (await customer.client.listSms({ query })).rows.map(({ id }) => id);
  expect(await idsOf({ reference: "a" })).toEqual([other.id, one.id]);
  expect(await idsOf({ metadata: "color:red" })).toEqual([one.id]);
  expect(await idsOf({ metadata: "time:10:30", reference: "a" })).toEqual([one.id]);
  expect(await idsOf({ metadata: "time:10" })).toEqual([]);
  expect(await idsOf({ metadata: `time:${"🦊".repeat(200)}` })).toEqual([]);
  expect(await idsOf({ metadata: "constructor:" })).toEqual([]);
  expect(await idsOf({ reference: "b" })).toEqual([]);
  for (const query of ["metadata=color", "metadata=a%20b:c", "reference="]) {
    expect(invalidFields(await customer.call(`/v1/sms?${query}`)), query).toEqual([query.split("=")[0]]);
  }
});

it("have limits", async () => {
  const named = (count: number, value = "v"): Record<string, string> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, value]));
  const invalid = async (fields: Partial<Record<keyof SendSmsRequest, unknown>>): Promise<string[]> =>
    invalidFields(await customer.trySend(fields));
  await customer.send({ reference: "🦊".repeat(64), metadata: named(20, "🦊".repeat(200)) });
  await customer.send({ metadata: { ["n".repeat(40)]: "" } });
  expect(await invalid({ metadata: named(21) })).toEqual(["metadata"]);
  expect(await invalid({ metadata: { ["n".repeat(41)]: "v" } })).toHaveLength(1);
  expect(await invalid({ metadata: { "a:b": "v" } })).toHaveLength(1);
  expect(await invalid({ metadata: { a: "v".repeat(201) } })).toEqual(["metadata.a"]);
  expect(await invalid({ metadata: { a: 1 } })).toEqual(["metadata.a"]);
  expect(await invalid({ reference: "r".repeat(65) })).toEqual(["reference"]);
  expect(await invalid({ reference: "" })).toEqual(["reference"]);
  for (const url of ["shop.example", "ftp://shop.example/", "https://me@shop.example/", "https://a b/"]) {
    expect(await invalid({ callbackUrl: url }), url).toEqual(["callbackUrl"]);
  }
  const message = { to: "15005550007", message: "Hello", callbackUrl: "" };
  expect(invalidFields(await customer.call("/v1/sms/estimate", { json: message }))).toEqual(["callbackUrl"]);
});

it("a callback URL gets the events of its message, signed with a secret that the customer creates", async () => {
  const [hook, testHook] = [await receiver(), await receiver()];
  const owner = await Customer.register({ balance: 1 });
  const { secret } = await owner.client.rotateCallbackSecret();
  const { id } = await owner.send({ to: "15005550007", ...details, callbackUrl: hook.url });
  await waitForStates(owner, { id: "callbacks" }, ["succeeded", "succeeded"]);
  const events = hook.calls.map(({ body, headers }) => {
    const text = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    return new StandardWebhook(secret).verify(body, text);
  });
  const { pricing } = await owner.message(id);
  const data = { id, ...details, pricing, refunded: false };
  expect(events).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ event: "message.sent", data: expect.objectContaining(data) }),
      expect.objectContaining({ event: "message.delivered", data: expect.objectContaining(data) }),
    ]),
  );

  const tester = await owner.withApiKey({ test: true });
  await tester.send({ callbackUrl: testHook.url });
  await waitForStates(tester, { id: "callbacks" }, ["succeeded"]);
  const params = { id: "callbacks" };
  const { rows } = await tester.client.listWebhookDeliveries({ params });
  expect(rows).toMatchObject([{ url: testHook.url, payload: { data: { test: true } } }]);
  const retried = { params: { ...params, deliveryId: rows[0]?.id ?? "" } };
  expect(await tester.client.retryWebhookDelivery(retried)).toMatchObject({ url: testHook.url });
  await testHook.waitForCalls(2);
  for (const path of ["/v1/webhooks/callbacks", "/v1/webhooks/callbacks%23x/deliveries"]) {
    expect(errorOf(await owner.call(path)), path).toMatchObject({ status: 404 });
  }
});
