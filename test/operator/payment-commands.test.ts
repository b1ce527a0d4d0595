import { createServer } from "node:http";

import { beforeAll, expect, it } from "vitest";
import * as z from "zod/mini";

import { listenOnLoopback } from "../../infra/local/loopback.ts";
import { noticeOf, paymentsCompared } from "../../shared/figures/operators/record.ts";
import { newPayment } from "../../shared/money/payments/create.ts";
import { findPayment, paymentPut, type PaymentRecord } from "../../shared/money/payments/record.ts";
import { readSecretText } from "../../shared/platform/aws/read-secret.ts";
import { dayMs, dayOf } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { transact } from "../../shared/platform/table/transact.ts";
import { putItem, putOf, updateOf } from "../../shared/platform/table/write.ts";
import type { Customer } from "../support/api.ts";
import { runSchedule } from "../support/functions.ts";
import { auditLog, jsonOf, objectsIn, operator, outputOf, rejectionOf } from "../support/operator.ts";
import { useOperatedGateway } from "../support/own-gateway.ts";

const operated = useOperatedGateway();
const { register } = operated;
beforeAll(async () => {
  // The settings of the stage, which commands take from its stack.
  await outputOf("version");
});

function credit({ email }: Customer, amount: string, reference: string): string {
  return `wallets credit ${email} ${amount} --type payment --reason 'Transfer 7' --reference ${reference}`;
}

async function pay(customer: Customer, amount: string, reference: string): Promise<string> {
  const Paid = z.object({ paymentId: z.string(), totalMicros: z.int(), wasDoneBefore: z.boolean() });
  const [paid] = await jsonOf(credit(customer, amount, reference), Paid);
  return paid?.paymentId ?? "";
}

/** Puts a payment into the table. */
async function put({ organizationId }: Customer, fields: Partial<PaymentRecord>): Promise<PaymentRecord> {
  const billing = { organizationId, rechargedMicros: 0, rechargeFailures: 0 };
  const transfer = { method: "bank_transfer", origin: "checkout", amountMicros: 50_000_000 } as const;
  const payment = { ...newPayment({ organizationId, ...transfer, billing }), ...fields };
  await putItem(paymentPut(payment));
  return payment;
}

it("the daily comparisons are listed without a key of the provider, with missing days and differences", async () => {
  const yesterday = dayOf(new Date(Date.now() - dayMs).toISOString());
  const list = async () => operator("payments list-comparisons --days 1");
  const without = `Warning: days without a comparison: ${yesterday}\n`;
  expect(await list()).toEqual({ code: 1, out: "0 comparisons, 0 differences\n", err: without });
  await runSchedule(operated.gateway, "ComparePayments");
  expect(await list()).toEqual({ code: 1, out: "1 comparisons, 0 differences\n", err: without });
  const { key, record } = noticeOf({ what: paymentsCompared }, yesterday);
  await putItem(putOf(key, record));
  expect(await list()).toEqual({ code: 0, out: "2 comparisons, 0 differences\n", err: "" });
  const difference = noticeOf({ what: "payment missing", paymentId: "pay_1" }, yesterday);
  await putItem(putOf(difference.key, difference.record));
  expect(await list()).toMatchObject({ code: 1, out: expect.stringMatching(/ missing +pay_1/) });
});

it("a bank transfer is a payment with tax, which the operator sees, once for each reference", async () => {
  const customer = await register();
  expect(await outputOf(credit(customer, "100", "bank-1"))).toMatch(
    /^org_\w+: pay_\w+, The customer pays 120\.000000 USD: 100\.000000 USD for the wallet and 20\.000000 USD tax \(20 %\): Transfer 7, balance 100\.000000 USD\n$/,
  );
  expect(await outputOf(credit(customer, "100", "bank-1"))).toContain("Nothing was changed");
  expect((await customer.ledger()).map(({ type, amount, reason }) => [type, amount, reason])).toEqual([
    ["payment", 100, "Transfer 7"],
  ]);
  expect(await rejectionOf(credit(customer, "1.001", "bank-2"))).toBe(
    "A payment is a whole number of the currency's smallest unit.",
  );
});

it("a pending bank transfer is completed with its own amount", async () => {
  const customer = await register();
  const { id } = await put(customer, {});
  const complete = (amount: string) => `${credit(customer, amount, "bank-3")} --payment ${id}`;
  expect(await rejectionOf(complete("49"))).toContain("not a pending bank transfer of this amount");
  expect(await outputOf(complete("50"))).toContain(`${id}, The customer pays 60.000000 USD`);
  expect(await findPayment({ organizationId: customer.organizationId, paymentId: id })).toMatchObject({
    status: "succeeded",
    providerPaymentId: "bank-3",
  });
  expect(await outputOf(complete("50"))).toContain("Nothing was changed");
  expect(await customer.balance()).toBe(50);
});

