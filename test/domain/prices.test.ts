import { randomInt } from "node:crypto";

import { beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { ApiError } from "../../shared/api/contract/errors.ts";
import { estimateMessage } from "../../shared/messages/accept/estimate.ts";
import { MessageRecord } from "../../shared/messages/message/record.ts";
import { listPrices } from "../../shared/money/prices/list.ts";
import { maxPriceOverrides, replacePriceOverrides } from "../../shared/money/prices/overrides.ts";
import { publishRateCard, restoreRateCard } from "../../shared/money/prices/publish.ts";
import type { PriceRow } from "../../shared/money/prices/rate-card.ts";
import {
  findCurrentVersion,
  listRateCards,
  makeCurrent,
  readRateCard,
} from "../../shared/money/prices/record.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { DynamoDb, GetCommand, QueryCommand } from "../../shared/platform/aws/dynamodb.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { messageKey } from "../../shared/platform/table/shards.ts";
import { transact } from "../../shared/platform/table/transact.ts";
import { type OrganizationRecord } from "../../shared/tenancy/organizations/record.ts";
import { acceptMessage } from "../support/as-organization.ts";
import { advance } from "../support/clock.ts";
import { damage } from "../support/items.ts";
import { recordLog } from "../support/log.ts";
import { hello } from "../support/messages.ts";
import { useOwnTable } from "../support/own-table.ts";
import { priceRows } from "../support/prices.ts";
import { ownerOf } from "../support/viewer.ts";
import { openWallet, openOrganization, organizationOf } from "../support/wallets.ts";

const start = new Date("2031-03-01T12:00:00Z");
const to = "447700900123";
let organizationId: string;

// A rate card belongs to the whole stage, so neither the shared gateway nor another test may see it.
beforeEach(async () => {
  vi.setSystemTime(start);
  await useOwnTable();
  organizationId = await openOrganization(10_000_000);
});

const organization = async (): Promise<OrganizationRecord> => organizationOf(organizationId);

/** The amount that a message debits from the wallet, in micro-units, or the code of its rejection. */
async function sell(number = to): Promise<number | string> {
  const before = await readWallet(organizationId);
  const sold = await acceptMessage(organizationId, { ...hello, to: number }).catch(codeOf);
  const paidMicros = before.balanceMicros - (await readWallet(organizationId)).balanceMicros;
  if (typeof sold === "string") return paidMicros === 0 ? sold : `${sold}, and paid ${paidMicros}`;
  const key = messageKey({ organizationId, id: sold.id });
  const message = await findItem(MessageRecord, key, { consistent: true });
  const said = [Math.round(sold.pricing.total * 1e6), message?.unitPriceMicros, message?.totalMicros];
  return said.every((price) => price === paidMicros)
    ? paidMicros
    : `paid ${paidMicros}, and not ${said.join()}`;
}

/** The code of an error that is meant for the caller. */
function codeOf(error: unknown): string {
  if (error instanceof ApiError) return error.code;
  throw error;
}

async function estimate(number = to): Promise<number | string> {
  const request = { to: number, message: "hello", language: "English" } as const;
  const { id } = await organization();
  const estimated = await estimateMessage(await organization(), request, ownerOf(id)).catch(codeOf);
  return typeof estimated === "string" ? estimated : Math.round(estimated.pricing.total * 1e6);
}

/** The keys of the prices and blocked destinations that are read meanwhile, one per read. */
function watchReads(): () => string[] {
  const send = vi.spyOn(DynamoDb.prototype, "send");
  return () =>
    send.mock.calls
      .map(([command]) => {
        if (command instanceof GetCommand) return String(command.input.Key?.["pk"]);
        if (!(command instanceof QueryCommand)) return "";
        return String(command.input.ExpressionAttributeValues?.[":pk"]);
      })
      .filter((pk) => pk.startsWith("PRICES#"));
}

describe("the rate card", () => {
  it("is the sample, with a price for every number, until one is imported", async () => {
    expect(await sell()).toBe(46_000);
    expect(await sell("992912345678")).toBe(50_000);
    await publishRateCard(priceRows({ "44": 40_000 }), undefined);
    advance(minuteMs);
    expect(await sell()).toBe(40_000);
    expect(await sell("992912345678")).toBe("DESTINATION_NOT_PRICED");
  });

  it("sells nothing where prices have to be imported and none are", async () => {
    vi.stubEnv(environmentNames.prices, "imported");
    expect(await sell()).toBe("DESTINATION_NOT_PRICED");
    expect(await estimate()).toBe("DESTINATION_NOT_PRICED");
    await publishRateCard(priceRows({ "44": 40_000 }), undefined);
    advance(minuteMs);
    expect(await sell()).toBe(40_000);
    expect(await estimate()).toBe(40_000);
  });

  it("takes effect within a minute of its change, and until then the old prices apply", async () => {
    await publishRateCard(priceRows({ "44": 40_000 }), undefined);
    expect(await sell()).toBe(40_000);
    await publishRateCard(priceRows({ "44": 41_000 }), 1);
    expect(await sell()).toBe(40_000);
    advance(minuteMs);
    expect(await estimate()).toBe(41_000);
    expect(await sell()).toBe(41_000);
  });

  it("is checked twice a minute and read when another version is in force, however many senders there are", async () => {
    await publishRateCard(priceRows({ "44": 40_000 }), undefined);
    const reads = watchReads();
    await Promise.all(Array.from({ length: 5 }, async () => estimate()));
    const first = ["PRICES#blocked", "PRICES#card", "PRICES#card#1"];
    expect(reads()).toEqual(first);
    advance(29_000);
    await sell();
    expect(reads()).toHaveLength(3);
    advance(1_000);
    await sell();
    await sell();
    expect(reads()).toEqual([...first, "PRICES#blocked", "PRICES#card"]);
  });

  it("has rows that take effect at their time, without another import", async () => {
    const later = { validFrom: "2031-03-01T12:00:10.000Z", priceMicros: 50_000 };
    await publishRateCard(
      [...priceRows({ "44": 40_000 }), { prefix: "44", costMicros: {}, ...later }],
      undefined,
    );
    expect(await sell()).toBe(40_000);
    advance(9_999);
    expect(await sell()).toBe(40_000);
    advance(1);
    expect(await sell()).toBe(50_000);
  });

  it("may have a price of zero", async () => {
    await publishRateCard(priceRows({ "44": 0 }), undefined);
    expect(await sell()).toBe(0);
  });

  it("that cannot be read is the last one for a quarter of an hour, with a line in the log, and then none", async () => {
    await publishRateCard(priceRows({ "44": 40_000 }), undefined);
    expect(await sell()).toBe(40_000);
    // A version without any rows.
    await transact({ current: makeCurrent(9, 1) });
    const log = recordLog();
    advance(minuteMs);
    expect(await sell()).toBe(40_000);
    expect(log.of("prices.not_read")).toHaveLength(1);
    expect(await sell()).toBe(40_000);
    expect(log.of("prices.not_read")).toHaveLength(1);
    advance(14 * minuteMs);
    expect(await sell()).toBe(40_000);
    advance(1);
    // It is not read again for each message.
    expect(await sell()).toBe(40_000);
    advance(5_000);
    expect(await sell()).toBe("UNAVAILABLE");
    expect(await estimate()).toBe("UNAVAILABLE");
    await restoreRateCard(1, 9);
    expect(await sell()).toBe(40_000);
  });

  it("that was never readable lets nothing be sold, and debits nothing", async () => {
    await transact({ current: makeCurrent(9, undefined) });
    expect(await sell()).toBe("UNAVAILABLE");
  });
});

describe("the versions of the rate card", () => {
  it("are kept whole, also with a hundred thousand rows, and can be restored", async () => {
    const rows = Array.from({ length: 100_000 }, (_, index): PriceRow => ({
      prefix: String(1_000_000 + index),
      country: "GB",
      priceMicros: randomInt(1_000_000),
      costMicros: { aws: randomInt(1_000_000), kannel: randomInt(1_000_000) },
    }));
    expect(await publishRateCard(rows, undefined)).toBe(1);
    expect(await publishRateCard(priceRows({ "44": 1 }), 1)).toBe(2);
    const [newest, oldest] = await listRateCards(10);
    expect(newest).toMatchObject({ version: 2, rows: 1, chunks: 1, carriers: [] });
    expect(oldest).toMatchObject({ version: 1, rows: 100_000, carriers: ["aws", "kannel"] });
    // Random numbers hardly compress.
    expect(oldest?.chunks).toBeGreaterThan(1);
    expect(oldest?.completedAt).toBe(start.toISOString());
    await restoreRateCard(1, 2);
    expect(await findCurrentVersion()).toBe(1);
    expect((await readRateCard(1)).rows()).toEqual(rows);
    expect(await publishRateCard(priceRows({ "44": 2 }), 1)).toBe(3);
  });

  it("cannot be changed by a caller who has not seen the version in force", async () => {
    await publishRateCard(priceRows({ "44": 1 }), undefined);
    await expect(publishRateCard(priceRows({ "44": 2 }), undefined)).rejects.toThrow("changed meanwhile");
    await expect(restoreRateCard(2, 2)).rejects.toThrow("changed meanwhile");
    expect(await findCurrentVersion()).toBe(1);
    const [unfinished] = await listRateCards(1);
    expect(unfinished).toMatchObject({ version: 2 });
    expect(unfinished).not.toHaveProperty("completedAt");
    const both = await Promise.allSettled([
      publishRateCard(priceRows({ "44": 3 }), 1),
      publishRateCard(priceRows({ "44": 4 }), 1),
    ]);
    const won = both.filter((each) => each.status === "fulfilled").map(({ value }) => value);
    expect(won).toHaveLength(1);
    expect(await findCurrentVersion()).toBe(won[0]);
  });
});

describe("prices of an organization", () => {
  beforeEach(async () => {
    await publishRateCard(priceRows({ "44": 40_000, "4477": 45_000, "49": 80_000 }), undefined);
  });

  it("take effect immediately, also where the card has a longer prefix, and for no one else", async () => {
    expect(await sell()).toBe(45_000);
    await replacePriceOverrides(await organization(), priceRows({ "44": 30_000, "33": 20_000 }));
    expect(await sell()).toBe(30_000);
    expect(await estimate()).toBe(30_000);
    expect(await sell("33612345678")).toBe(20_000);
    expect(await sell("4915112345678")).toBe(80_000);
    const { rows, meta } = await listPrices(await organization(), { page: 1, limit: 20 });
    expect(rows.map(({ prefix, unitPrice }) => [prefix, unitPrice])).toEqual([
      ["33", 0.02],
      ["44", 0.03],
      ["4477", 0.03],
      ["49", 0.08],
    ]);
    expect(meta.total).toBe(4);
    organizationId = await openWallet(1_000_000);
    expect(await sell()).toBe(45_000);
  });

  it("are changed and removed immediately", async () => {
    await replacePriceOverrides(await organization(), priceRows({ "44": 30_000 }));
    expect(await sell()).toBe(30_000);
    await replacePriceOverrides(await organization(), priceRows({ "44": 31_000 }));
    expect(await sell()).toBe(31_000);
    await replacePriceOverrides(await organization(), []);
    expect(await sell()).toBe(45_000);
    expect(await findItem(z.unknown(), keys.priceOverrides(organizationId))).toBeUndefined();
  });

  it("cost no read where there are none, and one for each change where there are", async () => {
    expect(await sell()).toBe(45_000);
    const reads = watchReads();
    await sell();
    expect(reads()).toEqual([]);
    await replacePriceOverrides(await organization(), priceRows({ "44": 30_000 }));
    await sell();
    await sell();
    expect(reads()).toEqual([`PRICES#${organizationId}`]);
  });

  it("are limited in number, and cannot be changed by a caller who has not seen the ones in force", async () => {
    const seen = await organization();
    const many = Object.fromEntries(
      Array.from({ length: maxPriceOverrides }, (_, index) => [String(100_000 + index), 1]),
    );
    await replacePriceOverrides(seen, priceRows(many));
    await expect(replacePriceOverrides(seen, priceRows({ "44": 1 }))).rejects.toThrow("changed meanwhile");
    await expect(
      replacePriceOverrides(await organization(), priceRows({ ...many, "44": 1 })),
    ).rejects.toThrow("at most 1000 prices");
    expect(await sell("10000012345")).toBe(1);
  });

  it("that cannot be read are not ignored", async () => {
    await replacePriceOverrides(await organization(), priceRows({ "44": 30_000 }));
    await damage(keys.priceOverrides(organizationId), { document: 5 });
    vi.spyOn(process.stdout, "write").mockReturnValue(true);
    await expect(sell()).rejects.toThrow("cannot be read");
  });
});
