import { beforeAll, expect, it } from "vitest";

import { Verification, VerificationConversion } from "../../shared/api/contract/verifications.ts";
import { Customer, dataOf, errorOf, type ApiResponse } from "../support/api.ts";

let customer: Customer;
beforeAll(async () => {
  customer = await (await Customer.register({ balance: 5 })).withApiKey();
  await saveProfile({ guard: "block" });
});

async function saveProfile(fields: object): Promise<void> {
  const json = { brand: "Ada", ...fields };
  expect((await customer.call("/v1/verification-profiles/default", { method: "PUT", json })).status).toBe(
    200,
  );
}

async function start(to: string, fields: object = {}): Promise<ApiResponse> {
  return customer.call("/v1/verifications", { json: { to, senderId: "ACME", ...fields } });
}

async function blockedOf(to: string): Promise<unknown> {
  return (await customer.call(`/v1/verifications?status=blocked&to=${to}`)).body;
}

const number = (last: number): string => `150055512${String(last).padStart(2, "0")}`;

it("a range without an approval is blocked, which the customer sees and does not pay", async () => {
  for (let last = 0; last < 10; last += 1) expect((await start(number(last))).status).toBe(202);
  const before = await customer.balance();
  const rejected = [await start(number(10)), await start(number(10))];
  for (const response of rejected) {
    expect(errorOf(response)).toEqual({ status: 403, code: "VERIFICATION_BLOCKED" });
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(43_000);
  }
  expect(await customer.balance()).toBe(before);
  // The first only, so that an attacker does not fill the list.
  expect(await blockedOf(number(10))).toMatchObject({
    data: [{ status: "blocked", guardRule: "range", sends: 0, messageIds: [] }],
  });
  const { countries } = dataOf(
    await customer.call("/v1/verifications/conversion?days=1"),
    VerificationConversion,
  );
  expect(countries).toEqual([{ country: "US", started: 10, approved: 0, undelivered: 0 }]);
});

it("an own code that was correct counts as an approval, and an address has its limit", async () => {
  const ip = "203.0.113.7";
  for (let index = 0; index < 5; index += 1) {
    const started = dataOf(await start(`1500566${index}000`, { ip, code: "472913" }), Verification);
    const json = { outcome: "approved" };
    await customer.call(`/v1/verifications/${started.id}/outcome`, { json });
  }
  expect(errorOf(await start("15005669000", { ip })).code).toBe("VERIFICATION_BLOCKED");
  await saveProfile({ guard: "monitor" });
  const monitored = dataOf(await start("15005669000", { ip }), Verification);
  expect(monitored).toMatchObject({ status: "pending", guardRule: "address" });
  const conversion = await customer.call("/v1/verifications/conversion");
  expect(conversion.body).toMatchObject({ data: { countries: [{ approved: 5 }] } });
});
