import { expect, it } from "vitest";

import { findLosses, type Loss, type Market } from "../../infra/operator/losses.ts";
import type { RouteRecord } from "../../shared/carriers/record.ts";
import { documentOf, RateCard, type PriceRow } from "../../shared/money/prices/rate-card.ts";

/*
 * The prices that are a loss. Each carrier of the route that applies is checked, for each class of numbers.
 */

const at = new Date("2031-03-01T12:00:00Z");

function row(
  prefix: string,
  priceMicros: number,
  costMicros: PriceRow["costMicros"] = {},
  validFrom?: string,
): PriceRow {
  return { prefix, priceMicros, costMicros, ...(validFrom === undefined ? {} : { validFrom }) };
}

function card(...rows: PriceRow[]): RateCard {
  return new RateCard(documentOf(rows));
}

/** A route, as `prefix[#type]: carriers`. */
function route(text: string): RouteRecord {
  const [where = "", carriers = ""] = text.split(": ");
  const [prefix = "", messageType] = where.split("#");
  return {
    entity: "route",
    prefix,
    carriers: carriers.split(","),
    updatedAt: "",
    ...(messageType === "otp" || messageType === "marketing" ? { messageType } : {}),
  };
}

function market(rates: RateCard, ...routes: string[]): Market {
  return { card: rates, routes: routes.map(route), stageCarrier: "aws" };
}

function texts(losses: readonly Loss[]): string[] {
  return losses.map(
    ({ prefix, messageTypes, priceMicros, carrier, costMicros, validFrom = "", organizationId = "" }) =>
      [
        `${prefix}: ${priceMicros} < ${carrier} ${costMicros}`,
        messageTypes.length === 3 ? "" : messageTypes.join(),
        validFrom,
        organizationId,
      ]
        .filter((part) => part !== "")
        .join(" "),
  );
}

function lossesOf(of: Market, asked: Partial<Parameters<typeof findLosses>[0]> = {}): string[] {
  const question = { market: of, prefixes: of.card.prefixes(), minimumMargin: 0, at, ...asked };
  return texts(findLosses(question).losses);
}

it.each<[string, Market, string[]]>([
  [
    "the most expensive carrier of the route, not the cheapest",
    market(card(row("44", 50, { alpha: 90, beta: 40 })), ": alpha,beta"),
    ["44: 50 < alpha 90"],
  ],
  [
    "no carrier that the route does not name",
    market(card(row("44", 50, { alpha: 90, beta: 40 })), ": beta"),
    [],
  ],
  [
    "the stage's own carrier where there is no route",
    market(card(row("44", 50, { aws: 51 }))),
    ["44: 50 < aws 51"],
  ],
  ["a price that equals the carrier's", market(card(row("44", 50, { aws: 50 }))), []],
  [
    "the stage's own carrier for numbers and types that no route names",
    market(card(row("33", 50, { aws: 51 }), row("44", 50, { aws: 51, one: 1 })), "44#otp: one"),
    ["33: 50 < aws 51", "44: 50 < aws 51 transactional,marketing"],
  ],
  [
    "the route with the longest prefix",
    market(card(row("44", 50, { alpha: 90, beta: 40 })), ": alpha", "44: beta"),
    [],
  ],
  [
    "a route whose prefix is longer than the price's",
    market(card(row("44", 50, { alpha: 90, beta: 40 })), ": beta", "4477: alpha"),
    ["4477: 50 < alpha 90"],
  ],
  [
    "no such route where a price with a longer prefix is for its numbers",
    market(card(row("44", 50, { alpha: 90 }), row("447", 95, { alpha: 90 })), "4477: alpha"),
    [],
  ],
  [
    "the routes of each message type",
    market(card(row("44", 50, { alpha: 90, beta: 40 })), ": beta", "44#otp: beta,alpha"),
    ["44: 50 < alpha 90 otp"],
  ],
  [
    "prices of later",
    market(
      card(
        row("44", 50, { alpha: 40 }),
        row("44", 60, { alpha: 70 }, "2031-04-01T00:00:00.000Z"),
        row("44", 10, { alpha: 70 }, "2031-02-01T00:00:00.000Z"),
        row("44", 80, { alpha: 70 }, "2031-03-01T00:00:00.000Z"),
      ),
      ": alpha",
    ),
    ["44: 60 < alpha 70 2031-04-01T00:00:00.000Z"],
  ],
  ["a price of nothing", market(card(row("44", 0, { aws: 1 }), row("49", 0, { aws: 0 }))), ["44: 0 < aws 1"]],
])("%s", (_, of, expected) => {
  expect(lossesOf(of)).toEqual(expected);
});

