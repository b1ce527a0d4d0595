import { readFile } from "node:fs/promises";
import path from "node:path";

import { beforeAll, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { AcceptedMessage } from "../../shared/api/contract/sms.ts";
import { MessageRecord } from "../../shared/messages/message/record.ts";
import { findCurrentVersion } from "../../shared/money/prices/record.ts";
import { dayMs, minuteMs } from "../../shared/platform/clock.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { messageKey } from "../../shared/platform/table/shards.ts";
import { dataOf, errorOf, type Customer } from "../support/api.ts";
import { auditLog, objectsIn, operator, outputOf, rejectionOf } from "../support/operator.ts";
import { useOperatedGateway } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

/*
 * The operator's commands for prices, in the order of their use, on a gateway whose customers send meanwhile.
 */

const operated = useOperatedGateway();
const { fileOf } = operated;
let customer: Customer;
beforeAll(async () => {
  customer = await (await operated.register({ balance: 10 })).withApiKey();
});

/** The price of a message now, or why it is not sent. */
async function priceOf(to: string): Promise<unknown> {
  const response = await customer.trySend({ to });
  return response.status === 202 ? dataOf(response, AcceptedMessage).pricing.total : errorOf(response);
}

const notPriced = { status: 403, code: "DESTINATION_NOT_PRICED" };
const rates = "prefix,country,price,cost:sandbox\n44,GB,0.046,0.03\n4477,GB,0.05,0.04\n1,,0.0079,0.005\n";

it("an import is shown and checked, counts within a minute, and is in the audit log", async () => {
  expect(await priceOf("4915112345678")).toBe(0.089);
  const misspelt = await fileOf(rates.replace("cost:sandbox", "cost:sandbocks"));
  expect((await operator(`prices import ${misspelt} --dry-run`)).err).toContain(
    "Warning: the file has costs of unknown carriers: sandbocks",
  );
  const file = await fileOf(rates);
  const dryRun = await outputOf(`prices import ${file} --dry-run`);
  expect(dryRun).toContain("3 added, 0 removed, 0 changed, 0 unchanged\n  + 44: GB, 0.046, sandbox 0.03\n");
  expect(dryRun).toContain("Nothing was changed.");
  expect(await findCurrentVersion()).toBeUndefined();

  expect(await outputOf(`prices import ${file}`)).toContain(
    "version 1 of the prices applies within a minute\n",
  );
  operated.gateway.advanceClock(minuteMs);
  expect(await priceOf("447700900123")).toBe(0.05);
  expect(await priceOf("442012345678")).toBe(0.046);
  expect(await priceOf("4915112345678")).toEqual(notPriced);
  const [entry] = await auditLog("prices import");
  expect(entry).toMatchObject({
    before: { version: "none" },
    after: { version: 1, added: 3 },
    outcome: "done",
  });
});

it("a message records its cost, and no customer sees it", async () => {
  const { id } = await customer.send({ to: "447700900123" });
  const key = messageKey({ organizationId: customer.organizationId, id });
  const message = await vi.waitFor(async () => {
    const found = await findItem(MessageRecord, key, { consistent: true });
    expect(found?.status).toBe("sent");
    return found;
  }, patience);
  expect(message).toMatchObject({ costMicros: 40_000, carrier: "sandbox", totalMicros: 50_000 });
  for (const place of [`sms/${id}`, "sms", "dashboard/stats", "wallet/transactions", "prices"]) {
    const { status, text } = await customer.call(`/v1/${place}`);
    expect(status, place).toBe(200);
    expect(text, place).not.toMatch(/sandbox|cost|carrier/i);
  }
});

it("a file with mistakes changes nothing, and all of them are reported", async () => {
  const file = await fileOf(`${rates}+49,DE,0.1,\n33,FR,-1,\n44,GB,0.5,0.1\n`);
  const { code, out, err } = await operator(`prices import ${file} --json`);
  expect(code).toBe(1);
  expect(objectsIn(out, z.unknown())).toEqual([
    { line: 5, column: "prefix", problem: expect.stringContaining('"+49"') },
    { line: 6, column: "price", problem: '"-1" must not be negative' },
    { line: 7, column: "prefix", problem: '"44" is already in line 2, for the same time' },
  ]);
  expect(err).toContain("Nothing was changed: the file has 3 errors.");
  expect(await findCurrentVersion()).toBe(1);
  const missing = path.join(operated.dataFolder, "nothing.csv");
  expect(await rejectionOf(`prices import ${missing}`)).toContain("Cannot read the file");
});

it("a change is shown with the old and the new prices, and can be reverted", async () => {
  const changed = "prefix,country,price,cost:sandbox\n44,GB,0.02,0.03\n1,,0.0079,0.005\n91,IN,0.005,\n";
  const { out, err } = await operator(`prices import ${await fileOf(changed)} --allow-loss`);
  expect(err).toBe(
    "Warning: the cost of sandbox is unknown for 91.\n" +
      "Warning: 1 price is below the cost of a carrier of the route.\n",
  );
  expect(out).toContain(
    [
      "1 added, 1 removed, 1 changed, 1 unchanged",
      "  + 91: IN, 0.005",
      "  - 4477: GB, 0.05, sandbox 0.04",
      "  ~ 44: GB, 0.046, sandbox 0.03  ->  GB, 0.02, sandbox 0.03",
    ].join("\n"),
  );
  operated.gateway.advanceClock(minuteMs);
  expect(await priceOf("447700900123")).toBe(0.02);

  const history = await outputOf("prices list-versions");
  expect(history).toMatch(/^ +2 {2}\S+ +3 {2}sandbox +current$/m);
  expect(history).toMatch(/^ +1 {2}\S+ +3 {2}sandbox +available$/m);
  expect(await rejectionOf("prices restore 3")).toBe("There is no version 3 of the prices.");
  expect(await outputOf("prices restore 1")).toContain("1 added, 1 removed, 1 changed, 1 unchanged");
  operated.gateway.advanceClock(minuteMs);
  expect(await priceOf("447700900123")).toBe(0.05);
  expect(await auditLog("prices restore")).toMatchObject([{ before: { version: 2 }, after: { version: 1 } }]);
});

it("the prices are shown by prefix, and as a file that can be imported again", async () => {
  const shown = await outputOf("prices list --prefix 447812345678");
  expect(shown).toMatch(/^44 +GB +0\.046 +0\.03$/m);
  expect(shown).toContain("1 rows, version 1 of the prices");
  const csv = await outputOf("prices list --csv");
  expect(csv).toBe(
    "prefix,country,price,valid_from,cost:sandbox\n1,,0.0079,,0.005\n44,GB,0.046,,0.03\n4477,GB,0.05,,0.04\n",
  );
  const again = await outputOf(`prices import ${await fileOf(csv)} --dry-run`);
  expect(again).toContain("0 added, 0 removed, 0 changed, 3 unchanged");
  const example = "shared/money/prices/example.csv";
  expect(await operator(`prices import ${example} --dry-run`)).toMatchObject({ code: 0 });
  expect(await readFile(example, "utf8")).not.toContain("\r");
});

it("an organization's own prices count for its messages within seconds, and for no other organization", async () => {
  const { email, organizationId } = customer;
  // Sends read their organization once a second.
  const withinSeconds = { timeout: 5_000, interval: 100 };
  const set = await operator(`prices set-override ${email} 44 0.025 --allow-loss`);
  expect(set).toMatchObject({
    code: 0,
    err: "Warning: 2 prices are below the cost of a carrier of the route.\n",
  });
  await expect.poll(async () => priceOf("447700900123"), withinSeconds).toBe(0.025);
  expect(await auditLog("prices set-override", email)).toMatchObject([{ after: { prices: 1 } }]);

  const file = await fileOf("prefix,price\n44,0.04\n4915,0.07\n");
  await operator(`prices import ${file} --organization ${organizationId}`);
  await expect.poll(async () => priceOf("447700900123"), withinSeconds).toBe(0.04);
  expect(await priceOf("4915112345678")).toBe(0.07);
  const prices = await customer.call("/v1/prices?prefix=49");
  expect(prices.body).toMatchObject({ data: [{ prefix: "4915", unitPrice: 0.07 }] });
  expect(await outputOf(`prices list --organization ${email}`)).toContain("2 rows");

  expect(await rejectionOf(`prices remove-override ${email} 45`)).toContain("has no price override for 45");
  await outputOf(`prices remove-override ${email} 44`);
  await expect.poll(async () => priceOf("447700900123"), withinSeconds).toBe(0.05);
});

it("a campaign skips contacts without a price, and templates and estimates reject them", async () => {
  const { client } = customer;
  const to = "881612345678";
  const contacts = ["15005550000", to, "4930123456"].map((phoneNumber) => ({ phoneNumber }));
  await client.importContacts({ body: { contacts } });
  const { id } = await client.createTemplate({ body: { name: "greeting", body: "Hello" } });
  const json = { to, message: "Hello", senderId: "ACME" };
  const ofTemplate = { to, senderId: "ACME" };
  expect(errorOf(await customer.call(`/v1/templates/${id}/send`, { json: ofTemplate }))).toEqual(notPriced);
  expect(errorOf(await customer.call("/v1/sms/estimate", { json }))).toEqual(notPriced);
  const scheduledAt = new Date(Date.now() + dayMs).toISOString();
  expect(errorOf(await customer.trySend({ to, scheduledAt }))).toEqual(notPriced);

  const body = { name: "Spring", message: "Hello", senderId: "ACME", audience: { all: true } } as const;
  const campaign = await client.createCampaign({ body });
  expect(campaign.progress.skipped).toEqual({ optedOut: 0, unrenderable: 0, unknown: 0 });
  const params = { id: campaign.id };
  await client.launchCampaign({ params });
  const ended = await vi.waitFor(async () => {
    const found = await client.getCampaign({ params });
    expect(found.status).toBe("completed");
    return found;
  }, patience);
  const progress = { accepted: 1, charged: 0.0079, skipped: { destinationNotPriced: 2 } };
  expect(ended.progress).toMatchObject(progress);
});
