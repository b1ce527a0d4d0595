import { beforeAll, expect, it } from "vitest";

import { Customer } from "../support/api.ts";

/*
 * The API shows the prices of the stage, and messages cost exactly these.
 */

let customer: Customer;
beforeAll(async () => {
  customer = await Customer.register({ balance: 1 });
});

it("lists the prices of segments, in the order of their prefixes, page by page", async () => {
  const { rows, meta } = await customer.client.listPrices({ query: { limit: 100 } });
  const prefixes = rows.map(({ prefix }) => prefix);
  expect(prefixes.length).toBeGreaterThan(1);
  expect(prefixes).toEqual(prefixes.toSorted());
  expect(new Set(prefixes).size).toBe(prefixes.length);
  expect(meta.total).toBeGreaterThanOrEqual(rows.length);
  const first = await customer.client.listPrices({ query: { limit: 1 } });
  const second = await customer.client.listPrices({ query: { limit: 1, cursor: first.meta.nextCursor } });
  expect([...first.rows, ...second.rows]).toEqual(rows.slice(0, 2));
});

it("has the price of an estimate and of a message", async () => {
  const to = "15005550000";
  const { rows } = await customer.client.listPrices({ query: { prefix: to } });
  const body = { to, message: "hello", senderId: "ADASHOP" };
  const { pricing } = await customer.client.estimateSms({ body });
  expect(rows.map(({ unitPrice }) => unitPrice)).toEqual([pricing.unitPrice]);
  expect((await customer.client.sendSms({ body })).pricing).toEqual(pricing);
});

it("filters by prefix and by country", async () => {
  const all = await customer.client.listPrices({ query: { limit: 100 } });
  const { country } = all.rows.find((row) => row.country !== undefined) ?? {};
  const ofCountry = await customer.client.listPrices({ query: { country, limit: 100 } });
  expect(ofCountry.rows).toEqual(all.rows.filter((row) => row.country === country));
  expect(ofCountry.meta.total).toBe(ofCountry.rows.length);
});
