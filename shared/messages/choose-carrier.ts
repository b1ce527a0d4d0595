import { setTimeout as delay } from "node:timers/promises";

import type { OrganizationState } from "../accounts/organization-record.ts";
import type { Breakers } from "../carriers/breaker.ts";
import type { Carriers, NamedCarrier } from "../carriers/carriers.ts";
import type { Throughput } from "../carriers/throughput.ts";
import { trafficClass } from "../carriers/traffic-class.ts";
import type { MessageErrorCode } from "../contract/sms.ts";
import { minuteMs, now, secondMs } from "../platform/clock.ts";
import { config } from "../platform/config.ts";
import { maxDelaySeconds, secondsUntil } from "../platform/jobs/job.ts";
import { log } from "../platform/log.ts";
import { costMicrosOf } from "../prices/cost.ts";
import type { RateCard } from "../prices/rate-card.ts";
import type { Slot } from "./message-job.ts";
import type { MessageRecord } from "./record.ts";
import { heldBackSeconds, type Sending } from "./sending-pause.ts";

/** What of a message its carrier is chosen by. */
export type Choosable = Pick<
  MessageRecord,
  | "campaignId"
  | "carrier"
  | "id"
  | "messageType"
  | "openClaims"
  | "organizationId"
  | "refusedBy"
  | "segments"
  | "to"
  | "totalMicros"
>;

/** What a sender goes by; an instance of a function has one of each for all its calls. */
export interface Sender {
  readonly carriers: Carriers;
  /** Without them, every carrier is asked whatever came of it before. */
  readonly breakers?: Breakers;
  /** Without them, carriers take as much as there is. */
  readonly throughput?: Throughput;
  readonly sending?: Sending;
  /** What carriers take. Without it, what a message costs is not known. */
  readonly rateCard?: RateCard | undefined;
  /** A carrier that says nothing for so long is given up. */
  readonly carrierTimeoutMs?: number;
  /** The state of an organization, read once for all jobs of a batch; without it, it is read for each job. */
  readonly stateOf?: (organizationId: string) => Promise<OrganizationState>;
  /** How long the sender can still run. Without it there is no end. */
  readonly remainingTimeMs?: () => number;
}

/** The carrier that is to be asked, when the job is to come again, or why no carrier may be asked any more. */
export type Choice =
  | { readonly kind: "ask"; readonly named: NamedCarrier; readonly probe?: string | undefined }
  | { readonly kind: "wait"; readonly delaySeconds: number; readonly slot?: Slot }
  | { readonly kind: "fail"; readonly errorCode: MessageErrorCode };

/** What is due so soon is waited for: a queue cannot delay a job by less. */
const waitedForMs = secondMs;

/** A start that came so long ago was missed, and what was not used then is not used at once now. */
const slotGoodForMs = minuteMs / 2;

/** Those who wait for a breaker come back over so many seconds, and not all at once. */
const spreadSeconds = 30;

/**
 * Chooses who is asked about a message that nobody holds. Where an earlier sender ended without a word on what its carrier
 * did, no other may be asked, and that one only if it recognises the message.
 */
export async function chooseCarrier(message: Choosable, sender: Sender, slot?: Slot): Promise<Choice> {
  const { carriers } = sender;
  if (message.openClaims > 0) {
    const asked = carriers.named(message.carrier);
    if (asked === undefined || asked.isDisabled || !asked.carrier.deduplicates) {
      return { kind: "fail", errorCode: "MESSAGE_OUTCOME_UNKNOWN" };
    }
    return firstWilling([asked], message, sender, slot);
  }
  const route = carriers.routeOf(message);
  if (route.length === 0) return { kind: "fail", errorCode: "MESSAGE_UNROUTABLE" };
  const { left, tooDear } = leftOf(route, message, sender);
  if (left.length === 0) {
    logTooDear(tooDear, message);
    return { kind: "fail", errorCode: "MESSAGE_PROVIDER_ERROR" };
  }
  const choice = await firstWilling(left, message, sender, slot);
  if (choice.kind === "wait" && choice.slot === undefined) logTooDear(tooDear, message);
  return choice;
}

/**
 * Chooses who is asked next about a message that this sender holds, and that a carrier surely did not take.
 * @param tried those that this sender has asked
 * @returns undefined when no carrier is left that may ever take it
 */
