import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { secondMs } from "../../shared/platform/clock.ts";
import {
  guardStart,
  noteApproved,
  noteUndelivered,
  type GuardedStart,
} from "../../shared/verifications/guard/guard.ts";
import { clearCounters } from "../support/guard-counters.ts";
import { honest, pumping, randomOf, type Random, type SimulatedStart } from "../support/guard-traffic.ts";
import { isNightly } from "../support/second-opinions.ts";

/*
 * The guard and all of its rules, on counters in memory, because the traffic has a hundred thousand writes. The bounds are
 * those of the guard's design.
 */

vi.mock("../../shared/platform/table/read.ts", async (original) => ({
  ...(await original<object>()),
  ...(await import("../support/guard-counters.ts")).reads,
}));
vi.mock("../../shared/platform/table/write.ts", async (original) => ({
  ...(await original<object>()),
  ...(await import("../support/guard-counters.ts")).writes,
}));

const begin = Date.parse("2030-06-01T00:00:00Z");
let simulations = 0;

beforeEach(clearCounters);
afterEach(() => void vi.useRealTimers());

interface Simulated {
  /** The share of honest starts that were blocked. */
  readonly rejected: number;
  /** The starts of the fraudster that were not. */
  readonly sent: number;
}

/** Runs traffic through the guard, at its own times. */
async function simulate(starts: readonly SimulatedStart[]): Promise<Simulated> {
  simulations += 1;
  const organizationId = `org_${simulations}`;
  const profile: GuardedStart["profile"] = { guard: "block", allow: [] };
  const rejected = { honest: 0, pumped: 0 };
  const moments = starts.flatMap((start, index) => {
    const { atSeconds, approvedSeconds = Infinity, undeliveredSeconds = Infinity } = start;
    const startedAt = new Date(begin + atSeconds * secondMs);
    const verification = { id: `ver_${index}`, organizationId, to: start.to, startedAt };
    let isAllowed = false;
    const judge = async (): Promise<void> => {
      isAllowed = (await guardStart({ ...verification, ...start, profile })).outcome === "allowed";
      if (!isAllowed) rejected[start.isHonest ? "honest" : "pumped"] += 1;
    };
    return [
      { seconds: atSeconds, run: judge },
      { seconds: approvedSeconds, run: async () => (isAllowed ? noteApproved(verification) : undefined) },
      {
        seconds: undeliveredSeconds,
        run: async () => (isAllowed ? noteUndelivered(verification) : undefined),
      },
    ];
  });
  for (const { seconds, run } of moments.toSorted((one, other) => one.seconds - other.seconds)) {
    if (seconds === Infinity) break;
    vi.setSystemTime(begin + seconds * secondMs);
    await run();
  }
  const people = starts.filter(({ isHonest }) => isHonest).length;
  return { rejected: rejected.honest / people, sent: starts.length - people - rejected.pumped };
}

/** One seed takes three seconds for all kinds of traffic. */
const seeds = isNightly ? [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] : [1];

const usual = { perHour: 60, hours: 24, ranges: 400 };
const poor = { ...usual, perHour: 100, ranges: 40 };

/**
 * Traffic by its kind. The first number is the largest share of honest starts that are rejected. The second is the most of 2,000
 * pumped ones that are sent. Both are means over the seeds.
 */
const kinds: readonly [string, (random: Random) => SimulatedStart[], number, number][] = [
  ["20 honest starts an hour", (random) => honest({ ...usual, perHour: 20, hours: 48 }, random), 0, 0],
  ["600 an hour", (random) => honest({ ...usual, perHour: 600, hours: 8 }, random), 0, 0],
  [
    "600 an hour in 40 ranges",
    (random) => honest({ ...usual, perHour: 600, hours: 8, ranges: 40 }, random),
    0,
    0,
  ],
  ["a launch with 3,000 an hour", (random) => honest({ ...usual, perHour: 3_000, hours: 3 }, random), 0, 0],
  ["a bad route without receipts", (random) => honest({ ...poor, approved: 0.45 }, random), 0.02, 0],
  ["a bad route with receipts", (random) => honest({ ...poor, undelivered: 0.42 }, random), 0, 0],
  ["1 range, 60 a minute", pumped({ perMinute: 60, ranges: 1 }), 0, 10],
  ["20 ranges, 20 a minute", pumped({ perMinute: 20, ranges: 20 }), 0.01, 208],
  ["20 ranges, 3 a minute", pumped({ perMinute: 3, ranges: 20 }), 0.01, 265],
  ["500 ranges, 20 a minute", pumped({ perMinute: 20, ranges: 500 }), 0.02, 800],
  ["500 ranges from 20 networks", pumped({ perMinute: 20, ranges: 500, personOf: botsOf(20) }), 0.01, 200],
  ["20 ranges, a tenth approved", pumped({ perMinute: 20, ranges: 20, approved: 0.1 }), 0.01, 236],
  [
    // Approvals in an own range hide the others from the rule of the country, so only the networks bound them.
    "500 ranges and half of the starts in an own one, which are approved, from 40 networks",
    pumped({ perMinute: 20, ranges: 500, isOwn: (index) => index % 2 === 0, personOf: botsOf(40) }),
    0.01,
    410,
  ],
];

function pumped(traffic: Parameters<typeof pumping>[0]): (random: Random) => SimulatedStart[] {
  return (random) => [...honest(usual, random), ...pumping(traffic, random)];
}

/** Returns the persons of bots, which change their device and their address within its network with each start. */
function botsOf(networks: number) {
  return (index: number): Pick<SimulatedStart, "deviceId" | "ip"> => ({
    ip: `2001:db8:1:${index % networks}::${index.toString(16)}`,
    deviceId: `device ${index}`,
  });
}

it.each(kinds)("%s", async (_, traffic, rejected, sent) => {
  const results: Simulated[] = [];
  for (const seed of seeds) results.push(await simulate(traffic(randomOf(seed))));
  const mean = (of: (result: Simulated) => number): number =>
    results.reduce((sum, result) => sum + of(result), 0) / results.length;
  expect(mean((result) => result.rejected)).toBeLessThanOrEqual(rejected);
  expect(mean((result) => result.sent)).toBeLessThanOrEqual(sent);
});
