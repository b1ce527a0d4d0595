import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";

import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod/mini";

import type { LocalGateway } from "../../infra/local/gateway.ts";
import { listenOnLoopback } from "../../infra/loopback.ts";
import { newPayment } from "../../shared/money/payments/create.ts";
import { findPayment, paymentPut, type PaymentRecord } from "../../shared/money/payments/record.ts";
import { readSecretText } from "../../shared/platform/aws/read-secret.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { putItem } from "../../shared/platform/table/write.ts";
import { Customer } from "../support/api.ts";
import { objectsOf, operator } from "../support/operator.ts";
import { startOperatedGateway } from "../support/own-gateway.ts";

let gateway: LocalGateway;
let dataFolder: string;
let stop: () => Promise<void>;

beforeAll(async () => {
  ({ gateway, dataFolder, stop } = await startOperatedGateway());
  // The settings of the stage, which commands take from its stack.
  await operator(["version"]);
});
afterAll(async () => {
  await stop();
});

async function register(): Promise<Customer> {
  return Customer.register({ baseUrl: gateway.url });
}

const Paid = z.object({ paymentId: z.string(), totalMicros: z.int(), wasDoneBefore: z.boolean() });

async function pay(customer: Customer, amount: string, reference: string): Promise<string> {
  const credit = ["wallets", "credit", customer.email, amount, "--type", "payment", "--reason", "Transfer"];
  const [paid] = objectsOf(await operator([...credit, "--reference", reference, "--json"]), Paid);
  return paid?.paymentId ?? "";
}

/** Puts a payment into the table. */
async function put(customer: Customer, fields: Partial<PaymentRecord>): Promise<PaymentRecord> {
  const { organizationId } = customer;
  const billing = { organizationId, rechargedMicros: 0, rechargeFailures: 0 };
  const payment = {
    ...newPayment({
      organizationId,
      method: "bank_transfer",
      origin: "checkout",
      amountMicros: 50_000_000,
      billing,
    }),
    ...fields,
  };
  await putItem(paymentPut(payment));
  return payment;
}

it("a bank transfer is a payment with tax, which the operator sees, once for each reference", async () => {
  const customer = await register();
  const credit = ["wallets", "credit", customer.email, "100", "--type", "payment", "--reason", "Transfer 7"];
  const done = await operator([...credit, "--reference", "bank-1"]);
  expect(done).toMatchObject({ code: 0, err: "" });
  expect(done.out).toMatch(
    /^org_\w+: pay_\w+, The customer pays 120\.000000 USD: 100\.000000 USD for the wallet and 20\.000000 USD tax \(20 %\): Transfer 7, balance 100\.000000 USD\n$/,
  );
  const again = await operator([...credit, "--reference", "bank-1"]);
  expect(again).toMatchObject({ code: 0, out: expect.stringContaining("Nothing was changed") });
  expect((await customer.ledger()).map(({ type, amount, reason }) => [type, amount, reason])).toEqual([
    ["payment", 100, "Transfer 7"],
  ]);
  const part = await operator([...credit.with(3, "1.001"), "--reference", "bank-2"]);
  expect(part).toMatchObject({
    code: 1,
    err: "A payment is a whole number of the currency's smallest unit.\n",
  });
});

it("a pending bank transfer is completed with its own amount", async () => {
  const customer = await register();
  const { id } = await put(customer, {});
  const credit = ["wallets", "credit", customer.email, "50", "--type", "payment", "--reason", "Transfer"];
  const complete = [...credit, "--payment", id, "--reference", "bank-3"];
  const other = await operator(complete.with(3, "49"));
  expect(other).toMatchObject({
    code: 1,
    err: expect.stringContaining("not a pending bank transfer of this amount"),
  });
  expect((await operator(complete)).out).toContain(`${id}, The customer pays 60.000000 USD`);
  expect(await findPayment({ organizationId: customer.organizationId, paymentId: id })).toMatchObject({
    status: "succeeded",
    providerPaymentId: "bank-3",
  });
  expect((await operator(complete)).out).toContain("Nothing was changed");
  expect(await customer.balance()).toBe(50);
  const wrongType = await operator([
    "wallets",
    "credit",
    customer.email,
    "5",
    "--reason",
    "x",
    "--payment",
    id,
  ]);
  expect(wrongType).toMatchObject({
    code: 2,
    err: expect.stringContaining("--payment requires --type payment"),
  });
});

