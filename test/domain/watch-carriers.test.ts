import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { watchCarriers } from "../../shared/figures/deliveries/watch.ts";
import { slotMs } from "../../shared/messages/counts/arrivals.ts";
import { dayMs, hourMs, minuteMs } from "../../shared/platform/clock.ts";
import { writeMetrics } from "../../shared/platform/metrics.ts";
import { randomFrom, type Random } from "../chaos/random.ts";
import { randomFigures, usualOdds, writeSlot, type Odds } from "../support/arrivals.ts";
import { recordLog, type RecordedLog } from "../support/log.ts";
import { isNightly } from "../support/second-opinions.ts";

/*
 * The watch compares carriers and their countries with their last week. The traffic is random, and its seed is fixed.
 */

/** The messages of a country in a slot, and the odds of them in the past and now. */
interface Traffic {
  readonly carrier: string;
  readonly country: string;
  readonly messages: number;
  readonly ofClass?: string;
  readonly past?: Partial<Odds> | "none";
  readonly now?: Partial<Odds>;
}

let start = Date.parse("2031-01-01T12:00:00Z");
let log: RecordedLog;
let random: Random;
beforeEach(() => {
  // An instance keeps the figures of past days.
  start += 30 * dayMs;
  log = recordLog();
  random = randomFrom(38);
});

afterEach(writeMetrics);

/** Runs the watch each five minutes. @returns its findings, with the minutes after the start */
async function watch(all: readonly Traffic[], minutes: number): Promise<string[]> {
  const figures = (messages: number, odds: Partial<Odds> = {}) =>
    randomFigures(random, messages, { ...usualOdds, ...odds });
  for (const each of all) {
    if (each.past === "none") continue;
    for (let ago = hourMs; ago < 7 * dayMs; ago += 6 * hourMs) {
      const messages = Math.ceil(each.messages * 12);
      await writeSlot(new Date(start - ago), each, figures(messages, each.past));
    }
    for (let ago = hourMs - slotMs; ago > 0; ago -= slotMs)
      await writeSlot(new Date(start - ago), each, figures(Math.ceil(each.messages), each.past));
  }
  const findings: string[] = [];
  for (let passed = 5; passed <= minutes; passed += 5) {
    // Up to a second before the end of a slot.
    vi.setSystemTime(start + passed * minuteMs - 1_000);
    for (const each of all) {
      const isDue = random() < each.messages;
      const messages = each.messages < 1 ? Number(isDue) : Math.round(each.messages * (0.5 + random()));
      const odds = each.now ?? (each.past === "none" ? {} : each.past);
      if (messages > 0) await writeSlot(new Date(), each, figures(messages, odds));
    }
    const before = log.lines().length;
    const { length: found } = await watchCarriers();
    const lines = log.lines().slice(before);
    expect(lines).toHaveLength(found);
    for (const { event, carrier, country = "all" } of lines)
      findings.push(`${passed} ${String(event)} ${String(carrier)} ${String(country)}`);
  }
  return findings;
}

const one = { carrier: "one", country: "GB", messages: 40 };
const two = { carrier: "two", country: "US", messages: 25 };

describe("normal traffic", () => {
  const kinds: Partial<Odds>[] = [
    {},
    { delivers: 0.6 },
    { receipts: 0 },
    { prompt: 0.2 },
    { rejects: 0.3 },
    { receipts: 0.5, delivers: 0.3 },
    { throttles: 0.4 },
    { late: 0.01 },
  ];
  it.each(isNightly ? [1, 2, 3, 4, 5] : [1])("has no finding in an hour: seed %i", async (seed) => {
    random = randomFrom(seed);
    const all = kinds.flatMap((past, index) =>
      [0.5, 3, 12, 80].map((messages): Traffic => ({
        carrier: `carrier-${index}`,
        country: ["LU", "FR", "DE", "US"].at(Math.round(Math.log2(messages))) ?? "GB",
        messages,
        past,
      })),
    );
    expect(await watch(all, 60)).toEqual([]);
  });

  it("has none without a past, with and without receipts", async () => {
    const silent = { ...two, past: "none", now: { receipts: 0 } } as const;
    expect(await watch([{ ...one, past: "none" }, silent], 60)).toEqual([]);
  });
});

it("finds a country whose codes come late at its next look, and no late marketing", async () => {
  const late = { ...one, country: "FR", messages: 20, now: { late: 1 } };
  const all = [
    { ...one, messages: 500 },
    { ...late, ofClass: "transactional" },
  ];
  expect(await watch(all, 5)).toEqual(["5 carrier.late one FR"]);
  expect(log.of("carrier.late")).toMatchObject([{ country: "FR", count: 43 }]);
  start += 30 * dayMs;
  expect(
    await watch(
      [
        { ...one, messages: 500 },
        { ...late, ofClass: "marketing" },
      ],
      15,
    ),
  ).toEqual([]);
});