it("a minimum margin is a share of the price, without an error of rounding", () => {
  const of = market(card(row("1", 100, { aws: 93 }), row("2", 100, { aws: 94 }), row("3", 3, { aws: 3 })));
  expect(lossesOf(of, { minimumMargin: 0.07 })).toEqual(["2: 100 < aws 94", "3: 3 < aws 3"]);
});

it("a carrier whose cost is missing is no loss, and is named with the prefixes", () => {
  const of = market(card(row("44", 1, { alpha: 1 }), row("49", 1)), ": alpha,beta");
  const { losses, withoutCost } = findLosses({ market: of, prefixes: ["44", "49"], minimumMargin: 0, at });
  expect(losses).toEqual([]);
  expect(withoutCost).toEqual(
    new Map([
      ["alpha", new Set(["49"])],
      ["beta", new Set(["44", "49"])],
    ]),
  );
});

it("an organization's own price is held against all rows of the card below its prefix", () => {
  const of = market(card(row("44", 50, { aws: 30 }), row("4477", 60, { aws: 45 }), row("49", 1, { aws: 2 })));
  const own = { organizationId: "org_1", prices: card(row("44", 40), row("4477", 44), row("1", 1)) };
  expect(lossesOf(of, { own, prefixes: ["44"] })).toEqual([]);
  expect(lossesOf(of, { own, prefixes: ["44", "4477"] })).toEqual(["4477: 44 < aws 45 org_1"]);
  const cheap = { organizationId: "org_1", prices: card(row("44", 29)) };
  expect(lossesOf(of, { own: cheap, prefixes: ["44"] })).toHaveLength(2);
});

it.each<[string, Market, string[]]>([
  ["as large a loss", market(card(row("44", 50, { alpha: 60 })), ": alpha"), []],
  ["a larger loss", market(card(row("44", 50, { alpha: 70 })), ": alpha"), []],
  ["a smaller loss", market(card(row("44", 50, { alpha: 59 })), ": alpha"), ["44: 50 < alpha 60"]],
  ["no loss", market(card(row("44", 60, { alpha: 60 })), ": alpha"), ["44: 50 < alpha 60"]],
  ["another route", market(card(row("44", 50, { alpha: 60 })), ": beta"), ["44: 50 < alpha 60"]],
  [
    "another route for a type",
    market(card(row("44", 50, { alpha: 60 })), ": alpha", "#otp: beta"),
    ["44: 50 < alpha 60 otp"],
  ],
  ["no known cost", market(card(row("44", 50)), ": alpha"), ["44: 50 < alpha 60"]],
])("a route that was %s before is reported only when it is worse", (_, before, expected) => {
  expect(lossesOf(market(card(row("44", 50, { alpha: 60 })), ": alpha"), { before })).toEqual(expected);
});

it("a hundred thousand prices are checked in seconds", { timeout: 20_000 }, () => {
  const rows = Array.from({ length: 100_000 }, (_, index) => row(String(100_000 + index), 50, { aws: 40 }));
  const of = market(card(...rows), ": aws", "1: aws", "10#otp: aws");
  expect(lossesOf(of)).toEqual([]);
});