it("payments are listed and shown with the movements that they caused", async () => {
  const [one, other] = [await register(), await register()];
  const paid = await pay(one, "10", "bank-4");
  const { id: pending } = await put(other, { status: "failed", pendingWork: undefined, visitAt: undefined });
  const listed = async (options = "") =>
    (await jsonOf(`payments list ${options}`, z.object({ id: z.string() }))).map(({ id }) => id);
  expect(await listed()).toEqual(expect.arrayContaining([paid, pending]));
  expect(await listed(`--organization ${one.email}`)).toEqual([paid]);
  expect(await listed("--status failed")).toEqual([pending]);
  // A transfer without its reference is found by its amount with tax.
  expect(await listed("--total 12")).toEqual([paid]);
  expect(await listed("--unsettled --total 12.01")).toEqual([]);
  const unsettled = await listed("--unsettled");
  expect(unsettled).toContain(paid);
  expect(unsettled).not.toContain(pending);

  const shown = await outputOf(`payments show ${paid}`);
  expect(shown).toMatch(/^Provider +manual bank-4$/m);
  expect(shown).toMatch(/^bank-4 +\S+ +payment +10\.000000 USD +10\.000000 USD$/m);
  expect(await rejectionOf(`payments show ${paid} --organization ${other.email}`)).toBe(
    `There is no payment ${paid} of ${other.organizationId}.`,
  );
});

it("lists open disputes, the next one due first, with the end of the time for evidence", async () => {
  const customer = await register();
  const disputeOf = (status: "open" | "won", dueAt?: string) => ({
    id: `dp_${status}`,
    amountMicros: 50_000_000,
    totalMicros: 60_000_000,
    feeMicros: 15_000_000,
    status,
    reason: "fraudulent",
    dueAt,
    openedAt: "2026-11-01T10:00:00.000Z",
  });
  const later = await put(customer, { disputes: [disputeOf("open", "2026-12-09T00:00:00.000Z")] });
  const next = await put(customer, { disputes: [disputeOf("open", "2026-12-04T00:00:00.000Z")] });
  await put(customer, { disputes: [disputeOf("won")] });
  const table = await outputOf(`payments list --disputed --organization ${customer.email}`);
  const lines = table.trim().split("\n").slice(1, -1);
  expect(lines.map((line) => line.slice(0, next.id.length))).toEqual([next.id, later.id]);
  expect(lines[0]).toContain("open (fraudulent), evidence due 2026-12-04T00:00:00.000Z");
  expect(await outputOf(`payments show ${next.id} --organization ${customer.email}`)).toContain(
    "dp_open 60.000000 USD open (fraudulent), evidence due 2026-12-04T00:00:00.000Z, fee 15.000000 USD",
  );
});

it("a refund leaves the wallet once, also when the command is repeated", async () => {
  const customer = await register();
  const id = await pay(customer, "30", "bank-5");
  const refund = (amount: string) => `payments refund ${id} --amount ${amount} --reason 'Paid twice'`;
  const first = await operator(refund("10"));
  const [reference = ""] = /rfd_\w+/.exec(first.err) ?? [];
  expect(first.out).toBe(
    `${reference}: 10.000000 USD left the wallet. Transfer 12.000000 USD to the customer.\n`,
  );
  expect(await outputOf(`${refund("10")} --reference ${reference}`)).toBe(first.out);
  expect(await customer.balance()).toBe(20);
  expect(await operator(refund("20.01"))).toMatchObject({ code: 1 });
  await operator(`wallets debit ${customer.email} 15 --reason Fee`);
  expect(await operator(`payments refund ${id} --reason Closed`)).toMatchObject({
    code: 1,
    err: expect.stringContaining("The balance is lower than that amount."),
  });
  expect(await outputOf(`payments show ${id}`)).toMatch(
    new RegExp(`^${reference} +\\S+ +payment_refund +-10\\.000000 USD`, "m"),
  );
  const outcomes = (await auditLog("payments refund", customer.email)).map(({ outcome }) => outcome);
  expect(outcomes).toEqual(["refused", "refused", "done", "done"]);
});

