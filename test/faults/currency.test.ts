import { beforeAll, expect, it } from "vitest";

import { environmentNames } from "../../shared/platform/config.ts";
import { Customer, errorOf, invalidFields } from "../support/api.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";

/*
 * A gateway whose currency has no decimals.
 */

const { gateway } = await gatewayOfFile({ [environmentNames.currency]: "JPY" });
let customer: Customer;
beforeAll(async () => {
  customer = await Customer.register({ balance: 1_000, baseUrl: gateway.url });
});

it("rejects amounts with decimals, also in a request that may be repeated", async () => {
  const headers = { "Idempotency-Key": "once" };
  for (const amount of [10.5, 0.01]) {
    const response = await customer.call("/v1/wallet/top-up", { json: { amount }, headers });
    expect(errorOf(response)).toEqual({ status: 400, code: "VALIDATION_ERROR" });
    expect(invalidFields(response)).toEqual(["amount"]);
  }
  const json = { lowBalanceThreshold: 0.5 };
  expect(invalidFields(await customer.call("/v1/wallet", { method: "PATCH", json }))).toEqual([
    "lowBalanceThreshold",
  ]);
});

it("states the currency with all amounts, and to the console", async () => {
  const { client } = customer;
  const { id, pricing } = await customer.send();
  const message = await customer.message(id);
  const amounts = [
    pricing,
    message.pricing,
    await client.getWallet(),
    await client.getDashboardStats(),
    ...(await customer.ledger()),
    ...(await client.listPrices({ query: {} })).rows,
  ];
  expect(new Set(amounts.map(({ currency }) => currency))).toEqual(new Set(["JPY"]));
  expect(pricing.total).toBe(0.0079);
  const page = await (await fetch(`${gateway.url}/console`)).text();
  expect(page).toContain('<meta name="currency" content="JPY" />');
});
