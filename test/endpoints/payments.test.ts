import { beforeAll, describe, expect, inject, it, vi } from "vitest";

import { Invoice, type Billing } from "../../shared/api/contract/billing.ts";
import { Payment } from "../../shared/api/contract/payments.ts";
import { scopesOfRole } from "../../shared/api/contract/scopes.ts";
import { newId } from "../../shared/platform/ids.ts";
import { call, Customer, dataOf, errorOf, invalidFields, pageOf, type ApiResponse } from "../support/api.ts";
import { patience } from "../support/patience.ts";
import { payByCard } from "../support/payments.ts";

/* A deployed stage may have no method of payment. Tests that need one are then skipped. */

let customer: Customer;
let billing: Billing;
beforeAll(async () => {
  customer = await Customer.register();
  billing = await customer.client.getBilling();
});

function has(method: Billing["methods"][number]): boolean {
  return billing.methods.includes(method);
}

async function pay(json: object, headers: Record<string, string> = {}): Promise<ApiResponse> {
  return customer.call("/v1/payments", { json: { method: billing.methods.at(-1), ...json }, headers });
}

async function put(path: string, json: object): Promise<ApiResponse> {
  return customer.call(path, { method: "PUT", json });
}

const invalid = { status: 400, code: "VALIDATION_ERROR" };
const disabled = { status: 403, code: "PAYMENT_METHOD_DISABLED" };

function expectInvalid(response: ApiResponse, field: string): void {
  expect(errorOf(response)).toEqual(invalid);
  expect(invalidFields(response)).toEqual([field]);
}

describe("a payment that is rejected", () => {
  it("is outside the stage's bounds", async () => {
    const { minimumPayment, maximumPayment } = billing;
    for (const amount of [minimumPayment - 0.01, maximumPayment + 0.01]) {
      const response = await pay({ amount: Math.round(amount * 100) / 100 });
      expect(errorOf(response)).toEqual(billing.methods.length > 0 ? invalid : disabled);
    }
  });

  it("has a method that the stage does not offer, or a card that is not saved", async () => {
    const amount = billing.minimumPayment;
    for (const method of ["card", "bank_transfer"] as const) {
      const expected = has(method) ? 201 : 403;
      expect((await pay({ amount, method })).status).toBe(expected);
    }
    const unsaved = await pay({ amount, method: "card", paymentMethodId: "pm_unknown" });
    expect(errorOf(unsaved)).toEqual(has("card") ? invalid : disabled);
    const transfer = await pay({ amount, method: "bank_transfer", paymentMethodId: "pm_unknown" });
    expect(errorOf(transfer)).toEqual(has("bank_transfer") ? invalid : disabled);
  });
});

it("a payment with an Idempotency-Key is made once", async ({ skip }) => {
  if (billing.methods.length === 0) skip("the stage has no method of payment");
  const payer = await Customer.register();
  const json = { amount: billing.minimumPayment, method: billing.methods[0] };
  const request = { json, headers: { "Idempotency-Key": "order-1" } };
  const first = await payer.call("/v1/payments", request);
  const second = await payer.call("/v1/payments", request);
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.body).toEqual(first.body);
  expect(second.headers.get("idempotent-replayed")).toBe("true");
  expect(pageOf(await payer.call("/v1/payments"), Payment).rows).toEqual([dataOf(first, Payment)]);
});

it("a bank transfer has its instructions and the organization's reference", async ({ skip }) => {
  if (!has("bank_transfer")) skip("the stage takes no bank transfers");
  const payment = dataOf(await pay({ amount: billing.minimumPayment, method: "bank_transfer" }), Payment);
  const { instructions, reference } = billing;
  expect(payment).toMatchObject({ status: "pending", method: "bank_transfer", instructions, reference });
  expect(payment).not.toHaveProperty("checkoutUrl");
  expect(payment.total).toBe(payment.amount + payment.tax);
  expect(await customer.client.getPayment({ params: { id: payment.id } })).toEqual(payment);
  expect(await customer.balance()).toBe(0);
});

it("a payment that waits for the customer is cancelled, also when that is repeated", async ({ skip }) => {
  if (billing.methods.length === 0) skip("the stage has no method of payment");
  for (const method of billing.methods) {
    const { id } = dataOf(await pay({ amount: billing.minimumPayment, method }), Payment);
    const path = `/v1/payments/${id}`;
    const other = await Customer.register();
    expect(errorOf(await other.call(path, { method: "DELETE" })).status).toBe(404);
    for (let repetition = 0; repetition < 2; repetition += 1) {
      const cancelled = dataOf(await customer.call(path, { method: "DELETE" }), Payment);
      expect(cancelled).toMatchObject({ id, status: "expired" });
      expect(cancelled).not.toHaveProperty("checkoutUrl");
    }
    expect(dataOf(await customer.call(path), Payment).status).toBe("expired");
  }
});

it("unknown payments, invoices and cards are not found", async () => {
  for (const path of [
    `/v1/payments/${newId("pay")}`,
    "/v1/invoices/INV-2020-000001",
    "/v1/invoices/CRN-2020-000001",
  ]) {
    expect(errorOf(await customer.call(path)), path).toEqual({ status: 404, code: "NOT_FOUND" });
  }
  const pdf = await customer.call("/v1/invoices/INV-2020-000001", { headers: { accept: "application/pdf" } });
  expect(errorOf(pdf)).toEqual({ status: 404, code: "NOT_FOUND" });
  for (const id of ["INV-1", "2020-000001", "INV-2020-0000001"]) {
    expect((await customer.call(`/v1/invoices/${id}`)).status, id).toBe(404);
  }
});

