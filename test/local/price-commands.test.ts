import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import type { LocalGateway } from "../../infra/local/gateway.ts";
import { AcceptedMessage } from "../../shared/api/contract/sms.ts";
import { writeMargins, type Margin } from "../../shared/messages/counts/margins.ts";
import { MessageRecord } from "../../shared/messages/message/record.ts";
import { findCurrentVersion } from "../../shared/money/prices/record.ts";
import { dayMs, minuteMs } from "../../shared/platform/clock.ts";
import { newId } from "../../shared/platform/ids.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { messageKey } from "../../shared/platform/table/shards.ts";
import { putItem, putOf } from "../../shared/platform/table/write.ts";
import { Customer, dataOf, errorOf } from "../support/api.ts";
import { operator } from "../support/operator.ts";
import { dayShardOf } from "../support/organization-shards.ts";
import { startOperatedGateway } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

/*
 * The operator's commands for prices, in the order of their use, on a gateway whose customers send meanwhile.
 */

let dataFolder: string;
let gateway: LocalGateway;
let stop: () => Promise<void>;
let customer: Customer;

beforeAll(async () => {
  ({ gateway, dataFolder, stop } = await startOperatedGateway());
  customer = await (await Customer.register({ baseUrl: gateway.url, balance: 10 })).withApiKey();
});
afterAll(async () => {
  await stop();
});

async function fileOf(text: string): Promise<string> {
  const file = path.join(dataFolder, "rates.csv");
  await writeFile(file, text);
  return file;
}

/** The price of a message now, or why it is not sent. */
async function priceOf(to: string): Promise<unknown> {
  const response = await customer.trySend({ to });
  return response.status === 202 ? dataOf(response, AcceptedMessage).pricing.total : errorOf(response);
}

const notPriced = { status: 403, code: "DESTINATION_NOT_PRICED" };
const rates = "prefix,country,price,cost:sandbox\n44,GB,0.046,0.03\n4477,GB,0.05,0.04\n1,,0.0079,0.005\n";

/** The entries of the stage's audit log about prices, newest first. */
async function auditLog(...of: readonly string[]): Promise<unknown[]> {
  const { out } = await operator(["audit-log", ...of, "--json"]);
  const entries = out
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
  return entries.filter((entry) => JSON.stringify(entry).includes('"prices '));
}

it("an import is shown and checked, counts within a minute, and is in the audit log", async () => {
  expect(await priceOf("4915112345678")).toBe(0.089);
  const misspelt = await fileOf(rates.replace("cost:sandbox", "cost:sandbocks"));
  expect((await operator(["prices", "import", misspelt, "--dry-run"])).err).toContain(
    "Warning: the file has costs of unknown carriers: sandbocks",
  );
  const file = await fileOf(rates);
  const dryRun = await operator(["prices", "import", file, "--dry-run"]);
  expect(dryRun).toMatchObject({ code: 0 });
  expect(dryRun.out).toContain(
    "3 added, 0 removed, 0 changed, 0 unchanged\n  + 44: GB, 0.046, sandbox 0.03\n",
  );
  expect(dryRun.out).toContain("Nothing was changed.");
  expect(dryRun.err).toBe("");
  expect(await findCurrentVersion()).toBeUndefined();

  const imported = await operator(["prices", "import", file]);
  expect(imported).toMatchObject({ code: 0 });
  expect(imported.out).toContain("version 1 of the prices applies within a minute\n");
  gateway.advanceClock(minuteMs);
  expect(await priceOf("447700900123")).toBe(0.05);
  expect(await priceOf("442012345678")).toBe(0.046);
  expect(await priceOf("4915112345678")).toEqual(notPriced);
  expect((await auditLog())[0]).toMatchObject({
    action: "prices import",
    before: { version: "none" },
    after: { version: 1, added: 3 },
    outcome: "done",
  });
});

it("a message records its cost, and no customer sees it", async () => {
  const { id } = await customer.send({ to: "447700900123" });
  const message = await vi.waitFor(async () => {
    const found = await findItem(MessageRecord, messageKey({ organizationId: customer.organizationId, id }), {
      consistent: true,
    });
    expect(found?.status).toBe("sent");
    return found;
  }, patience);
  expect(message).toMatchObject({ costMicros: 40_000, carrier: "sandbox", totalMicros: 50_000 });
  for (const address of [
    `/v1/sms/${id}`,
    "/v1/sms",
    "/v1/dashboard/stats",
    "/v1/wallet/transactions",
    "/v1/prices",
  ]) {
    const { status, text } = await customer.call(address);
    expect(status, address).toBe(200);
    expect(text, address).not.toMatch(/sandbox|cost|carrier/i);
  }
});

