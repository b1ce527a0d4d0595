import { createHash } from "node:crypto";

import * as z from "zod/mini";

import type { GuardFigures } from "../../api/contract/verification-guard.ts";
import { dayMs, hourMs, minuteMs, secondMs } from "../../platform/clock.ts";

/* The rules of the guard, without the table. Each judges the starts before the present one. */

/** The rules in the order of the checks. */
export type GuardRule = "address" | "checks" | "countries" | "country" | "device" | "number" | "range";

const Count = z._default(z.int(), 0);
const Marks = z._default(z.set(z.string()), new Set());

/** The newest starts of a range, an address or a device, as marks. Undelivered ones count for no share. */
export const RecentStarts = z.object({
  entity: z.literal("recentStarts"),
  sk: z.string(),
  unapproved: Marks,
  approved: Marks,
  undelivered: Marks,
  /** Until when its range is blocked, and why. */
  blockedUntil: z.optional(z.string()),
  reason: z.optional(z.string()),
  /** Whether a strict profile blocked it. */
  isStrict: z.optional(z.boolean()),
});
export type RecentStarts = z.infer<typeof RecentStarts>;

/** The starts in a country within ten minutes. */
export const Conversion = z.object({
  entity: z.literal("conversion"),
  sk: z.string(),
  started: Count,
  approved: Count,
  undelivered: Count,
});
export type Conversion = z.infer<typeof Conversion>;

/** A verification that the guard counts. */
export interface GuardedVerification {
  readonly id: string;
  readonly organizationId: string;
  readonly to: string;
  readonly startedAt: Date;
}

/** Why a start is not allowed, and until when. With a reason the range is to be blocked. */
export interface Verdict {
  readonly rule: GuardRule;
  readonly until: Date;
  readonly reason?: string;
}

const freshMs = 20 * minuteMs;
const blockMs = 12 * hourMs;
const slotMs = 10 * minuteMs;
export const slotLength = "yyyy-mm-ddThh:m".length;
/** Nearly all people have entered their code after this time. */
const matureMs = 3 * minuteMs;
/** The most marks of an item, so that its write costs one unit. */
const maxMarks = 50;
/** Older starts are removed, because no rule needs them. */
const markMs = 2 * dayMs;
/** The digits of a mark's time: seconds in base 36. */
const timeDigits = 7;
const numberDigits = 4;
const idDigits = 3;

/** Returns a start as it is counted: its time, and digests of its number and its id. A repetition is the same mark. */
export function markOf({ id, organizationId, to, startedAt }: GuardedVerification): string {
  const seconds = Math.floor(startedAt.getTime() / secondMs).toString(36);
  return (
    seconds.padStart(timeDigits, "0") +
    numberMarkOf(organizationId, to) +
    digestOf(organizationId, id).slice(0, idDigits)
  );
}

function numberMarkOf(organizationId: string, to: string): string {
  return digestOf(organizationId, to).slice(0, numberDigits);
}

/** Returns the digest of a value that the table must not contain. */
export function digestOf(organizationId: string, text: string): string {
  return createHash("sha256").update(`${organizationId} ${text}`).digest("base64url");
}

const timeOf = (mark: string): number => Number.parseInt(mark.slice(0, timeDigits), 36) * secondMs;
const numberOf = (mark: string): string => mark.slice(timeDigits, timeDigits + numberDigits);
const marksOf = (recent: RecentStarts | undefined): string[] =>
  recent === undefined ? [] : [...recent.unapproved, ...recent.approved, ...recent.undelivered];

/**
 * Judges a start by the others of its range, address and device, in the order of the rules. The verdict `country` holds only
 * if the country is unusual.
 */
