import { beforeEach, expect, it, vi } from "vitest";

import type { MessageType } from "../../shared/api/contract/sms.ts";
import { carriersOf } from "../../shared/carriers/carriers.ts";
import type { RoutingTable, CarrierRecord, RouteRecord } from "../../shared/carriers/record.ts";
import { routeFinder } from "../../shared/carriers/routes.ts";
import { localSettings } from "../support/local-settings.ts";

beforeEach(() => {
  for (const [name, value] of Object.entries(localSettings)) vi.stubEnv(name, value);
});

const at = "2026-03-01T00:00:00.000Z";

function route(prefix: string, carriers: string[], messageType?: MessageType): RouteRecord {
  return { entity: "route", prefix, carriers, messageType, updatedAt: at };
}

function carrier(name: string, fields: Partial<CarrierRecord> = {}): CarrierRecord {
  return { entity: "carrier", name, settings: { kind: "sandbox" }, createdAt: at, updatedAt: at, ...fields };
}

function book(routes: readonly RouteRecord[], ...carriers: CarrierRecord[]): RoutingTable {
  return { routes, carriers: new Map(carriers.map((each) => [each.name, each])) };
}

const routes = [
  route("", ["any"]),
  route("44", ["gb"]),
  route("447", ["gb-otp"], "otp"),
  route("4477", ["gb-mobile"]),
  route("4477", ["gb-marketing"], "marketing"),
  route("1", ["us"], "transactional"),
];

it.each([
  ["447700900123", undefined, "gb-mobile"],
  ["447700900123", "marketing", "gb-marketing"],
  // The longest prefix counts before the type does.
  ["447700900123", "otp", "gb-mobile"],
  ["447900000000", "otp", "gb-otp"],
  ["447900000000", "transactional", "gb"],
  ["441", "otp", "gb"],
  ["33600000000", undefined, "any"],
  // A message without a type is transactional.
  ["12065550100", undefined, "us"],
  ["12065550100", "marketing", "any"],
] as const)("%s as %s takes the route to %s", (to, messageType, expected) => {
  expect(routeFinder(routes)({ to, messageType })?.carriers).toEqual([expected]);
});

it("a campaign takes the routes of marketing, whatever its type", () => {
  const campaign = { to: "447700900123", messageType: "otp", campaignId: "cmp_1" } as const;
  expect(routeFinder(routes)(campaign)?.carriers).toEqual(["gb-marketing"]);
});

it("a message without a route keeps the stage's carrier, and one whose carriers are gone has none", () => {
  const onlyCodes = [route("44", ["one"]), route("49", ["one"], "otp"), route("35", ["gone"])];
  const carriers = carriersOf(book(onlyCodes, carrier("one")));
  const namesFor = (to: string): string[] => carriers.routeOf({ to }).map(({ name }) => name);
  expect(["33600000000", "4915112345678", "447700900123", "351"].map(namesFor)).toEqual([
    ["sandbox"],
    ["sandbox"],
    ["one"],
    [],
  ]);
  const disabled = carriersOf(book(onlyCodes, carrier("sandbox", { disabledAt: at })));
  expect(disabled.routeOf({ to: "336" })).toMatchObject([{ name: "sandbox", isDisabled: true }]);
});

it("returns the carriers of a route in their order, with the settings of their records", () => {
  const disabled = carrier("two", { disabledAt: at, segmentsPerSecond: 30 });
  const carriers = carriersOf(book([route("", ["two", "gone", "one"])], carrier("one"), disabled));
  expect(carriers.routeOf({ to: "447700900123" })).toMatchObject([
    { name: "two", isDisabled: true, segmentsPerSecond: 30 },
    { name: "one", isDisabled: false },
  ]);
});

it("uses the stage's own carrier for everything while there is no route", () => {
  const own = carriersOf(book([], carrier("one")));
  expect(own.routeOf({ to: "447700900123" }).map(({ name }) => name)).toEqual(["sandbox"]);
  expect(own.named("sandbox")?.name).toBe("sandbox");
  expect(own.named("one")?.name).toBe("one");
  expect(own.named("gone")).toBeUndefined();
  // With a record of its own, by that.
  const withRecord = carriersOf(book([], carrier("sandbox", { disabledAt: at })));
  expect(withRecord.routeOf({ to: "447700900123" })).toMatchObject([{ name: "sandbox", isDisabled: true }]);
});