it("a payment and its invoice, as JSON, PDF and XML, are those of one organization", async ({ skip }) => {
  if (!has("card")) skip("the stage takes no cards");
  const payer = await Customer.register();
  const { checkoutUrl = "" } = await payer.client.createPayment({ body: { amount: billing.minimumPayment } });
  if (new URL(checkoutUrl).hostname !== "127.0.0.1") skip("only the local provider has a form to pay");
  const { id, invoiceNumber = "" } = await payByCard(payer, billing.minimumPayment);
  const path = `/v1/invoices/${invoiceNumber}`;
  const paid = await payer.call(`/v1/payments/${id}`, { method: "DELETE" });
  expect(errorOf(paid)).toEqual({ status: 409, code: "CONFLICT" });
  expect(dataOf(await payer.call(path), Invoice)).toMatchObject({ id: invoiceNumber, paymentId: id });
  await vi.waitFor(async () => {
    const url = `${inject("baseUrl")}${path}`;
    const headers = { authorization: `Bearer ${payer.token}`, accept: "application/pdf" };
    const response = await fetch(url, { headers });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/pdf");
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.subarray(0, 5).toString()).toBe("%PDF-");
    expect(bytes.subarray(-7).toString()).toContain("%%EOF");
  }, patience);
  const xml = await payer.call(path, { headers: { accept: "application/xml" } });
  expect(xml.body).toContain(`<ram:PaymentReference>${id}</ram:PaymentReference>`);
  for (const foreign of [`/v1/payments/${id}`, path]) {
    expect(errorOf(await customer.call(foreign))).toEqual({ status: 404, code: "NOT_FOUND" });
  }
});

it.each(["viewer", "sender", "developer"] as const)(
  "the scopes of a %s do not reach payments",
  async (role) => {
    const scopes = [...scopesOfRole[role]];
    const { secret: credential } = await customer.client.createApiKey({ body: { scopes } });
    const json = { amount: 50 };
    for (const response of [
      await call("/v1/payments", { credential, json }),
      await call("/v1/payments", { credential }),
      await call("/v1/invoices", { credential }),
      await call("/v1/billing", { credential }),
    ]) {
      expect(errorOf(response)).toEqual({ status: 403, code: "INSUFFICIENT_SCOPE" });
    }
  },
);

it("a saved card, auto-recharge and the daily spend cap need a scope that a key has only by name", async () => {
  const { client } = await Customer.register();
  const { secret: byDefault, scopes } = await client.createApiKey();
  expect(scopes).not.toContain("charge");
  const { secret: limited } = await client.createApiKey({ body: { scopes: ["billing"] } });
  const named = await client.createApiKey({ body: { scopes: ["billing", "charge"] } });
  const rotated = await client.rotateApiKey({ params: { id: named.id } });
  expect(rotated.scopes).toEqual(["billing", "charge"]);
  const amount = billing.minimumPayment;
  const requests = [
    ["POST", "/v1/payments", { amount, paymentMethodId: "pm_unknown" }],
    ["PUT", "/v1/wallet/auto-recharge", { isEnabled: false, threshold: 20, amount, monthlyCap: amount }],
    ["PATCH", "/v1/wallet", { dailySpendCap: null }],
  ] as const;
  for (const [method, path, json] of requests) {
    for (const credential of [byDefault, limited]) {
      const rejected = await call(path, { method, json, credential });
      expect(errorOf(rejected)).toEqual({ status: 403, code: "INSUFFICIENT_SCOPE" });
      expect(rejected.headers.get("www-authenticate")).toContain('scope="charge"');
    }
    const { status } = await call(path, { method, json, credential: rotated.secret });
    // The provider does not know the card.
    expect(status).toBe(path !== "/v1/payments" ? 200 : has("card") ? 400 : 403);
  }
  const threshold = { method: "PATCH", json: { lowBalanceThreshold: 1 }, credential: limited };
  expect((await call("/v1/wallet", threshold)).status).toBe(200);
});

describe("auto-recharge", () => {
  it("is rejected with wrong values", async () => {
    const amount = billing.minimumPayment;
    const settings = { isEnabled: false, threshold: 20, amount, monthlyCap: amount };
    for (const [change, field] of [
      [{ isEnabled: "yes" }, "isEnabled"],
      [{ threshold: 0 }, "threshold"],
      [{ threshold: -1 }, "threshold"],
      [{ amount: billing.maximumPayment + 1 }, "amount"],
      [{ amount: amount + 0.001 }, "amount"],
      [{ amount: amount + 1 }, "monthlyCap"],
      [{ monthlyCap: null }, "monthlyCap"],
      [{ paymentMethodId: "card" }, "paymentMethodId"],
      [{ currency: "EUR" }, "currency"],
    ] as const) {
      expectInvalid(await put("/v1/wallet/auto-recharge", { ...settings, ...change }), field);
    }
    expect(await customer.client.getAutoRecharge()).toBeNull();
  });

  it("cannot be enabled without a saved card", async ({ skip }) => {
    if (!has("card")) skip("the stage takes no cards");
    const amount = billing.minimumPayment;
    const settings = { isEnabled: true, threshold: 20, amount, monthlyCap: amount };
    for (const change of [{}, { paymentMethodId: "pm_unknown" }]) {
      expectInvalid(await put("/v1/wallet/auto-recharge", { ...settings, ...change }), "paymentMethodId");
    }
    expect(await customer.client.getAutoRecharge()).toBeNull();
  });
});
