import { setTimeout as delay } from "node:timers/promises";

import type { MessageErrorCode } from "../../api/contract/sms.ts";
import type { Breakers } from "../../carriers/breaker.ts";
import type { Carriers, NamedCarrier } from "../../carriers/carriers.ts";
import type { Throughput } from "../../carriers/throughput.ts";
import { trafficClass } from "../../carriers/traffic-class.ts";
import { costMicrosOf } from "../../money/prices/cost.ts";
import type { RateCard } from "../../money/prices/rate-card.ts";
import { dayMs, minuteMs, now, secondMs } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { maxDelaySeconds, secondsUntil } from "../../platform/jobs/job.ts";
import { heldBackSeconds, type Pause } from "../../platform/jobs/pause.ts";
import { log } from "../../platform/log.ts";
import { countMetrics } from "../../platform/metrics.ts";
import type { OrganizationState } from "../../tenancy/organizations/record.ts";
import type { ReservedStart } from "../message/message-job.ts";
import type { MessageRecord } from "../message/record.ts";

/** The fields of a message that decide its carrier. */
export type Choosable = Pick<
  MessageRecord,
  | "campaignId"
  | "carrier"
  | "id"
  | "messageType"
  | "unresolvedAttempts"
  | "organizationId"
  | "rejectedBy"
  | "segments"
  | "to"
  | "totalMicros"
>;

/** The dependencies of a sender. A function's instance has one set for all its calls. */
export interface Sender {
  readonly carriers: Carriers;
  readonly breakers: Pick<Breakers, "admit" | "note" | "openUntil">;
  readonly throughput: Pick<Throughput, "reserve">;
  readonly sending: Pause;
  /** The carrier that may cost more than the price of a message. By default it is the first of the route. */
  readonly firstChoice?: string | undefined;
  /** The prices of carriers. If it is undefined, the costs of messages are unknown. */
  readonly rateCard: RateCard | undefined;
  /** Returns the state of an organization, read once for all jobs of a batch. */
  readonly stateOf: (organizationId: string) => Promise<OrganizationState>;
  /** Returns how long the sender can still run. */
  readonly remainingTimeMs: () => number;
}

/** The carrier to submit to, or when the job returns, or why no carrier may get the message. */
export type Choice =
  | { readonly kind: "submit"; readonly named: NamedCarrier; readonly probe?: string | undefined }
  | { readonly kind: "wait"; readonly delaySeconds: number; readonly reservedStart?: ReservedStart }
  | { readonly kind: "fail"; readonly errorCode: MessageErrorCode };

/** The longest time that a sender waits itself: a queue cannot delay a job by less. */
const waitedForMs = secondMs;

/** How late a reserved start is still used. Older starts were missed, and are not made up for in a burst. */
const reservedStartValidMs = minuteMs / 2;

/** The period over which jobs that wait for a breaker return, so that they do not all return together. */
const spreadSeconds = 30;

/**
 * How long a message lets others be the probe of a carrier that did not respond, because a probe may be lost. A one-time
 * code goes to another carrier instead. Most codes have no type. A message that only this carrier may get loses nothing.
 * @param isLastResort whether no other carrier of its route may be called, and no tried one may accept it later
 */
function patienceMs(
  { unresolvedAttempts, campaignId, messageType }: Choosable,
  isLastResort: boolean,
): number {
  if (unresolvedAttempts > 0 || campaignId !== undefined || messageType === "marketing") return 0;
  if (isLastResort || messageType === "transactional") return minuteMs / 2;
  return messageType === "otp" ? dayMs : 10 * minuteMs;
}

/**
 * Chooses the carrier of a message that no sender holds. If the outcome of an earlier attempt is unknown, only its carrier
 * may get the message again, and only if it recognizes repeats.
 */
export async function chooseCarrier(
  message: Choosable,
  sender: Sender,
  reservedStart?: ReservedStart,
): Promise<Choice> {
  const { carriers } = sender;
  if (message.unresolvedAttempts > 0) {
    const { carrier } = message;
    const earlier = carrier === undefined ? undefined : carriers.named(carrier);
    if (earlier === undefined || earlier.isDisabled || !earlier.carrier.idempotent) {
      return { kind: "fail", errorCode: "MESSAGE_OUTCOME_UNKNOWN" };
    }
    return firstWilling([earlier], message, sender, { reservedStart });
  }
  const route = routeFor(message, sender);
  if (route.length === 0) return { kind: "fail", errorCode: "MESSAGE_UNROUTABLE" };
  const { left, abovePrice } = leftOf(route, message, sender);
  if (left.length === 0) {
    logAbovePrice(abovePrice, message);
    return { kind: "fail", errorCode: "MESSAGE_PROVIDER_ERROR" };
  }
  const choice = await firstWilling(left, message, sender, { reservedStart });
  if (choice.kind === "wait" && choice.reservedStart === undefined) {
    logAbovePrice(abovePrice, message);
    countMetrics({ MessagesWithoutCarrier: 1 });
  }
  return choice;
}

/**
 * Chooses the next carrier of a message that this sender holds, and that a carrier definitely did not accept.
 * @param tried the carriers that this sender has tried
 * @returns undefined when no carrier is left that may ever accept it
 */
export async function chooseNext(
  leased: Choosable,
  sender: Sender,
  tried: ReadonlySet<string>,
): Promise<Choice | undefined> {
  const { left, abovePrice } = leftOf(routeFor(leased, sender), leased, sender);
  const untried = left.filter(({ name }) => !tried.has(name));
  if (untried.length === 0) logAbovePrice(abovePrice, leased);
  if (left.length === 0) return undefined;
  // Its one open attempt is that of this sender, which has ended.
  const message = { ...leased, unresolvedAttempts: 0 };
  // A carrier that has throttled it, or was unreachable, may accept it later.
  return firstWilling(untried, message, sender, { isAnyTried: untried.length < left.length });
}

