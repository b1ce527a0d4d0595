import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

import { expect, it } from "vitest";
import * as z from "zod/mini";

import { outputNames } from "../../infra/stack/constructs/stack-outputs.ts";
import { LedgerEntryRecord } from "../../shared/money/wallet/ledger.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { messageKey } from "../../shared/platform/table/shards.ts";
import { deleteItem } from "../../shared/platform/table/write.ts";
import { errorOf } from "../support/api.ts";
import { jsonOf, objectsIn, operator, operatorProcess, outputOf, rejectionOf } from "../support/operator.ts";
import { keyOfEntry } from "../support/organization-shards.ts";
import { useOperatedGateway } from "../support/own-gateway.ts";

const operated = useOperatedGateway();
const { register } = operated;

it("a wallet is credited and charged exactly, once for each reference, and its ledger has the reason", async () => {
  const customer = await register();
  const other = await register();
  const credit = (of = customer, amount = "9007199.000001") =>
    `wallets credit ${of.email} ${amount} --reason 'Invoice 7'`;
  const first = await operator(`${credit()} --json`);
  const Adjusted = z.object({ balanceMicros: z.int(), reference: z.string(), wasDoneBefore: z.boolean() });
  const { reference, ...done } = Adjusted.parse(JSON.parse(first.out));
  expect(done).toEqual({ balanceMicros: 9_007_199_000_001, wasDoneBefore: false });
  expect(first.err).toContain(`--reference ${reference}`);

  expect(await outputOf(`${credit()} --reference ${reference}`)).toContain("this movement was made before");
  for (const changed of [credit(customer, "5"), credit(other)]) {
    const words =
      `^The reference ${reference} belongs to another movement: ` +
      `credit of 9007199\\.000001 USD for ${customer.organizationId} at \\S+Z\\. Nothing was changed\\.$`;
    expect(await rejectionOf(`${changed} --reference ${reference}`)).toMatch(new RegExp(words));
  }

  const debit = `wallets debit ${customer.organizationId} 9007190 --reason 'Paid back' --reference`;
  await outputOf(`${debit} a --type payment_refund`);
  expect(await rejectionOf(`${debit} b`)).toBe("The balance is lower than that amount.");
  expect(await customer.balance()).toBe(9.000001);

  const out = await outputOf(`wallets list-entries ${customer.email}`);
  expect(out).toMatch(
    /^ {2}2 {2}\S+ {2}payment_refund {2}-9007190\.000000 USD +9\.000001 USD {2}Paid back {2}a$/m,
  );
  const credited = `^ {2}1 {2}\\S+ {2}credit +9007199\\.000001 USD +9007199\\.000001 USD {2}Invoice 7 {2}${reference}$`;
  expect(out).toMatch(new RegExp(credited, "m"));
  expect(out).toContain("2 entries in total; 9.000001 USD, open");
  const Entry = z.object({ type: z.string(), reference: z.string() });
  expect(await jsonOf(`wallets list-entries ${customer.email}`, Entry)).toEqual([
    { type: "payment_refund", reference: "a" },
    { type: "credit", reference },
  ]);
  expect((await customer.ledger()).map((entry) => [entry.type, entry.reference])).toEqual([
    ["credit", reference],
    ["payment_refund", "a"],
  ]);
});

it("a chargeback also takes money that was spent", async () => {
  const customer = await register({ balance: 1 });
  await customer.send();
  const chargeback = `wallets debit ${customer.email} 1 --reason Card --type chargeback --reference dp_1`;
  expect(await outputOf(chargeback)).toBe(
    `${customer.organizationId}: -1.000000 USD (chargeback), balance -0.007900 USD\n`,
  );
  expect(errorOf(await customer.trySend())).toEqual({ status: 402, code: "BALANCE_NEGATIVE" });
});

