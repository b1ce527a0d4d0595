import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod/mini";

import { outputNames } from "../../infra/constructs/stack-outputs.ts";
import type { LocalGateway } from "../../infra/local/gateway.ts";
import { LedgerEntryRecord } from "../../shared/money/wallet/ledger.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { messageKey } from "../../shared/platform/table/shards.ts";
import { deleteItem } from "../../shared/platform/table/write.ts";
import { Customer, errorOf } from "../support/api.ts";
import { objectsOf, operator, operatorProcess } from "../support/operator.ts";
import { keyOfEntry } from "../support/organization-shards.ts";
import { startOperatedGateway } from "../support/own-gateway.ts";

let gateway: LocalGateway;
let dataFolder: string;
let stop: () => Promise<void>;

beforeAll(async () => {
  ({ gateway, dataFolder, stop } = await startOperatedGateway());
});
afterAll(async () => {
  await stop();
});

it("a wallet is credited and charged exactly, once for each reference, and its ledger has the reason", async () => {
  const customer = await Customer.register({ baseUrl: gateway.url });
  const other = await Customer.register({ baseUrl: gateway.url });
  const credit = ["wallets", "credit", customer.email, "9007199.000001", "--reason", "Invoice 7"];
  const first = await operator([...credit, "--json"]);
  const Adjusted = z.object({ balanceMicros: z.int(), reference: z.string(), wasDoneBefore: z.boolean() });
  const [{ reference, ...done } = { reference: "" }] = objectsOf(first, Adjusted);
  expect(done).toEqual({ balanceMicros: 9_007_199_000_001, wasDoneBefore: false });
  expect(first.err).toContain(`--reference ${reference}`);

  const again = await operator([...credit, "--reference", reference]);
  expect(again).toMatchObject({ code: 0, out: expect.stringContaining("this movement was made before") });
  for (const changed of [credit.with(3, "5"), credit.with(2, other.email)]) {
    const words =
      `^The reference ${reference} belongs to another movement: ` +
      `credit of 9007199\\.000001 USD for ${customer.organizationId} at \\S+Z\\. Nothing was changed\\.\n$`;
    expect(await operator([...changed, "--reference", reference])).toMatchObject({
      code: 1,
      err: expect.stringMatching(new RegExp(words)),
    });
  }

  const debit = [
    "wallets",
    "debit",
    customer.organizationId,
    "9007190",
    "--reason",
    "Paid back",
    "--reference",
  ];
  expect(await operator([...debit, "a", "--type", "payment_refund"])).toMatchObject({ code: 0, err: "" });
  const tooMuch = await operator([...debit, "b"]);
  expect(tooMuch).toMatchObject({ code: 1, err: "The balance is lower than that amount.\n" });
  expect(await customer.balance()).toBe(9.000001);

  const { out } = await operator(["wallets", "list-entries", customer.email]);
  expect(out).toMatch(
    /^ {2}2 {2}\S+ {2}payment_refund {2}-9007190\.000000 USD +9\.000001 USD {2}Paid back {2}a$/m,
  );
  const credited = `^ {2}1 {2}\\S+ {2}credit +9007199\\.000001 USD +9007199\\.000001 USD {2}Invoice 7 {2}${reference}$`;
  expect(out).toMatch(new RegExp(credited, "m"));
  expect(out).toContain("2 entries in total; 9.000001 USD, open");
  const Entry = z.object({ type: z.string(), reference: z.string() });
  expect(objectsOf(await operator(["wallets", "list-entries", customer.email, "--json"]), Entry)).toEqual([
    { type: "payment_refund", reference: "a" },
    { type: "credit", reference },
  ]);
  expect((await customer.ledger()).map((entry) => [entry.type, entry.reference])).toEqual([
    ["credit", reference],
    ["payment_refund", "a"],
  ]);
});

it("a payment has its own reference, and a chargeback also takes money that was spent", async () => {
  const customer = await Customer.register({ baseUrl: gateway.url });
  const credit = ["wallets", "credit", customer.email, "1", "--reason", "Card", "--type"];
  const missing = await operator([...credit, "payment"]);
  expect(missing).toMatchObject({ code: 2, err: expect.stringContaining("--reference is missing") });
  const wrongWay = await operator([...credit, "chargeback", "--reference", "pi_1"]);
  expect(wrongWay).toMatchObject({
    code: 2,
    err: expect.stringContaining("--type must be one of credit, payment, correction"),
  });
  expect(await operator([...credit, "payment", "--reference", "pi_1"])).toMatchObject({ code: 0, err: "" });
  await customer.send();
  const chargeback = ["wallets", "debit", customer.email, "1", "--reason", "Card", "--type", "chargeback"];
  expect(await operator(chargeback)).toMatchObject({ code: 2 });
  expect(await operator([...chargeback, "--reference", "dp_1"])).toMatchObject({
    code: 0,
    out: `${customer.organizationId}: -1.000000 USD (chargeback), balance -0.007900 USD\n`,
  });
  expect(await customer.balance()).toBe(-0.0079);
  expect(errorOf(await customer.trySend())).toEqual({ status: 402, code: "BALANCE_NEGATIVE" });
});

