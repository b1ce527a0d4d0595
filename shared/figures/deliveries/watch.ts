import {
  durations,
  oddNames,
  readArrivals,
  slotMs,
  slotOf,
  type Arrivals,
  type Outcomes,
} from "../../messages/counts/arrivals.ts";
import { added, addTo, sumBy } from "../../messages/counts/rows.ts";
import { dayMs, dayOf, hourMs, now } from "../../platform/clock.ts";
import { log } from "../../platform/log.ts";
import { countMetrics, type MetricName } from "../../platform/metrics.ts";

/*
 * The watch over carriers. It compares the newest figures of each carrier, and of each of its countries, with those of its last
 * week. They are of as few slots as have enough events. So a busy carrier is judged by minutes, and a small country by up to
 * two hours. A finding has far less success than usual, and less than chance explains.
 * Late messages are compared with an objective instead, so that lateness never becomes usual.
 */

/** The longest time that is judged, and the time before it that is usual. */
const judgedMs = 2 * hourMs;
const usualMs = 7 * dayMs;

/** The fewest events that are judged. */
const fewest = 15;

/** How many standard deviations below the usual share are no chance, although some messages fail together. */
const deviations = 4;

/** A few failures are chance, even where failures are rare: at least six are necessary. */
const leastVariance = 2;

/** A group counts as if it had had this many events of the assumed share, so that one without a past is judged too. */
const assumedEvents = 20;

/** The seconds within which a receipt is expected. Slower ones are not missed. */
const promptSeconds = 60;

/** Events, and the good ones among them. */
interface Share {
  readonly of: number;
  readonly good: number;
}

/** The outcomes, and the accepted messages that are no marketing. */
interface Judged extends Outcomes {
  readonly urgent: number;
}

type JudgedArrivals = Arrivals & { readonly urgent: number; readonly oddUrgent: number };

interface Kind {
  readonly event: string;
  readonly metric: MetricName;
  /** The fewest slots that are judged. */
  readonly slots: number;
  readonly shareOf: (judged: Judged) => Share;
  /** The usual share, if it is counted differently. */
  readonly usualOf?: (usual: JudgedArrivals) => Share;
  /** The assumed share. Without it, that of the carrier is assumed for its countries. */
  readonly assumed?: number;
  /** The greatest share that is a finding, where a share is usual. */
  readonly most: (usual: number) => number;
}

const promptly = durations.filter((seconds) => seconds <= promptSeconds);

const kinds: readonly Kind[] = [
  {
    event: "carrier.failing",
    metric: "FailingCarriers",
    slots: 2,
    shareOf: ({ accepted, failed }) => ({ of: accepted + failed, good: accepted }),
    assumed: 0.98,
    // A fifth fails, and twice as many as usual.
    most: (usual) => Math.min(0.8, 2 * usual - 1),
  },
  {
    event: "carrier.throttling",
    metric: "ThrottlingCarriers",
    slots: 6,
    shareOf: ({ accepted, failed, throttled }) => ({
      of: accepted + failed + throttled,
      good: accepted + failed,
    }),
    assumed: 0.98,
    most: () => 0.1,
  },
  {
    event: "carrier.late",
    metric: "LateCarriers",
    slots: 2,
    shareOf: ({ urgent, late }) => ({ of: urgent, good: urgent - late }),
    usualOf: () => ({ of: 0, good: 0 }),
    assumed: 0.99,
    // One of twenty.
    most: () => 0.95,
  },
  {
    event: "carrier.deliveries_low",
    metric: "LowDeliveryRates",
    slots: 2,
    shareOf: ({ delivered, undelivered }) => ({ of: delivered + undelivered, good: delivered }),
    assumed: 0.9,
    most: (usual) => usual / 2,
  },
  {
    event: "carrier.receipts_missing",
    metric: "MissingReceipts",
    slots: 2,
    shareOf: ({ accepted, delivered, undelivered }) => ({ of: accepted, good: delivered + undelivered }),
    usualOf: (usual) => ({
      of: usual.accepted,
      good: promptly.reduce((sum, seconds) => sum + usual[`received${seconds}`], 0),
    }),
    // The counts of some receipts may still wait in an instance.
    most: (usual) => usual / 3,
  },
];

/** A carrier, or one of its countries. */
interface Group {
  /** The figures that are judged, the newest first. Those of a whole carrier have no country. */
  readonly slots: readonly JudgedArrivals[];
  /** The sum of the time before, and that of the whole carrier until now. */
  readonly usual: JudgedArrivals | undefined;
  readonly ofCarrier: JudgedArrivals | undefined;
}

/** A carrier, or one of its countries, with a lower share of good events than usual. */
export interface Finding {
  /** The event of its line in the log. */
  readonly event: string;
  readonly carrier: string;
  readonly country?: string;
  /** The events that were judged. */
  readonly count: number;
  readonly share: number;
  readonly usualShare: number;
}