it("a file with mistakes changes nothing, and all of them are reported", async () => {
  const file = await fileOf(`${rates}+49,DE,0.1,\n33,FR,-1,\n44,GB,0.5,0.1\n`);
  const { code, out, err } = await operator(["prices", "import", file, "--json"]);
  expect(code).toBe(1);
  const errors = out
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
  expect(errors).toEqual([
    { line: 5, column: "prefix", problem: expect.stringContaining('"+49"') },
    { line: 6, column: "price", problem: '"-1" must not be negative' },
    { line: 7, column: "prefix", problem: '"44" is already in line 2, for the same time' },
  ]);
  expect(err).toContain("Nothing was changed: the file has 3 errors.");
  expect(await findCurrentVersion()).toBe(1);
  const missing = await operator(["prices", "import", path.join(dataFolder, "nothing.csv")]);
  expect(missing).toMatchObject({ code: 1, err: expect.stringContaining("Cannot read the file") });
});

it("a change is shown with the old and the new prices, and can be reverted", async () => {
  const file = await fileOf(
    "prefix,country,price,cost:sandbox\n44,GB,0.02,0.03\n1,,0.0079,0.005\n91,IN,0.005,\n",
  );
  const { out, err } = await operator(["prices", "import", file, "--allow-loss"]);
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
  gateway.advanceClock(minuteMs);
  expect(await priceOf("447700900123")).toBe(0.02);

  const history = await operator(["prices", "list-versions"]);
  expect(history.out).toMatch(/^ +2 {2}\S+ +3 {2}sandbox +current$/m);
  expect(history.out).toMatch(/^ +1 {2}\S+ +3 {2}sandbox +available$/m);
  expect(await operator(["prices", "restore", "3"])).toMatchObject({
    code: 1,
    err: "There is no version 3 of the prices.\n",
  });
  const restored = await operator(["prices", "restore", "1"]);
  expect(restored.out).toContain("1 added, 1 removed, 1 changed, 1 unchanged");
  gateway.advanceClock(minuteMs);
  expect(await priceOf("447700900123")).toBe(0.05);
  expect((await auditLog())[0]).toMatchObject({
    action: "prices restore",
    before: { version: 2 },
    after: { version: 1 },
  });
});

it("the prices are shown by prefix, and as a file that can be imported again", async () => {
  const shown = await operator(["prices", "list", "--prefix", "447812345678"]);
  expect(shown.out).toMatch(/^44 +GB +0\.046 +0\.03$/m);
  expect(shown.out).toContain("1 rows, version 1 of the prices");
  const csv = await operator(["prices", "list", "--csv"]);
  expect(csv.out).toBe(
    "prefix,country,price,valid_from,cost:sandbox\n1,,0.0079,,0.005\n44,GB,0.046,,0.03\n4477,GB,0.05,,0.04\n",
  );
  const again = await operator(["prices", "import", await fileOf(csv.out), "--dry-run"]);
  expect(again.out).toContain("0 added, 0 removed, 0 changed, 3 unchanged");
  const example = await operator(["prices", "import", "shared/money/prices/example.csv", "--dry-run"]);
  expect(example).toMatchObject({ code: 0 });
  expect(await readFile("shared/money/prices/example.csv", "utf8")).not.toContain("\r");
});

it("an organization's own prices count for its next message, and for no other organization", async () => {
  const { email, organizationId } = customer;
  const set = await operator(["prices", "set-override", email, "44", "0.025", "--allow-loss"]);
  expect(set).toMatchObject({ code: 0 });
  expect(set.err).toBe("Warning: 2 prices are below the cost of a carrier of the route.\n");
  expect(await priceOf("447700900123")).toBe(0.025);
  expect((await auditLog(email))[0]).toMatchObject({ action: "prices set-override", after: { prices: 1 } });

  const file = await fileOf("prefix,price\n44,0.04\n4915,0.07\n");
  await operator(["prices", "import", file, "--organization", organizationId]);
  expect(await priceOf("447700900123")).toBe(0.04);
  expect(await priceOf("4915112345678")).toBe(0.07);
  const prices = await customer.call("/v1/prices?prefix=49");
  expect(prices.body).toMatchObject({ data: [{ prefix: "4915", unitPrice: 0.07 }] });
  expect((await operator(["prices", "list", "--organization", email])).out).toContain("2 rows");

  expect(await operator(["prices", "remove-override", email, "45"])).toMatchObject({ code: 1 });
  await operator(["prices", "remove-override", email, "44"]);
  expect(await priceOf("447700900123")).toBe(0.05);
  const rejected = await operator(["prices", "set-override", email, "44", "0.0000001"]);
  expect(rejected).toMatchObject({
    code: 2,
    err: expect.stringContaining("<price> must be a number up to 1000"),
  });
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
  await client.launchCampaign({ params: { id: campaign.id } });
  const ended = await vi.waitFor(async () => {
    const found = await client.getCampaign({ params: { id: campaign.id } });
    expect(found.status).toBe("completed");
    return found;
  }, patience);
  expect(ended.progress).toMatchObject({
    accepted: 1,
    charged: 0.0079,
    skipped: { destinationNotPriced: 2 },
  });
});

