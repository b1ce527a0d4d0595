import { beforeEach, describe, expect, it, vi } from "vitest";
import type * as z from "zod/mini";

import { cards, owedRiseNotice, risesOfCard, riseText } from "../../shared/figures/statements/rise-notice.ts";
import { noFigures, noUsage, sumAs, writeFigures } from "../../shared/messages/counts/figures.ts";
import { replacePriceOverrides } from "../../shared/money/prices/overrides.ts";
import { publishRateCard } from "../../shared/money/prices/publish.ts";
import { documentOf, RateCard, type PriceRow } from "../../shared/money/prices/rate-card.ts";
import { risesAt } from "../../shared/money/prices/rises.ts";
import { PricesRiseJob } from "../../shared/notices/emails/email-kinds.ts";
import { dayMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { findOrganization } from "../../shared/tenancy/organizations/record.ts";
import { dayShardOf } from "../support/organization-shards.ts";
import { useOwnTable } from "../support/own-table.ts";
import { openOrganization } from "../support/wallets.ts";

const at = "2030-07-01T00:00:00.000Z";
let organizationId: string;
let sentDays: number;

beforeEach(async () => {
  vi.setSystemTime(new Date("2030-06-01T12:00:30Z"));
  vi.stubEnv(environmentNames.apiUrl, "https://sms.example.com");
  await useOwnTable();
  // The versions of each table begin with 1.
  cards.clear();
  risesOfCard.clear();
  sentDays = 0;
  organizationId = await openOrganization(1_000_000);
});

function row(prefix: string, priceMicros: number, country?: string, validFrom?: string): PriceRow {
  return { prefix, country, priceMicros, validFrom, costMicros: {} };
}

/** A price that rises at the moment. */
function rising(prefix: string, country?: string): PriceRow[] {
  return [row(prefix, 50_000, country), row(prefix, 60_000, country, at)];
}

/** Sends messages to countries, each time on another day. */
async function send(...countries: string[]): Promise<void> {
  sentDays += 1;
  const usage = { ...noUsage, country: countries.map((country) => sumAs(country, [])) };
  await writeFigures(dayShardOf(organizationId, `2030-05-${10 + sentDays}`), { ...noFigures, usage }, true);
}

/** Publishes prices, and returns the lines of the notice about them. */
async function noticeOf(rows: readonly PriceRow[], own: readonly PriceRow[] = []): Promise<string[]> {
  await publishRateCard(rows, undefined);
  const organization = await findOrganization(organizationId, { consistent: true });
  if (organization !== undefined && own.length > 0) await replacePriceOverrides(organization, own);
  const prices = {
    card: new RateCard(documentOf(rows)),
    own: own.length > 0 ? new RateCard(documentOf(own)) : undefined,
  };
  const job = jobOf(prices);
  const { paragraphs = [] } = (await notice(job)) ?? {};
  return paragraphs.slice(1);
}

function jobOf(prices: Parameters<typeof risesAt>[0]): z.infer<typeof PricesRiseJob> {
  const { put } = owedRiseNotice({ organizationId, at, rises: risesAt(prices, at) }, 14);
  return PricesRiseJob.parse(Object(put).body);
}

/** Returns the text of a notice as the worker reads it. */
async function notice(job: z.infer<typeof PricesRiseJob>): ReturnType<typeof riseText> {
  const organization = await findOrganization(organizationId, { consistent: true });
  return organization && riseText(organization, job);
}

describe("a rise concerns", () => {
  it.each([
    ["its own country", "49", "DE", "DE", true],
    ["no other country", "49", "DE", "FR", false],
    ["a country that shares the calling code", "44", "GB", "JE", true],
    ["another one that does", "7", "RU", "KZ", true],
    ["numbers of a longer prefix of the main country", "447", "GB", "JE", true],
    ["all countries of a calling code without one", "1", undefined, "CA", true],
    ["no others beside a row without a country", "1", undefined, "DE", false],
    ["only the country of an area code", "1212", "US", "CA", false],
    ["its own area code", "1416", "CA", "CA", true],
    ["satellites", "881", undefined, "none", true],
    ["everyone, if it is for all numbers", "", undefined, "DE", true],
    ["no one who sends nothing", "", undefined, undefined, false],
    ["those with more countries than the figures have", "49", "DE", "other", true],
  ])("%s", async (_, prefix, country, sentTo, isConcerned) => {
    await send(...(sentTo === undefined ? [] : [sentTo]));
    expect(await noticeOf(rising(prefix, country))).toHaveLength(isConcerned ? 1 : 0);
  });
});

it("names the price before and after, also of a longer prefix that a shorter own price replaces", async () => {
  await send("GB");
  const card = [row("44", 60_000, "GB"), row("4477", 40_000, "GB"), ...rising("33", "FR")];
  expect(await noticeOf(card, [row("44", 50_000, undefined, at)])).toEqual([
    "United Kingdom, +4477: $0.04, then $0.05",
  ]);
});

it("has no price of the card where the organization has its own", async () => {
  await send("GB", "DE");
  expect(await noticeOf([...rising("44", "GB"), ...rising("49", "DE")], [row("44", 10_000)])).toEqual([
    "Germany, +49: $0.05, then $0.06",
  ]);
});

it("is one email, whichever countries the organization sends to, and none if the rises are others by then", async () => {
  await send("GB");
  const card = [...rising("44", "GB"), ...rising("33", "FR")];
  expect(await noticeOf(card)).toEqual(["United Kingdom, +44: $0.05, then $0.06"]);
  await send("GB", "FR");
  const again = jobOf({ card: new RateCard(documentOf(card)) });
  const other = jobOf({ card: new RateCard(documentOf(rising("44", "GB"))) });
  expect((await notice(again))?.paragraphs).toHaveLength(3);
  expect(await notice(other)).toBeUndefined();
});

it("is due some days before, or soon if fewer are left", () => {
  const rises = risesAt({ card: new RateCard(documentOf(rising("44", "GB"))) }, at);
  const dueOf = (days: number) => Object(owedRiseNotice({ organizationId, at, rises }, days).put).dueAt;
  expect(dueOf(14)).toBe(new Date(Date.parse(at) - 14 * dayMs).toISOString());
  expect(dueOf(90)).toBe("2030-06-01T12:16:30.000Z");
});
