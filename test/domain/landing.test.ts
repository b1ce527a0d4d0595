import { beforeEach, expect, it, vi } from "vitest";

import { publishRateCard } from "../../shared/money/prices/publish.ts";
import type { PriceRow } from "../../shared/money/prices/rate-card.ts";
import { landingPage } from "../../shared/pages/landing/page.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { useOwnTable } from "../support/own-table.ts";

// A rate card belongs to the whole stage, so no other test may see it.
beforeEach(async () => {
  await useOwnTable();
  vi.stubEnv(environmentNames.apiUrl, "https://sms.example.com");
});

function row(prefix: string, priceMicros: number, country?: string): PriceRow {
  return { prefix, priceMicros, country, costMicros: {} };
}

/** Returns the lines of the price list on the start page. */
async function shownPrices(): Promise<string[]> {
  const { body } = await landingPage();
  return [...String(body).matchAll(/<li><span>([^<]*)<\/span><span>([^<]*)<\/span><\/li>/g)].map(
    ([, place, price]) => `${place}: ${price}`,
  );
}

it("the start page lists the lowest and highest price of each country in the order of their names", async () => {
  const rows = [
    row("", 500_000),
    row("1", 10_000),
    row("33", 76_000, "FR"),
    row("4479", 40_000, "GB"),
    row("44", 41_500, "GB"),
    row("447", 39_000, "GB"),
    row("43", 90_000, "AT"),
  ];
  await publishRateCard(rows, undefined);
  expect(await shownPrices()).toEqual([
    "Austria: $0.09",
    "France: $0.076",
    "United Kingdom: $0.039 – $0.0415",
    "United States, Canada and others (+1): $0.01",
    "Other numbers: $0.50",
  ]);
});

it("the start page has no price list without prices", async () => {
  vi.stubEnv(environmentNames.prices, "imported");
  expect(await shownPrices()).toEqual([]);
  expect(String((await landingPage()).body)).not.toContain('id="prices"');
});

it.each(["true", "false"])(
  "the start page links to the documentation if the stage serves it: %s",
  async (docsEnabled) => {
    vi.stubEnv(environmentNames.docsEnabled, docsEnabled);
    expect(String((await landingPage()).body).includes('href="docs"')).toBe(docsEnabled === "true");
  },
);
