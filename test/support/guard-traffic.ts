import type { GuardedStart } from "../../shared/verifications/guard/guard.ts";

/* Traffic for the guard, from seeds: honest people, and fraudsters who are paid for the messages to their ranges. */

/** A start that happens in a simulation. */
export interface SimulatedStart extends Pick<GuardedStart, "deviceId" | "ip" | "to"> {
  readonly atSeconds: number;
  readonly isHonest: boolean;
  /** Undefined if no one types the code. */
  readonly approvedSeconds?: number | undefined;
  /** When the receipt of an undelivered message arrives. */
  readonly undeliveredSeconds?: number | undefined;
}

export type Random = () => number;

/** Returns numbers from 0 to 1 that depend on the seed alone (mulberry32). */
export function randomOf(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns a mobile number of Nigeria in one of its ranges. */
function numberIn(range: number, random: Random): string {
  const last = Math.floor(random() * 10_000);
  return `2348${String(30_000 + range).padStart(5, "0")}${String(last).padStart(4, "0")}`;
}

function pick(random: Random, count: number): number {
  return Math.floor(random() * count);
}

interface Honest {
  readonly perHour: number;
  readonly hours: number;
  readonly ranges: number;
  /** The share that types the code: 78 % where messages arrive. */
  readonly approved?: number;
  /** The share whose messages do not arrive, with a receipt. */
  readonly undelivered?: number;
}

/** Returns honest starts: half of the codes are typed within 25 seconds, and 95 % within 150. */
export function honest(
  { perHour, hours, ranges, approved = 0.78, undelivered = 0 }: Honest,
  random: Random,
): SimulatedStart[] {
  const starts: SimulatedStart[] = [];
  for (let atSeconds = 0; ;) {
    atSeconds += (-Math.log(1 - random()) * 3_600) / perHour;
    if (atSeconds > hours * 3_600) return starts;
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    const delay = Math.min(Math.exp(3.2 + 1.1 * normal), 590);
    const isDelivered = random() >= undelivered;
    const isApproved = isDelivered && random() < approved;
    starts.push({
      atSeconds,
      isHonest: true,
      to: numberIn(pick(random, ranges), random),
      ip: `2001:db8:${starts.length.toString(16)}::1`,
      approvedSeconds: isApproved ? atSeconds + delay : undefined,
      undeliveredSeconds: isDelivered ? undefined : atSeconds + 30,
    });
  }
}

interface Pumping {
  readonly total?: number;
  readonly perMinute: number;
  readonly ranges: number;
  /** The share of codes that the fraudster types. */
  readonly approved?: number;
  readonly personOf?: (index: number) => Pick<SimulatedStart, "deviceId" | "ip">;
  readonly isOwn?: (index: number) => boolean;
}

/** The ranges of fraudsters begin here. */
const pumpedRange = 9_000;
const pumpingBegins = 40_000;

/** Returns the starts of a fraudster. Codes to the fraudster's own range are typed. */
export function pumping(
  { total = 2_000, perMinute, ranges, approved = 0, personOf = () => ({}), isOwn = () => false }: Pumping,
  random: Random,
): SimulatedStart[] {
  return Array.from({ length: total }, (_, index) => {
    const atSeconds = pumpingBegins + (index * 60) / perMinute;
    const range = pumpedRange + (isOwn(index) ? ranges : pick(random, ranges));
    const isApproved = isOwn(index) || random() < approved;
    return {
      atSeconds,
      isHonest: false,
      to: numberIn(range, random),
      ...personOf(index),
      approvedSeconds: isApproved ? atSeconds + 30 : undefined,
    };
  });
}