it("payments are listed and shown with the movements that they caused", async () => {
  const [one, other] = [await register(), await register()];
  const paid = await pay(one, "10", "bank-4");
  const { id: pending } = await put(other, { status: "failed", agenda: undefined, lookAt: undefined });
  const listed = async (...args: string[]): Promise<string[]> => {
    const { out } = await operator(["payments", "list", "--json", ...args]);
    return out.match(/(?<="id":")pay_\w+/g) ?? [];
  };
  expect(await listed()).toEqual(expect.arrayContaining([paid, pending]));
  expect(await listed("--organization", one.email)).toEqual([paid]);
  expect(await listed("--status", "failed")).toEqual([pending]);
  const unsettled = await listed("--unsettled");
  expect(unsettled).toContain(paid);
  expect(unsettled).not.toContain(pending);

  const shown = await operator(["payments", "show", paid]);
  expect(shown.out).toMatch(/^Provider +manual bank-4$/m);
  expect(shown.out).toMatch(/^bank-4 +\S+ +payment +10\.000000 USD +10\.000000 USD$/m);
  expect(await operator(["payments", "show", paid, "--organization", other.email])).toMatchObject({
    code: 1,
    err: `There is no payment ${paid} of ${other.organizationId}.\n`,
  });
});

it("a refund leaves the wallet once, also when the command is repeated", async () => {
  const customer = await register();
  const id = await pay(customer, "30", "bank-5");
  const refund = ["payments", "refund", id, "--amount", "10", "--reason", "Paid twice"];
  const first = await operator(refund);
  const [reference = ""] = /rfd_\w+/.exec(first.err) ?? [];
  expect(first.out).toBe(
    `${reference}: 10.000000 USD left the wallet. Transfer 12.000000 USD to the customer.\n`,
  );
  expect(await operator([...refund, "--reference", reference])).toMatchObject({ code: 0, out: first.out });
  expect(await customer.balance()).toBe(20);
  expect(await operator(refund.with(4, "20.01"))).toMatchObject({ code: 1 });
  await operator(["wallets", "debit", customer.email, "15", "--reason", "Fee"]);
  expect(await operator(["payments", "refund", id, "--reason", "Closed"])).toMatchObject({
    code: 1,
    err: expect.stringContaining("The balance is lower than that amount."),
  });
  const { out } = await operator(["payments", "show", id]);
  expect(out).toMatch(new RegExp(`^${reference} +\\S+ +payment_refund +-10\\.000000 USD`, "m"));
  const log = await operator(["audit-log", customer.email]);
  expect(log.out).toMatch(/payments refund .*done/);
});

it("the keys of the provider are stored without a live one on this machine", async () => {
  const file = path.join(dataFolder, "stripe.json");
  const connect = ["payments", "connect", "--credentials", file];
  await writeFile(file, JSON.stringify({ secretKey: "sk_live_1", webhookSecret: "whsec_1" }));
  expect(await operator(connect)).toMatchObject({
    code: 1,
    err: "The local gateway accepts only keys of a test account.\n",
  });
  await writeFile(file, JSON.stringify({ secretKey: "secret-1", webhookSecret: "whsec_1" }));
  const wrong = await operator(connect);
  expect(wrong).toMatchObject({
    code: 1,
    err: "The keys are not valid: secretKey: must begin with sk_ or rk_\n",
  });
  const keys = JSON.stringify({ secretKey: "sk_test_1", webhookSecret: "whsec_1" });
  await writeFile(file, keys);
  const stored = await operator(connect);
  expect(stored.out).toContain("/v1/payments/events/stripe\n");
  expect(stored.out).toContain("checkout.session.completed");
  const SecretId = process.env[environmentNames.paymentSecretId] ?? "";
  expect(SecretId).toMatch(/\/payments\/stripe$/);
  expect(await readSecretText({ SecretId })).toBe(keys);
});

it("a comparison finds what only the provider has, and what only the gateway has", async () => {
  const customer = await register();
  const card = { method: "card", provider: "stripe", status: "succeeded", agenda: undefined } as const;
  const same = await put(customer, { ...card, providerPaymentId: "pi_same" });
  const missing = await put(customer, { ...card, providerPaymentId: "pi_missing" });
  const other = await put(customer, { ...card, providerPaymentId: "pi_other" });
  const uncredited = await put(customer, { ...card, status: "pending" });
  const intent = (id: string, payment?: PaymentRecord, fields = {}) => ({
    id,
    object: "payment_intent",
    status: "succeeded",
    amount_received: 6_000,
    currency: "usd",
    created: 1_900_000_000,
    metadata: payment === undefined ? {} : { organizationId: payment.organizationId, paymentId: payment.id },
    ...fields,
  });
  const data = [
    intent("pi_same", same),
    intent("pi_other", other, { amount_received: 5_999 }),
    intent("pi_uncredited", uncredited),
    intent("pi_foreign"),
    intent("pi_lost", { ...same, id: "pay_01M7Y6EJCCCYF8FQN69JCEXBCE" }),
    intent("pi_failed", undefined, { status: "canceled" }),
  ];
  const stripe = createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    const [, id] = /payment_intents\/(\w+)/.exec(request.url ?? "") ?? [];
    const list = { object: "list", has_more: false, data, url: "/v1/payment_intents" };
    response.end(JSON.stringify(id === undefined ? list : data.find((each) => each.id === id)));
  });
  process.env[environmentNames.stripeApiUrl] = `http://127.0.0.1:${await listenOnLoopback(stripe)}`;
  try {
    const found = await operator(["payments", "compare", "--json"]);
    const Difference = z.object({
      difference: z.string(),
      providerPaymentId: z.optional(z.string()),
      paymentId: z.optional(z.string()),
    });
    expect(found.code).toBe(1);
    expect(objectsOf(found, Difference)).toEqual([
      { difference: "differs", providerPaymentId: "pi_other", paymentId: other.id },
      { difference: "not credited", providerPaymentId: "pi_uncredited", paymentId: uncredited.id },
      { difference: "foreign", providerPaymentId: "pi_foreign" },
      { difference: "lost", providerPaymentId: "pi_lost", paymentId: "pay_01M7Y6EJCCCYF8FQN69JCEXBCE" },
      { difference: "missing", providerPaymentId: "pi_missing", paymentId: missing.id },
    ]);
    expect(await customer.balance()).toBe(0);

    const paused = await operator(["payments", "pause", "--reason", "Restore"]);
    expect(paused.out).toMatch(/^paused since \S+ \(Restore\)\n$/);
    const request = customer.client.createPayment({ body: { amount: 20 } });
    await expect(request).rejects.toMatchObject({ code: "PAYMENT_PROVIDER_UNAVAILABLE" });
    const adopt = ["payments", "adopt", "pi_lost", "--reason", "Restore"];
    expect(await operator(adopt)).toMatchObject({ code: 1, err: expect.stringContaining("with --amount.") });
    for (const text of ["pay_01M7Y6EJCCCYF8FQN69JCEXBCE", "It was credited before."]) {
      const { out } = await operator([...adopt, "--amount", "50"]);
      expect(out).toBe(`${text} Balance: 50.000000 USD\n`);
    }
    expect(await customer.balance()).toBe(50);
    const { out: log } = await operator(["audit-log", customer.email, "--json"]);
    expect(log).toContain('"action":"payments adopt"');
    await operator(["payments", "resume"]);
    expect((await operator(["payments", "show-pause"])).out).toMatch(/^active, resumed at /);
    const year = new Date().getUTCFullYear();
    const advance = ["invoices", "advance", `CRN-${year}-000041`, "--reason", "Restore"];
    expect((await operator(advance)).out).toBe(`The next number is CRN-${year}-000042.\n`);
    expect((await operator(["invoices", "advance", "41", "--reason", "Restore"])).code).toBe(2);
    const elsewhere = ["payments", "pause", "--reason", "Restore", "--table", "no-such-table"];
    expect((await operator(elsewhere)).code).toBe(1);
  } finally {
    delete process.env[environmentNames.stripeApiUrl];
    stripe.close();
    stripe.closeAllConnections();
  }
});