export function judge(
  start: GuardedVerification,
  recent: readonly RecentStarts[],
  figures: GuardFigures,
): Verdict | undefined {
  const [range, address, device] = ["RANGE", "ADDRESS", "DEVICE"].map((kind) =>
    recent.find(({ sk }) => sk.startsWith(kind)),
  );
  const at = start.startedAt;
  const own = markOf(start);
  const number = numberOf(own);
  const later = (ms: number): Date => new Date(at.getTime() + ms);
  const aged = (marks: Iterable<string>, belowMs: number, fromMs = -Infinity): string[] =>
    [...marks].filter((each) => {
      const ageMs = at.getTime() - timeOf(each);
      return each !== own && fromMs <= ageMs && ageMs < belowMs;
    });
  const distinct = (marks: readonly string[]): string[] => {
    const others = marks.filter((each) => numberOf(each) !== number);
    return [...new Map(others.map((each) => [numberOf(each), each])).values()];
  };
  const limit = (rule: GuardRule, marks: readonly string[], windowMs: number, max: number) =>
    marks.length < max ? undefined : { rule, until: new Date(Math.min(...marks.map(timeOf)) + windowMs) };
  const ofNumber = aged(marksOf(range), dayMs).filter((each) => numberOf(each) === number);
  const ofAddress = aged(marksOf(address), hourMs);
  const limited =
    limit("number", ofNumber, dayMs, figures.startsPerNumberPerDay) ??
    limit("address", ofAddress, hourMs, figures.startsPerAddressPerHour) ??
    limit("address", distinct(ofAddress), hourMs, figures.numbersPerAddressPerHour) ??
    limit("device", distinct(aged(marksOf(device), dayMs)), dayMs, figures.numbersPerDevicePerDay);
  if (limited !== undefined || range === undefined) return limited;
  const blockedUntil = new Date(range.blockedUntil ?? 0);
  if (blockedUntil > at) return { rule: "range", until: blockedUntil };
  // A third of approved starts is safe, however many others are pending.
  const fresh = aged(range.unapproved, freshMs).length;
  const mature = aged(range.unapproved, dayMs, matureMs).length;
  const approved = aged(range.approved, dayMs, matureMs).length;
  const isFast =
    fresh >= figures.unapprovedPerRangePer20Minutes && aged(range.approved, freshMs).length < fresh / 2;
  const isPoor =
    mature + approved >= figures.judgedPerRange && approved < figures.rangeApproval * (mature + approved);
  if (isFast || isPoor) {
    const reason = `${approved} of ${mature + approved} approved in a day, ${fresh} not approved in 20 minutes`;
    return { rule: "range", until: later(blockMs), reason };
  }
  const isUnknown = aged(range.approved, dayMs).length === 0 && aged(range.unapproved, dayMs).length > 0;
  return isUnknown ? { rule: "country", until: later(slotMs) } : undefined;
}

/**
 * Whether the newest starts in a country were approved much less than is usual there.
 * @param conversions the newest first
 */
export function isUnusual(at: Date, conversions: readonly Conversion[], figures: GuardFigures): boolean {
  const recent = { judged: 0, approved: 0 };
  const usual = { judged: 0, approved: 0 };
  for (const { sk, started, approved, undelivered } of conversions) {
    const ageMs = at.getTime() - Date.parse(`${sk.slice(-slotLength)}0Z`);
    if (ageMs < slotMs + matureMs) continue;
    const sum = recent.judged < figures.judgedPerCountry && ageMs < dayMs ? recent : usual;
    sum.judged += started - undelivered;
    sum.approved += approved;
  }
  const isKnown = usual.judged >= figures.judgedPerCountry;
  const usualApproval = isKnown ? usual.approved / usual.judged : figures.usualApproval;
  const least = figures.partOfUsualApproval * usualApproval;
  return recent.judged >= figures.judgedPerCountry && recent.approved < least * recent.judged;
}

/** Returns the marks of a number. */
export function marksOfNumber(recent: RecentStarts, organizationId: string, to: string): ReadonlySet<string> {
  const number = numberMarkOf(organizationId, to);
  return new Set(marksOf(recent).filter((each) => numberOf(each) === number));
}

/** Returns the marks to remove: old ones, and the older half of a full item. Numbers with several starts in a day go last. */
export function surplusOf(recent: readonly RecentStarts[], name: string, at: Date): ReadonlySet<string> {
  const marks = marksOf(recent.find(({ sk }) => sk === name)).toSorted();
  const since = (ms: number) => marks.filter((each) => timeOf(each) > at.getTime() - ms);
  const kept = since(markMs);
  if (kept.length >= maxMarks) {
    const counts = new Map<string, number>();
    for (const each of since(dayMs)) counts.set(numberOf(each), (counts.get(numberOf(each)) ?? 0) + 1);
    const isFrequent = (mark: string): boolean => (counts.get(numberOf(mark)) ?? 0) > 2;
    const inOrder = [...kept.filter((each) => !isFrequent(each)), ...kept.filter(isFrequent)];
    kept.splice(0, Infinity, ...inOrder.slice(-maxMarks / 2));
  }
  return new Set(marks).difference(new Set(kept));
}