it("a comparison finds what only the provider has, and what only the gateway has", async () => {
  const customer = await register();
  const card = { method: "card", provider: "stripe", status: "succeeded", pendingWork: undefined } as const;
  const same = await put(customer, { ...card, providerPaymentId: "pi_same" });
  const missing = await put(customer, { ...card, providerPaymentId: "pi_missing" });
  const other = await put(customer, { ...card, providerPaymentId: "pi_other" });
  const uncredited = await put(customer, { ...card, status: "pending" });
  const elsewhere = await put(customer, {
    ...card,
    providerPaymentId: "pi_2",
    providerAccount: "acct_2 test",
  });
  const lost = { ...same, id: "pay_01M7Y6EJCCCYF8FQN69JCEXBCE" };
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
    intent("pi_lost", lost),
    intent("pi_failed", undefined, { status: "canceled" }),
  ];
  const stripe = createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    const [, id] = /(?:payment_intents\/|v1\/)(account$|pi_\w+)/.exec(request.url ?? "") ?? [];
    const list = { object: "list", has_more: false, data, url: "/v1/payment_intents" };
    const self = { object: "account", id: "account" };
    response.end(JSON.stringify(id === undefined ? list : [self, ...data].find((each) => each.id === id)));
  });
  process.env[environmentNames.stripeApiUrl] = `http://127.0.0.1:${await listenOnLoopback(stripe)}`;
  try {
    const found = await operator("payments compare --json");
    expect(found.code).toBe(1);
    expect(objectsIn(found.out, z.unknown())).toMatchObject([
      { difference: "differs", providerPaymentId: "pi_other", paymentId: other.id },
      { difference: "not credited", providerPaymentId: "pi_uncredited", paymentId: uncredited.id },
      { difference: "foreign", providerPaymentId: "pi_foreign" },
      { difference: "lost", providerPaymentId: "pi_lost", paymentId: lost.id },
      { difference: "missing", providerPaymentId: "pi_missing", paymentId: missing.id },
      { difference: "other account", providerPaymentId: "pi_2", paymentId: elsewhere.id },
    ]);
    expect(await customer.balance()).toBe(0);

    const paused = await outputOf("payments pause --reason Restore");
    expect(paused).toMatch(/^paused since \S+ \(Restore\)\n$/);
    const request = customer.client.createPayment({ body: { amount: 20 } });
    await expect(request).rejects.toMatchObject({ code: "PAYMENT_PROVIDER_UNAVAILABLE" });
    const adopt = "payments adopt pi_lost --reason Restore";
    expect(await rejectionOf(adopt)).toContain("with --amount.");
    for (const text of [lost.id, "It was credited before."]) {
      expect(await outputOf(`${adopt} --amount 50`)).toBe(`${text} Balance: 50.000000 USD\n`);
    }
    expect(await customer.balance()).toBe(50);
    expect(await auditLog("payments adopt", customer.email)).not.toEqual([]);
    await outputOf("payments resume");
    expect(await outputOf("payments show-pause")).toMatch(/^active, resumed at /);
    const year = new Date().getUTCFullYear();
    const advance = `invoices advance CRN-${year}-000041 --reason Restore`;
    expect(await outputOf(advance)).toBe(`The next number is CRN-${year}-000042.\n`);
    const settled = { remove: ["pendingWork", "visitAt"] } as const;
    await transact({ lost: updateOf(keys.payment(customer.organizationId, lost.id), settled) });
    await rejectionOf("payments pause --reason Restore --table no-such-table");
  } finally {
    delete process.env[environmentNames.stripeApiUrl];
    stripe.close();
    stripe.closeAllConnections();
  }
});

it("the keys of the provider are stored without a live one on this machine", async () => {
  const connect = async (text: string) =>
    `payments connect --credentials ${await operated.fileOf(text, "stripe.json")}`;
  for (const [secretKey, reason] of [
    ["sk_live_1", "The local gateway accepts only keys of a test account."],
    ["secret-1", "The keys are not valid: secretKey: must begin with sk_ or rk_"],
  ]) {
    const line = await connect(JSON.stringify({ secretKey, webhookSecret: "whsec_1" }));
    expect(await rejectionOf(line)).toBe(reason);
  }
  const customer = await register();
  const other = { provider: "stripe", method: "card", providerAccount: "acct_1 test" } as const;
  const { id } = await put(customer, other);
  const present = JSON.stringify({ secretKey: "sk_test_1", webhookSecret: "whsec_1" });
  expect(await rejectionOf(await connect(present))).toContain(
    `works on 1 payments of another account, such as ${id} of acct_1 test.`,
  );
  expect(await outputOf(`payments show ${id}`)).toMatch(/^Account +acct_1 test$/m);
  const abandon = `payments abandon ${id} --reason 'Account closed'`;
  expect(await outputOf(abandon)).toMatch(/^Status +expired$/m);
  expect(await auditLog("payments abandon", customer.email)).toMatchObject([{ outcome: "done" }]);
  const stored = await outputOf(await connect(present));
  expect(stored).toContain("/v1/payments/events/stripe\n");
  expect(stored).toContain("checkout.session.completed");
  const SecretId = process.env[environmentNames.paymentSecretId] ?? "";
  expect(SecretId).toMatch(/\/payments\/stripe$/);
  expect(await readSecretText({ SecretId })).toBe(present);
  // Without keys the command only shows the address, and needs no consent.
  expect(await outputOf("payments connect")).toContain("\nNo keys were stored.");
  expect(await readSecretText({ SecretId })).toBe(present);
});