/** Judges all carriers. */
export async function watchCarriers(): Promise<Finding[]> {
  const findings: Finding[] = [];
  const groups = await readGroups();
  for (const kind of kinds) {
    const found = new Set<string>();
    for (const group of groups) {
      const finding = findingOf(kind, group);
      // The countries of a carrier with a finding need none of their own.
      if (finding === undefined || found.has(finding.carrier)) continue;
      if (finding.country === undefined) found.add(finding.carrier);
      findings.push({ event: kind.event, ...finding });
      countMetrics({ [kind.metric]: 1 });
      log.warn(kind.event, finding);
    }
  }
  return findings;
}

function findingOf(
  { shareOf, usualOf = shareOf, assumed, most, slots }: Kind,
  { usual: past, ofCarrier, slots: newest }: Group,
): Omit<Finding, "event"> | undefined {
  const [first, ...others] = newest;
  if (first === undefined) return undefined;
  const from = slotOf(new Date(now().getTime() - (slots - 1) * slotMs).toISOString());
  let judged = first;
  let last = first.slot;
  for (const figures of others) {
    if (figures.slot < from && figures.slot !== last && shareOf(judged).of >= fewest) break;
    judged = added(judged, figures);
    last = figures.slot;
  }
  const known = past && usualOf(past);
  const events = (known?.of ?? 0) + assumedEvents;
  const assumedShare = assumed ?? partOf(ofCarrier && usualOf(ofCarrier));
  const usual = ((known?.good ?? 0) + assumedEvents * assumedShare) / events;
  const isBelow = ({ of, good }: Share, howFar: number): boolean => {
    // The variance of the present share, and that of the usual one.
    const variance = of * usual * (1 - usual) * (1 + of / events);
    return of * usual - good > howFar * Math.sqrt(Math.max(leastVariance, variance));
  };
  const share = shareOf(judged);
  const isLow = share.of >= fewest && share.good <= share.of * most(usual) && isBelow(share, deviations);
  // While one half of the organizations is as usual, one organization may be the cause, and not the carrier.
  const isUsual = (half: Share): boolean => half.of >= fewest && !isBelow(half, deviations / 2);
  if (!isLow || halvesOf(judged).map(shareOf).some(isUsual)) return undefined;
  const { carrier, country } = first;
  const ofCountry = country === "" ? {} : { country };
  return { carrier, ...ofCountry, count: share.of, share: partOf(share), usualShare: usual };
}

function partOf({ of, good }: Share = { of: 0, good: 0 }): number {
  return of === 0 ? 0 : good / of;
}

/** The sums of days that are over, by group. An instance reads them once, without receipts that come later. */
const pastDays = new Map<string, Map<string, JudgedArrivals>>();

/** Reads the figures of all groups that had an event in the time that is judged, each carrier before its countries. */
async function readGroups(): Promise<readonly Group[]> {
  const before = (ms: number): string => new Date(now().getTime() - ms).toISOString();
  const judgedFrom = slotOf(before(judgedMs));
  const usual = new Map<string, JudgedArrivals>();
  const judged: JudgedArrivals[] = [];
  for (let ago = usualMs; ago >= 0; ago -= dayMs) {
    const day = dayOf(before(ago));
    const sums = pastDays.get(day) ?? new Map<string, JudgedArrivals>();
    for await (const read of pastDays.has(day) ? [] : readArrivals(day)) {
      const isUrgent = read.class !== "marketing";
      const { accepted, oddAccepted } = read;
      const figures = { ...read, urgent: isUrgent ? accepted : 0, oddUrgent: isUrgent ? oddAccepted : 0 };
      for (const each of [{ ...figures, country: "" }, figures]) {
        if (each.slot < judgedFrom) addTo(sums, nameOf(each), each);
        else judged.push(each);
      }
    }
    for (const [name, sum] of sums) addTo(usual, name, sum);
    if (day < dayOf(judgedFrom)) pastDays.set(day, sums);
  }
  for (const day of pastDays.keys()) if (day < dayOf(before(usualMs))) pastDays.delete(day);
  judged.sort((one, other) => other.slot.localeCompare(one.slot));
  const groups = Map.groupBy(judged, nameOf);
  const sorted = [...groups].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return sorted.map(([name, slots]) => {
    const whole = { carrier: name.slice(0, name.indexOf(" ")), country: "" };
    const all = [usual.get(nameOf(whole)) ?? [], groups.get(nameOf(whole)) ?? []].flat();
    return { slots, usual: usual.get(name), ofCarrier: sumBy(all, () => "")[0] };
  });
}

function nameOf({ carrier, country }: Pick<Arrivals, "carrier" | "country">): string {
  return `${carrier} ${country}`;
}

function halvesOf(all: JudgedArrivals): readonly Judged[] {
  const half = (of: (outcome: keyof Judged) => number): Judged => ({
    accepted: of("accepted"),
    failed: of("failed"),
    throttled: of("throttled"),
    delivered: of("delivered"),
    undelivered: of("undelivered"),
    urgent: of("urgent"),
    late: of("late"),
  });
  const odd = { ...oddNames, urgent: "oddUrgent" } as const;
  return [half((name) => all[odd[name]]), half((name) => all[name] - all[odd[name]])];
}
