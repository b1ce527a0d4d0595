import { beforeAll, expect, it } from "vitest";

import { Message } from "../../shared/api/contract/sms.ts";
import { Verification, VerificationCheck } from "../../shared/api/contract/verifications.ts";
import { call, Customer, dataOf, errorOf, type ApiResponse } from "../support/api.ts";
import { codeIn } from "../support/verifications.ts";

const to = "15005550007";

let customer: Customer;
let live: string;
let test: string;

beforeAll(async () => {
  customer = await Customer.register({ balance: 1 });
  live = (await customer.client.createApiKey({ body: { scopes: ["send", "read"] } })).secret;
  test = (await customer.client.createApiKey({ body: { test: true, scopes: ["send", "read"] } })).secret;
});

async function post(path: string, json: object, credential = live, key?: string): Promise<ApiResponse> {
  const headers = key === undefined ? {} : { "Idempotency-Key": key };
  return call(`/v1/verifications${path}`, { method: "POST", credential, json, headers });
}

async function start(fields: object = {}, credential = live, key?: string): Promise<Verification> {
  return dataOf(await post("", { to, senderId: "ACME", ...fields }, credential, key), Verification);
}

it("a test key starts a verification, learns the code from its message, and checks it", async () => {
  const { id, messageIds, status } = await start({}, test);
  expect(status).toBe("pending");
  const { message } = dataOf(await call(`/v1/sms/${messageIds[0]}`, { credential: test }), Message);
  const code = codeIn(message);
  const wrong = dataOf(await post("/check", { id, code: "wrong" }, test), VerificationCheck);
  expect(wrong).toEqual({ id, status: "pending", valid: false, checksLeft: 4 });
  // A live key neither sees nor checks it.
  expect(errorOf(await post("/check", { to, code })).code).toBe("VERIFICATION_NOT_PENDING");
  const right = dataOf(await post("/check", { to, code }, test), VerificationCheck);
  expect(right).toMatchObject({ status: "approved", valid: true });
  expect(errorOf(await post("/check", { to, code }, test))).toMatchObject({
    code: "VERIFICATION_NOT_PENDING",
  });
});

it("a start is repeated by its Idempotency-Key, and the code is in no response", async () => {
  const first = await start({ metadata: { order: "7" } }, live, "start-1");
  expect(await start({ metadata: { order: "7" } }, live, "start-1")).toEqual(first);
  const [messageId] = first.messageIds;
  const { message, verificationId } = dataOf(
    await call(`/v1/sms/${messageId}`, { credential: live }),
    Message,
  );
  expect(message).toContain("{code}");
  expect(verificationId).toBe(first.id);
  const again = await post("", { to, senderId: "ACME" }, live, "start-2");
  expect(dataOf(again, Verification)).toEqual(first);
  expect(errorOf(await post(`/${first.id}/resend`, {}))).toMatchObject({ code: "TOO_MANY_SENDS" });
  const cancelled = await call(`/v1/verifications/${first.id}`, { method: "DELETE", credential: live });
  expect(dataOf(cancelled, Verification)).toMatchObject({ status: "cancelled", metadata: { order: "7" } });
  const read = await call(`/v1/verifications/${first.id}`, { credential: live });
  expect(dataOf(read, Verification)).toMatchObject({ status: "cancelled", sends: 1 });
});

it("an own code is reported, and lists have the verifications of a number and a status", async () => {
  const other = "15005550000";
  const { id } = await start({ to: `+${other}`, code: "K7WX42", ip: "2001:db8::1" });
  const reported = await post(`/${id}/outcome`, { outcome: "approved" });
  expect(dataOf(reported, Verification)).toMatchObject({ id, status: "approved", to: other });
  const list = await call(`/v1/verifications?to=${other}&status=approved`, { credential: live });
  expect(list.body).toMatchObject({ data: [{ id }] });
});

it.each([
  [{ code: "123" }, "code"],
  [{ code: "k7wx" }, "code"],
  [{ ip: "localhost" }, "ip"],
  [{ channel: "voice" }, "channel"],
  [{ profile: "No Such" }, "profile"],
])("a start with %j is rejected", async (fields, path) => {
  const { body } = await post("", { to, senderId: "ACME", ...fields });
  expect(body).toMatchObject({ error: { code: "VALIDATION_ERROR", details: [{ path }] } });
});