export async function chooseNext(
  held: Choosable,
  sender: Sender,
  tried: ReadonlySet<string>,
): Promise<Choice | undefined> {
  const { left, tooDear } = leftOf(sender.carriers.routeOf(held), held, sender);
  const untried = left.filter(({ name }) => !tried.has(name));
  if (untried.length === 0) logTooDear(tooDear, held);
  return left.length === 0 ? undefined : firstWilling(untried, held, sender);
}

/** The names of the carriers that a message may go to first, in their order. */
export function candidatesFor(message: Choosable, sender: Sender): string[] {
  return leftOf(sender.carriers.routeOf(message), message, sender).left.map(({ name }) => name);
}

/** The carriers of a route that have not refused a message. */
interface Left {
  /** Those that it may go to. */
  readonly left: readonly NamedCarrier[];
  /** Those that take more for it than the customer paid. They are passed over as if the route did not name them. */
  readonly tooDear: readonly NamedCarrier[];
}

/**
 * The first carrier of a route is the operator's choice, whatever it costs. A message goes on to another one at no loss,
 * unless the stage allows it or the cost is not known.
 */
function leftOf(route: readonly NamedCarrier[], message: Choosable, { rateCard }: Sender): Left {
  const { refusedBy = [], totalMicros } = message;
  const at = now();
  const isTooDear = ({ name }: NamedCarrier): boolean =>
    name !== route[0]?.name &&
    (costMicrosOf(rateCard, message, { carrier: name, at }) ?? 0) > totalMicros &&
    !config.mayFailOverAtLoss();
  const { left = [], tooDear = [] } = Object.groupBy(
    route.filter(({ name }) => !refusedBy.includes(name)),
    (named) => (isTooDear(named) ? "tooDear" : "left"),
  );
  return { left, tooDear };
}

/** Tells why a message that waits or fails did not go to the other carriers of its route. */
function logTooDear(tooDear: readonly NamedCarrier[], { organizationId, id }: Choosable): void {
  for (const { name } of tooDear) {
    log.warn("carrier.too_dear", { organizationId, messageId: id, carrier: name });
  }
}

async function firstWilling(
  candidates: readonly NamedCarrier[],
  message: Choosable,
  { breakers, throughput }: Sender,
  slot?: Slot,
): Promise<Choice> {
  const delays: number[] = [];
  const comeBackAfter = (openUntil: string): void => {
    delays.push(secondsUntil(openUntil) + Math.floor(Math.random() * spreadSeconds));
  };
  for (const named of candidates) {
    if (named.isDisabled) continue;
    const openUntil = await breakers?.openUntil(named.name);
    if (openUntil !== undefined) {
      comeBackAfter(openUntil);
      continue;
    }
    const startsAtMs = await startOf(named, message, throughput, slot);
    const waitMs = startsAtMs - now().getTime();
    if (waitMs > waitedForMs) {
      const startsAt = new Date(startsAtMs).toISOString();
      const delaySeconds = Math.min(secondsUntil(startsAt), maxDelaySeconds);
      return { kind: "wait", delaySeconds, slot: { carrier: named.name, startsAt } };
    }
    const admission = await breakers?.admit(named.name);
    if (admission?.isAdmitted === false) {
      comeBackAfter(admission.openUntil);
      continue;
    }
    if (waitMs > 0) await delay(waitMs);
    return { kind: "ask", named, probe: admission?.probe };
  }
  return { kind: "wait", delaySeconds: delays.length === 0 ? heldBackSeconds : Math.min(...delays) };
}

/** When a carrier's pace lets a message start: at the moment that its job says, or at the next one that is free. */
async function startOf(
  { name, segmentsPerSecond }: NamedCarrier,
  message: Choosable,
  throughput: Throughput | undefined,
  slot: Slot | undefined,
): Promise<number> {
  const atMs = now().getTime();
  if (segmentsPerSecond === undefined || throughput === undefined) return atMs;
  if (slot?.carrier === name) {
    const startsAtMs = Date.parse(slot.startsAt);
    if (atMs - startsAtMs < slotGoodForMs) return startsAtMs;
  }
  return throughput.reserve(name, segmentsPerSecond, {
    segments: message.segments,
    isMarketing: trafficClass(message) === "marketing",
  });
}