/** Returns the names of the carriers that may get a message first, in their order. */
export function candidatesFor(message: Choosable, sender: Sender): string[] {
  return leftOf(routeFor(message, sender), message, sender).left.map(({ name }) => name);
}

/** The carriers of a message's route that send it whole. */
function routeFor(message: Choosable, { carriers }: Sender): readonly NamedCarrier[] {
  return carriers.routeOf(message).filter(({ maxParts = Infinity }) => message.segments <= maxParts);
}

/** The carriers of a route that have not rejected a message. */
interface Left {
  /** The carriers that may get it. */
  readonly left: readonly NamedCarrier[];
  /** The carriers that charge more for it than the customer paid. They are skipped as if the route did not name them. */
  readonly abovePrice: readonly NamedCarrier[];
}

/**
 * Splits a route by cost. The first carrier is the operator's choice at any cost. A message fails over to another carrier
 * only without a loss, unless the stage allows losses or the cost is unknown.
 */
function leftOf(route: readonly NamedCarrier[], message: Choosable, { rateCard, firstChoice }: Sender): Left {
  const { rejectedBy = [], totalMicros } = message;
  const at = now();
  const isAbovePrice = ({ name }: NamedCarrier): boolean =>
    name !== (firstChoice ?? route[0]?.name) &&
    (costMicrosOf(rateCard, message, { carrier: name, at }) ?? 0) > totalMicros &&
    !config.mayFailOverAtLoss();
  const { left = [], abovePrice = [] } = Object.groupBy(
    route.filter(({ name }) => !rejectedBy.includes(name)),
    (named) => (isAbovePrice(named) ? "abovePrice" : "left"),
  );
  return { left, abovePrice };
}

/** Logs why a message that waits or fails did not go to the other carriers of its route. */
function logAbovePrice(abovePrice: readonly NamedCarrier[], { organizationId, id }: Choosable): void {
  for (const { name } of abovePrice) {
    log.warn("carrier.above_price", { organizationId, messageId: id, carrier: name });
  }
}

/**
 * Chooses the first carrier that may be called. Only if there is none, a message becomes a probe for want of another.
 * @param isAnyTried whether a carrier that is no candidate may accept the message later
 */
async function firstWilling(
  candidates: readonly NamedCarrier[],
  message: Choosable,
  sender: Sender,
  { reservedStart, isAnyTried = false }: { reservedStart?: ReservedStart | undefined; isAnyTried?: boolean },
): Promise<Choice> {
  const enabled = candidates.filter(({ isDisabled }) => !isDisabled);
  const first = await firstOpen(enabled, message, sender, { isLastResort: false, reservedStart });
  if ("kind" in first) return first;
  const choice = isAnyTried
    ? first
    : await firstOpen(enabled, message, sender, { isLastResort: true, reservedStart });
  if ("kind" in choice) return choice;
  return { kind: "wait", delaySeconds: choice.length === 0 ? heldBackSeconds : Math.min(...choice) };
}

/** @returns the choice, or the seconds after which each carrier may be called */
async function firstOpen(
  enabled: readonly NamedCarrier[],
  message: Choosable,
  { breakers, throughput }: Sender,
  { isLastResort, reservedStart }: { isLastResort: boolean; reservedStart: ReservedStart | undefined },
): Promise<Choice | number[]> {
  const delays: number[] = [];
  // The breaker may close earlier than it lets a probe through.
  const retryAfter = (openUntil: string): void => {
    const seconds = Math.min(secondsUntil(openUntil), heldBackSeconds);
    delays.push(seconds + Math.floor(Math.random() * spreadSeconds));
  };
  for (const named of enabled) {
    const openUntil = await breakers.openUntil(named.name, patienceMs(message, isLastResort), isLastResort);
    if (openUntil !== undefined) {
      retryAfter(openUntil);
      continue;
    }
    const startsAtMs = await startOf(named, message, throughput, reservedStart);
    const waitMs = startsAtMs - now().getTime();
    if (waitMs > waitedForMs) {
      const startsAt = new Date(startsAtMs).toISOString();
      const delaySeconds = Math.min(secondsUntil(startsAt), maxDelaySeconds);
      return { kind: "wait", delaySeconds, reservedStart: { carrier: named.name, startsAt } };
    }
    const admission = await breakers.admit(named.name, isLastResort);
    if (!admission.isAdmitted) {
      retryAfter(admission.openUntil);
      continue;
    }
    if (waitMs > 0) await delay(waitMs);
    return { kind: "submit", named, probe: admission.probe };
  }
  return delays;
}

/** Returns when a carrier's throughput lets a message start: the start that its job reserved, or the next free one. */
async function startOf(
  { name, segmentsPerSecond }: NamedCarrier,
  message: Choosable,
  throughput: Sender["throughput"],
  reservedStart: ReservedStart | undefined,
): Promise<number> {
  const atMs = now().getTime();
  if (segmentsPerSecond === undefined) return atMs;
  if (reservedStart?.carrier === name) {
    const startsAtMs = Date.parse(reservedStart.startsAt);
    if (atMs - startsAtMs < reservedStartValidMs) return startsAtMs;
  }
  return throughput.reserve(name, segmentsPerSecond, {
    segments: message.segments,
    isMarketing: trafficClass(message) === "marketing",
  });
}