describe("margins", () => {
  const organizationId = "org_01J00000000000000000000000";
  const ofMessages = { segments: 2, messages: 2, messagesWithoutCost: 0 };
  const gb = { ...ofMessages, country: "GB", carrier: "aws", revenueMicros: 92_000, costMicros: 60_001 };
  const us = { ...ofMessages, country: "US", carrier: "kannel", revenueMicros: 15_800, costMicros: 16_000 };
  const unknown = { ...ofMessages, country: "GB", carrier: "kannel", revenueMicros: 100, costMicros: 0 };

  beforeAll(async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: new Date("2031-03-03T12:00:00Z") });
    const write = async (day: string, margins: readonly Margin[], isFinal = true): Promise<void> =>
      writeMargins(dayShardOf(organizationId, day), margins, isFinal);
    await write("2031-01-31", [gb]);
    await write("2031-03-01", [gb, us]);
    await write("2031-03-02", [gb, { ...unknown, messagesWithoutCost: 2 }], false);
    const other = dayShardOf("org_01J00000000000000000000001", "2031-03-02", 3);
    await writeMargins(other, [us], true);
  });
  afterAll(() => {
    vi.useRealTimers();
  });

  it("have no share without revenue", async () => {
    vi.setSystemTime(new Date("2030-03-03T12:00:00Z"));
    const { out } = await operator(["margins"]);
    vi.setSystemTime(new Date("2031-03-03T12:00:00Z"));
    expect(out).toBe("Total of 0 messages: revenue 0, cost 0, margin 0 USD (-)\n");
  });

  it("are summed by day, exactly, with the unknown costs and the days that are not final", async () => {
    const { out, code } = await operator(["margins"]);
    expect(code).toBe(0);
    expect(out.split("\n").map((line) => line.trim().replaceAll(/ {2,}/g, " | "))).toEqual([
      "DAY | MESSAGES | SEGMENTS | REVENUE | COST | MARGIN | SHARE | WITHOUT COST",
      "2031-03-01 | 4 | 4 | 0.1078 | 0.076001 | 0.031799 | 29.5% | 0",
      "2031-03-02 | 6 | 6 | 0.1079 | 0.076001 | 0.031899 | 29.6% | 2",
      "Total of 10 messages: revenue 0.2157, cost 0.152002, margin 0.063698 USD (29.5%)",
      "The costs of 2 messages are unknown and not included.",
      "Not final: 1 days of organizations have scheduled messages.",
      "",
    ]);
  });

  it.each([
    [
      ["--by", "country"],
      ["GB 184100 120002", "US 31600 32000"],
    ],
    [
      ["--by", "carrier"],
      ["aws 184000 120002", "kannel 31700 32000"],
    ],
    [
      ["--by", "organization"],
      ["org_01J00000000000000000000000 199900 136002", "org_01J00000000000000000000001 15800 16000"],
    ],
    [
      ["--by", "carrier", "--days", "1"],
      ["aws 92000 60001", "kannel 15900 16000"],
    ],
    [
      ["--days", "31"],
      ["2031-01-31 92000 60001", "2031-03-01 107800 76001", "2031-03-02 107900 76001"],
    ],
  ])("are summed by %j", async (options, expected) => {
    const { out } = await operator(["margins", ...options, "--json"]);
    const Row = z.object({ name: z.string(), revenueMicros: z.int(), costMicros: z.int() });
    const rows = out
      .trimEnd()
      .split("\n")
      .map((line) => Row.parse(JSON.parse(line)));
    expect(rows.map((row) => `${row.name} ${row.revenueMicros} ${row.costMicros}`)).toEqual(expected);
  });

  it("are a CSV file with --csv", async () => {
    const { out } = await operator(["margins", "--by", "country", "--csv"]);
    expect(out).toBe(
      "country,messages,segments,revenue,cost,margin,share,without_cost\n" +
        "GB,6,6,0.1841,0.120002,0.064098,34.8%,2\n" +
        "US,4,4,0.0316,0.032,-0.0004,-1.3%,0\n",
    );
  });

  it("include today with --today", async () => {
    const id = newId("msg");
    const message = MessageRecord.parse({
      entity: "message",
      id,
      organizationId: customer.organizationId,
      status: "sent",
      to: "15005550000",
      message: "hello",
      senderId: "ACME",
      language: "English",
      encoding: "GSM-7",
      segments: 1,
      unitPriceMicros: 7_900,
      totalMicros: 7_900,
      queuedAt: new Date().toISOString(),
      attempts: 1,
      openClaims: 1,
      carrier: "aws",
      costMicros: 5_000,
    });
    await putItem(putOf(messageKey(message), message));
    const { out } = await operator(["margins", "--days", "1", "--today", "--csv"]);
    expect(out.split("\n").slice(1)).toEqual([
      "2031-03-02,6,6,0.1079,0.076001,0.031899,29.6%,2",
      "2031-03-03,1,1,0.0079,0.005,0.0029,36.7%,0",
      "",
    ]);
  });
});
