import { beforeAll, expect, it } from "vitest";
import * as z from "zod/mini";

import { Message } from "../../shared/api/contract/sms.ts";
import { call, Customer, dataOf, errorOf } from "../support/api.ts";

/*
 * Personal data of others needs a scope of its own, which only a key that names its scopes can lack.
 */

let customer: Customer;
beforeAll(async () => {
  customer = await Customer.register({ balance: 5 });
  for (const messageType of ["otp", "transactional"] as const)
    await customer.client.sendSms({
      body: { to: "15005550007", message: "4711", senderId: "ACME", messageType },
    });
});

const reads = [
  ["/v1/kyc", undefined],
  ["/v1/audit-log", undefined],
  ["/v1/exports", { contacts: {} }],
] as const;

/** The texts of the two messages, by their types, as a key sees them in the list and one by one. */
async function textsFor(credential: string): Promise<unknown> {
  const listed = dataOf(await call("/v1/sms", { credential }), z.array(Message));
  const single = await Promise.all(
    listed.map(async ({ id }) => dataOf(await call(`/v1/sms/${id}`, { credential }), Message)),
  );
  return [listed, single].map((each) =>
    Object.fromEntries(each.map(({ messageType, message }) => [messageType, message])),
  );
}

it("a key that names only read sees no personal data of others, and no texts of codes", async () => {
  const key = await customer.client.createApiKey({ body: { scopes: ["send", "read"] } });
  expect(key.scopes).toEqual(["send", "read"]);
  for (const [path, json] of reads) {
    const rejected = await call(path, { credential: key.secret, json });
    expect(errorOf(rejected), path).toMatchObject({ code: "INSUFFICIENT_SCOPE" });
    expect(rejected.body, path).toHaveProperty("error.message", expect.stringContaining("`personal`"));
  }
  const seen = { otp: "[removed]", transactional: "4711" };
  expect(await textsFor(key.secret)).toEqual([seen, seen]);
  const text = { to: "15005550007", message: "4712", senderId: "ACME", messageType: "otp" } as const;
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
  const { id } = await customer.client.sendSms({ body: { ...text, scheduledAt } });
  for (let count = 0; count < 2; count += 1) {
    const cancelled = await call(`/v1/sms/${id}`, { credential: key.secret, method: "DELETE" });
    expect(dataOf(cancelled, Message)).toMatchObject({ status: "cancelled", message: "[removed]" });
  }
});

it("a key that names the scope, or none, sees them, also after it is rotated", async () => {
  const named = await customer.client.createApiKey({ body: { scopes: ["read", "personal"] } });
  expect(named.scopes).toEqual(["read", "personal"]);
  const rotated = await customer.client.rotateApiKey({ params: { id: named.id } });
  for (const { secret } of [rotated, await customer.client.createApiKey({ body: {} })]) {
    for (const [path, json] of reads)
      expect((await call(path, { credential: secret, json })).status, path).toBeLessThan(300);
    const seen = { otp: "4711", transactional: "4711" };
    expect(await textsFor(secret)).toEqual([seen, seen]);
  }
});
