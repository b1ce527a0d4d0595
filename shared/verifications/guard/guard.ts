import { GuardFigures } from "../../api/contract/verification-guard.ts";
import type { VerificationProfile } from "../../api/contract/verification-profiles.ts";
import { countryOfNumber } from "../../messages/destinations/numbering-plan.ts";
import { dayMs, epochSeconds, minuteMs, now } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { waitSeconds } from "../../platform/limits/rate-limit.ts";
import { log } from "../../platform/log.ts";
import { networkOf } from "../../platform/source-network.ts";
import type { Changes, Requirements } from "../../platform/table/expressions.ts";
import { keys } from "../../platform/table/keys.ts";
import { itemsIn } from "../../platform/table/lists.ts";
import { findTogether, itemsOf, queryRows } from "../../platform/table/read.ts";
import { updateItem, updateOf } from "../../platform/table/write.ts";
import { TtlCache } from "../../platform/ttl-cache.ts";
import {
  Conversion,
  digestOf,
  isUnusual,
  judge,
  markOf,
  marksOfNumber,
  RecentStarts,
  slotLength,
  surplusOf,
  type GuardedVerification,
  type GuardRule,
  type Verdict,
} from "./rules.ts";

/** A start that the guard judges. */
export interface GuardedStart extends GuardedVerification {
  readonly profile: Pick<VerificationProfile, "allow" | "countries" | "guard">;
  /** The address of the person. */
  readonly ip?: string | undefined;
  readonly deviceId?: string | undefined;
}

/** Whether a verification may start. A rule of an allowed start would have blocked it if the profile did not only monitor. */
export type GuardDecision =
  | { readonly outcome: "allowed"; readonly rule?: GuardRule }
  | { readonly outcome: "blocked"; readonly rule: GuardRule; readonly retryAfterSeconds: number };

const keptMs = 8 * dayMs;
/** The slots that show what is usual: of three days. */
const slotsRead = 432;
const conversions = new TtlCache<readonly Conversion[]>({ ttlMs: minuteMs });

/**
 * Decides whether a verification may start, before anything is reserved or debited, and counts it if so. `noteUnaccepted`
 * takes it back. If the counters are unavailable, it may start: their fault must not stop all logins, and the limits of a
 * send still hold.
 */
export async function guardStart(start: GuardedStart): Promise<GuardDecision> {
  const { organizationId, profile, to, startedAt: at } = start;
  const blocked = ({ rule, until }: Verdict): GuardDecision => {
    return { outcome: "blocked", rule, retryAfterSeconds: waitSeconds(until.getTime() - at.getTime()) };
  };
  if (profile.countries?.includes(countryOfNumber(to) ?? "none") === false) {
    return blocked({ rule: "countries", until: new Date(at.getTime() + dayMs) });
  }
  try {
    const verdict = await judgeAndCount(start);
    if (verdict !== undefined && isEnforced(verdict, profile)) return blocked(verdict);
    await count(start, "started");
    return { outcome: "allowed", ...(verdict === undefined ? {} : { rule: verdict.rule }) };
  } catch (error) {
    log.warn("verification.guard_unavailable", { organizationId, error });
    return { outcome: "allowed" };
  }
}

/** Whether a verdict rejects the start. The rule that protects the person does so in each mode. */
function isEnforced({ rule }: Verdict, { guard }: Pick<VerificationProfile, "guard">): boolean {
  return guard !== "monitor" || rule === "number";
}

/** Judges a start again after it was counted, so that of parallel starts no more than the limit are allowed. */
async function judgeAndCount(start: GuardedStart): Promise<Verdict | undefined> {
  const names = [rangeOf(start), ...personOf(start)];
  const wanted = names.map((name) => keys.recentStarts(start.organizationId, name));
  const before = itemsOf(await findTogether(RecentStarts, wanted));
  const unapproved = new Set([markOf(start)]);
  let verdict = await verdictOf(start, before);
  if (verdict === undefined || !isEnforced(verdict, start.profile)) {
    const counting = names.map(async (name) => {
      const surplus = surplusOf(before, name, start.startedAt);
      const take = { unapproved: surplus, approved: surplus, undelivered: surplus };
      if (surplus.size > 0) await change(start, name, { take });
      return (await change(start, name, { add: { unapproved } })) ?? [];
    });
    const after = (await Promise.all(counting)).flat();
    verdict = (await verdictOf(start, after)) ?? verdict;
    if (verdict === undefined || !isEnforced(verdict, start.profile)) return verdict;
    await takeBack(start);
  }
  const { reason, until } = verdict;
  const set = { blockedUntil: until.toISOString(), reason, isStrict: start.profile.guard === "strict" };
  if (reason !== undefined) await change(start, rangeOf(start), { set });
  return verdict;
}