it("a closed wallet rejects sends until it is reopened, and shows why it is closed", async () => {
  const customer = await register({ balance: 1 });
  const closed = await outputOf(`wallets close ${customer.email} --reason 'Fraud\u001b[2J'`);
  expect(closed).toMatch(/: 1\.000000 USD, closed since \S+ \(Fraud\u{FFFD}\[2J\)\n$/u);
  expect(errorOf(await customer.trySend())).toEqual({ status: 400, code: "WALLET_MISSING" });

  const reopened = await outputOf(`wallets reopen ${customer.email}`);
  expect(reopened).toBe(`${customer.organizationId}: 1.000000 USD, open\n`);
  expect((await customer.trySend()).status).toBe(202);
});

it("a transfer without a customer waits in a closed wallet, and is moved to its customer once", async () => {
  const [parked, customer] = [await register(), await register()];
  await outputOf(`wallets close ${parked.email} --reason 'Unmatched transfers'`);
  const park = `wallets credit ${parked.email} 50 --type correction --reason 'Sender unknown' --reference parked-bank-9`;
  await outputOf(park);
  expect(await outputOf(park)).toContain("Nothing was changed");
  expect(await parked.balance()).toBe(50);
  for (const times of [1, 2]) {
    const moved = `--type correction --reason 'Of ${customer.organizationId}' --reference moved-bank-9`;
    const debit = await outputOf(`wallets debit ${parked.email} 50 ${moved}`);
    const paid = `--type payment --reason 'Transfer 9' --reference bank-9`;
    const credit = await outputOf(`wallets credit ${customer.email} 50 ${paid}`);
    for (const out of [debit, credit]) expect(out.includes("Nothing was changed")).toBe(times === 2);
  }
  expect([await parked.balance(), await customer.balance()]).toEqual([0, 50]);
});

it("a wallet's cap and rate limit are set for one organization, removed, and reset to the stage's", async () => {
  const customer = await register({ balance: 1 });
  const { email, organizationId } = customer;
  const set = async (limit: string, value: string) => {
    const out = await outputOf(`wallets ${limit} ${email} ${value}`);
    return out.replace(`${organizationId}: `, "").trimEnd();
  };
  expect(await set("set-daily-cap", "0.01")).toBe("daily cap: 0.010000 USD a day");
  expect((await customer.trySend()).status).toBe(202);
  expect(errorOf(await customer.trySend())).toEqual({ status: 402, code: "DAILY_SPEND_CAP_REACHED" });
  expect(await set("set-daily-cap", "none")).toBe("daily cap: no limit");
  const policy = async () => {
    const { status, headers } = await customer.trySend();
    return [status, headers.get("RateLimit-Policy")];
  };
  expect(await policy()).toEqual([202, null]);
  expect(await set("set-rate-limit", "9000")).toBe("rate limit: 9000 messages a second");
  expect(await policy()).toEqual([202, '"sends";q=9000;w=1']);
  expect(await set("set-rate-limit", "default")).toBe("rate limit: the stage's limit");
  expect(await policy()).toEqual([202, null]);
});

it("the audit distinguishes correct wallets, wrong ones and those that are not settled yet", async () => {
  const customer = await register({ balance: 1 });
  const { organizationId } = customer;
  await customer.send();
  const good = await outputOf(`wallets verify ${customer.email}`);
  expect(good).toContain(`${organizationId}  0.992100 USD  2 entries  ok\n`);
  expect(good).toContain("1 wallets verified, 0 wrong");

  const key = keyOfEntry(organizationId, 1);
  expect(await findItem(LedgerEntryRecord, key)).toBeDefined();
  await deleteItem(keyOfEntry(organizationId, 2));
  const young = await outputOf(`wallets verify ${organizationId}`);
  expect(young).toContain("pending\n    pending: seq 2 to 2 have no entry");

  const other = await register();
  const Audited = z.object({ organizationId: z.string() });
  const both = await jsonOf(`wallets verify ${organizationId} ${other.email}`, Audited);
  expect(both).toEqual([{ organizationId }, { organizationId: other.organizationId }]);

  await deleteItem(messageKey({ organizationId, id: (await customer.send()).id }));
  const bad = await operator("wallets verify --json");
  expect(bad.code).toBe(1);
  const Verified = z.object({ organizationId: z.string(), findings: z.array(z.string()) });
  const wrong = objectsIn(bad.out, Verified).filter(({ findings }) => findings.length > 0);
  expect(wrong).toEqual([
    { organizationId, findings: [expect.stringMatching(/^seq 3 pays for msg_\w+, which does not exist$/)] },
  ]);
});

it("amounts have the currency that the stack states, and that of the first releases where it states none", async () => {
  const customer = await register({ balance: 1 });
  const { id } = await customer.send();
  const connections = path.join(operated.dataFolder, "connections.json");
  const { outputs, ...rest } = z
    .looseObject({ outputs: z.array(z.object({ name: z.string(), value: z.string() })) })
    .parse(JSON.parse(await readFile(connections, "utf8")));
  const others = outputs.filter(({ name }) => name !== outputNames.currency);
  expect(outputs).toContainEqual({ name: outputNames.currency, value: "USD" });
  const shown = async (stated: typeof outputs): Promise<string[]> => {
    await writeFile(connections, JSON.stringify({ ...rest, outputs: [...others, ...stated] }));
    const commands = [`wallets list-entries ${customer.email}`, `messages show ${id}`, "margins --today"];
    const ended = await Promise.all(commands.map(async (each) => operatorProcess(operated.dataFolder, each)));
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 0]);
    return ended.map(({ out }) => [...new Set(out.match(/\b(EUR|USD)\b/g))].join());
  };
  expect(await shown([{ name: outputNames.currency, value: "EUR" }])).toEqual(["EUR", "EUR", "EUR"]);
  expect(await shown([])).toEqual(["USD", "USD", "USD"]);
});