it("finds late codes also where they have been late for a week", async () => {
  const late = { late: 0.2 };
  const found = await watch([{ ...one, messages: 200, past: late, now: late }], 10);
  expect(found).toEqual(["5 carrier.late one all", "10 carrier.late one all"]);
});

describe("a finding within a quarter of an hour, with the carrier, the country and the figures", () => {
  it.each([
    { why: "whose receipts are all negative", now: { delivers: 0 }, event: "carrier.deliveries_low" },
    { why: "whose receipts are missing", now: { receipts: 0 }, event: "carrier.receipts_missing" },
    { why: "that is rejected", now: { rejects: 1 }, event: "carrier.failing" },
  ])("for a country of a carrier $why", async ({ now, event }) => {
    const findings = await watch([one, two, { ...one, country: "FR", messages: 4, now }], 15);
    expect(findings.at(-1)).toBe(`15 ${event} one FR`);
    expect(new Set(findings.map((finding) => finding.slice(finding.indexOf(" "))))).toHaveLength(1);
    const [{ count, share, usualShare } = {}] = log.of(event);
    expect(count).toBeGreaterThanOrEqual(15);
    expect(share).toBeLessThan(0.75);
    expect(usualShare).toBeGreaterThan(0.8);
  });

  it.each([
    { now: { delivers: 0.3 }, event: "carrier.deliveries_low" },
    { now: { receipts: 0.1 }, event: "carrier.receipts_missing" },
    { now: { rejects: 0.4 }, event: "carrier.failing" },
    { now: { late: 0.2 }, event: "carrier.late" },
  ])("for a whole carrier, once for all its countries: $event", async ({ now, event }) => {
    const findings = await watch([two, { ...one, now }, { ...one, country: "FR", messages: 20, now }], 15);
    expect(findings.at(-1)).toBe(`15 ${event} one all`);
    expect(findings.length).toBeLessThan(4);
  });

  it("on a new stage, if a country is never delivered", async () => {
    const now = { delivers: 0 };
    const findings = await watch(
      [one, { ...one, country: "FR", messages: 5, now }].map((each) => ({ ...each, past: "none" as const })),
      15,
    );
    expect(findings.at(-1)).toBe("15 carrier.deliveries_low one FR");
  });
});

it("a country with few messages has a finding when all of an hour are rejected", async () => {
  const findings = await watch([one, { ...one, country: "LU", messages: 1, now: { rejects: 1 } }], 90);
  expect(findings).toContain("85 carrier.failing one LU");
});

it("a carrier that throttles for half an hour has a finding, also if others accept its messages", async () => {
  const findings = await watch([two, { ...one, now: { throttles: 0.97 } }], 45);
  expect(findings.filter((finding) => finding.includes("throttling"))).toEqual([
    "30 carrier.throttling one all",
    "35 carrier.throttling one all",
    "40 carrier.throttling one all",
    "45 carrier.throttling one all",
  ]);
});

it("failures of one organization are no finding while another one's messages pass", async () => {
  const bad = { ...one, country: "FR", past: { odd: 0.5 } };
  // Two traffic classes are two items: one with the list of numbers, and one with the messages of others.
  const list = { ...bad, now: { rejects: 1, odd: 1 } };
  expect(await watch([{ ...list, carrier: "three" }], 15)).not.toEqual([]);
  start += 30 * dayMs;
  const figures = (odds: Partial<Odds>) => randomFigures(random, 40, { ...usualOdds, ...odds });
  vi.setSystemTime(start);
  await writeSlot(new Date(), one, figures({ rejects: 1, odd: 1 }));
  await writeSlot(new Date(), { ...one, ofClass: "marketing" }, figures({ odd: 0 }));
  expect(await watchCarriers()).toEqual([]);
  await writeSlot(new Date(), { ...one, ofClass: "marketing" }, figures({ rejects: 0.4, odd: 0 }));
  expect(await watchCarriers()).toHaveLength(1);
});

it("counts each finding in the metric of its kind", async () => {
  await watch(
    [
      { ...one, now: { delivers: 0 } },
      { ...two, now: { rejects: 1 } },
    ],
    10,
  );
  writeMetrics();
  const metrics = log.lines().find((line) => "_aws" in line);
  expect(metrics).toMatchObject({ LowDeliveryRates: 2, FailingCarriers: 2, stage: "local" });
});