/** Returns the verdict on a start. In an unusual country, a range without approvals is judged strictly. */
async function verdictOf(start: GuardedStart, items: readonly RecentStarts[]): Promise<Verdict | undefined> {
  const { organizationId, profile, to } = start;
  // A block by strict figures holds for strict profiles only.
  const isOther = ({ isStrict = false }: RecentStarts): boolean => isStrict && profile.guard !== "strict";
  const recent = items.map((item) => (isOther(item) ? { ...item, blockedUntil: undefined } : item));
  const figures = figuresOf(profile.guard);
  const verdict = judge(start, recent, figures);
  if (verdict?.rule !== "range" && verdict?.rule !== "country") return verdict;
  if (profile.allow.some((prefix) => to.startsWith(prefix))) return undefined;
  if (verdict.rule === "range") return verdict;
  const { pk, sk: from } = keys.conversion(organizationId, countryPrefix(to));
  const range = { pk, from, to: `${from}~`, newestFirst: true, limit: slotsRead };
  const load = async (): Promise<Conversion[]> => itemsOf(await queryRows(Conversion, range));
  const slots = await conversions.read(load, `${pk} ${from}`);
  return isUnusual(start.startedAt, slots, figures) ? judge(start, recent, figuresOf("strict")) : undefined;
}

/** Counts an approved verification. Errors are only logged. */
export async function noteApproved(verification: GuardedVerification): Promise<void> {
  await note(verification, "approved");
}

/** Counts a verification whose message was not sent or not delivered, once. Errors are only logged. */
export async function noteUndelivered(verification: GuardedVerification): Promise<void> {
  await note(verification, "undelivered");
}

/** Takes back a start that was not accepted. In its country it counts as undelivered. Errors are only logged. */
export async function noteUnaccepted(start: GuardedStart): Promise<void> {
  try {
    await takeBack(start);
    await count(start, "undelivered");
  } catch (error) {
    log.warn("verification.not_counted", { organizationId: start.organizationId, error });
  }
}

async function takeBack(start: GuardedStart): Promise<void> {
  const take = { unapproved: new Set([markOf(start)]) };
  await Promise.all([rangeOf(start), ...personOf(start)].map(async (name) => change(start, name, { take })));
}

/** Removes the starts of a number from its range, and from all addresses and devices. */
export async function eraseStartsOf(organizationId: string, to: string): Promise<void> {
  for (const kind of ["ADDRESS#", "DEVICE#", rangeOf({ to })]) {
    const { pk, sk: from } = keys.recentStarts(organizationId, kind);
    const range = { pk, from, to: `${from}~`, skipsUnreadable: true };
    for await (const item of itemsIn(RecentStarts, range)) {
      const marks = marksOfNumber(item, organizationId, to);
      const take = { unapproved: marks, approved: marks, undelivered: marks };
      if (marks.size > 0) await change({ organizationId }, item.sk, { take }, { present: ["pk"] });
    }
  }
}

async function note(start: GuardedVerification, outcome: "approved" | "undelivered"): Promise<void> {
  const own = new Set([markOf(start)]);
  // A repeated receipt finds it counted.
  const requires = outcome === "approved" ? {} : { contains: { unapproved: markOf(start) } };
  try {
    const changes = { add: { [outcome]: own }, take: { unapproved: own } };
    const changed = await change(start, rangeOf(start), changes, requires);
    if (changed !== undefined) await count(start, outcome);
  } catch (error) {
    log.warn("verification.not_counted", { organizationId: start.organizationId, error });
  }
}

/** Changes the newest starts of a range, an address or a device. @returns undefined if the requirements did not hold */
async function change(
  { organizationId }: Pick<GuardedVerification, "organizationId">,
  name: string,
  { set, ...others }: Changes<"recentStarts">,
  requires: Requirements<"recentStarts"> = {},
): Promise<RecentStarts | undefined> {
  const expiresAt = epochSeconds(new Date(now().getTime() + 2 * dayMs));
  const changes = { ...others, set: { ...set, entity: "recentStarts", expiresAt } } as const;
  const update = updateOf(keys.recentStarts(organizationId, name), changes, requires);
  const changed = await updateItem(RecentStarts, update);
  return changed.applied ? changed.item : undefined;
}

async function count(
  { organizationId, to, startedAt }: GuardedVerification,
  outcome: "approved" | "started" | "undelivered",
): Promise<void> {
  const expiresAt = epochSeconds(new Date(startedAt.getTime() + keptMs));
  const changes = { set: { entity: "conversion", expiresAt }, add: { [outcome]: 1 } } as const;
  const update = updateOf(
    keys.conversion(organizationId, `${countryPrefix(to)}${startedAt.toISOString().slice(0, slotLength)}`),
    changes,
  );
  await updateItem(Conversion, update, { bestEffort: true });
}

/** Returns the beginning of the names of a country's counts. */
function countryPrefix(to: string): string {
  return `COUNTRY#${countryOfNumber(to) ?? "none"}#`;
}

function rangeOf({ to }: Pick<GuardedVerification, "to">): string {
  return `RANGE#${to.slice(0, -4)}`;
}

/** Returns the names of the address and the device of a start, which are stored as digests only. */
function personOf({ organizationId, ip, deviceId }: GuardedStart): string[] {
  return [
    ...(ip === undefined ? [] : [`ADDRESS#${digestOf(organizationId, networkOf(ip))}`]),
    ...(deviceId === undefined ? [] : [`DEVICE#${digestOf(organizationId, deviceId)}`]),
  ];
}

/** Returns the figures of a mode. Strict allows half as many starts, and judges shares after half as many. */
function figuresOf(mode: VerificationProfile["guard"]): GuardFigures {
  const figures = GuardFigures.parse(JSON.parse(config.verificationGuard()));
  if (mode !== "strict") return figures;
  const half = ([name, figure]: [string, number]) => [name, figure < 1 ? figure : Math.ceil(figure / 2)];
  return { ...figures, ...Object.fromEntries(Object.entries(figures).map(half)) };
}