it("a closed wallet rejects sends until it is reopened, and shows why it is closed", async () => {
  const customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
  const closed = await operator(["wallets", "close", customer.email, "--reason", "Fraud\u001b[2J"]);
  expect(closed.code).toBe(0);
  expect(closed.out).toMatch(/: 1\.000000 USD, closed since \S+ \(Fraud\u{FFFD}\[2J\)\n$/u);
  expect(errorOf(await customer.trySend())).toEqual({ status: 400, code: "WALLET_MISSING" });

  const reopened = await operator(["wallets", "reopen", customer.email]);
  expect(reopened).toMatchObject({ code: 0, out: `${customer.organizationId}: 1.000000 USD, open\n` });
  expect((await customer.trySend()).status).toBe(202);
});

it("a wallet's cap and rate limit are set for one organization, removed, and reset to the stage's", async () => {
  const customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
  const { email, organizationId } = customer;
  expect(await operator(["wallets", "set-daily-cap", email, "0.01"])).toMatchObject({
    code: 0,
    out: `${organizationId}: daily cap: 0.010000 USD a day\n`,
  });
  expect((await customer.trySend()).status).toBe(202);
  expect(errorOf(await customer.trySend())).toEqual({ status: 402, code: "DAILY_SPEND_CAP_REACHED" });
  expect(await operator(["wallets", "set-daily-cap", email, "none"])).toMatchObject({
    code: 0,
    out: `${organizationId}: daily cap: no limit\n`,
  });
  expect((await customer.trySend()).headers.has("RateLimit-Policy")).toBe(false);
  expect(await operator(["wallets", "set-rate-limit", email, "9000"])).toMatchObject({
    code: 0,
    out: `${organizationId}: rate limit: 9000 messages a second\n`,
  });
  const paced = await customer.trySend();
  expect(paced.status).toBe(202);
  expect(paced.headers.get("RateLimit-Policy")).toBe('"sends";q=9000;w=1');
  expect(await operator(["wallets", "set-rate-limit", email, "default"])).toMatchObject({
    code: 0,
    out: `${organizationId}: rate limit: the stage's limit\n`,
  });
  expect((await customer.trySend()).headers.has("RateLimit-Policy")).toBe(false);
});

it("the audit distinguishes correct wallets, wrong ones and those that are not settled yet", async () => {
  const customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
  const { organizationId } = customer;
  await customer.send();
  const good = await operator(["wallets", "verify", customer.email]);
  expect(good.out).toContain(`${organizationId}  0.992100 USD  2 entries  ok\n`);
  expect(good).toMatchObject({ code: 0, out: expect.stringContaining("1 wallets verified, 0 wrong") });

  const key = keyOfEntry(organizationId, 1);
  expect(await findItem(LedgerEntryRecord, key)).toBeDefined();
  await deleteItem(keyOfEntry(organizationId, 2));
  const young = await operator(["wallets", "verify", organizationId]);
  expect(young.code).toBe(0);
  expect(young.out).toContain("pending\n    pending: seq 2 to 2 have no entry");

  const other = await Customer.register({ baseUrl: gateway.url });
  const both = await operator(["wallets", "verify", organizationId, other.email, "--json"]);
  const Audited = z.object({ organizationId: z.string() });
  expect(objectsOf(both, Audited).map((each) => each.organizationId)).toEqual([
    organizationId,
    other.organizationId,
  ]);

  await deleteItem(messageKey({ organizationId, id: (await customer.send()).id }));
  const bad = await operator(["wallets", "verify", "--json"]);
  expect(bad.code).toBe(1);
  const audits = objectsOf(bad, z.object({ organizationId: z.string(), findings: z.array(z.string()) }));
  expect(audits.filter(({ findings }) => findings.length > 0)).toEqual([
    { organizationId, findings: [expect.stringMatching(/^seq 3 pays for msg_\w+, which does not exist$/)] },
  ]);
});

it("amounts have the currency that the stack states, and that of the first releases where it states none", async () => {
  const customer = await Customer.register({ balance: 1, baseUrl: gateway.url });
  const { id } = await customer.send();
  const connections = path.join(dataFolder, "connections.json");
  const { outputs, ...rest } = z
    .looseObject({ outputs: z.array(z.object({ name: z.string(), value: z.string() })) })
    .parse(JSON.parse(await readFile(connections, "utf8")));
  const others = outputs.filter(({ name }) => name !== outputNames.currency);
  expect(outputs).toContainEqual({ name: outputNames.currency, value: "USD" });
  const shown = async (stated: typeof outputs): Promise<string[]> => {
    await writeFile(connections, JSON.stringify({ ...rest, outputs: [...others, ...stated] }));
    const commands = [
      ["wallets", "list-entries", customer.email],
      ["messages", "show", id],
      ["margins", "--today"],
    ];
    const ended = await Promise.all(commands.map(async (each) => operatorProcess(dataFolder, each)));
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 0]);
    return ended.map(({ out }) => [...new Set(out.match(/\b(EUR|USD)\b/g))].join());
  };
  expect(await shown([{ name: outputNames.currency, value: "EUR" }])).toEqual(["EUR", "EUR", "EUR"]);
  expect(await shown([])).toEqual(["USD", "USD", "USD"]);
});
