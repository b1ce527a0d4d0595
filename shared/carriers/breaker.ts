import * as z from "zod/mini";

import { minuteMs, now, secondMs } from "../platform/clock.ts";
import { log } from "../platform/log.ts";
import { countMetrics } from "../platform/metrics.ts";
import { keys } from "../platform/table/keys.ts";
import {
  acquireLease,
  hasLease,
  isFree,
  leaseFieldNames,
  leaseFields,
  newLease,
  releaseLease,
} from "../platform/table/lease.ts";
import { itemsOf, queryRows } from "../platform/table/read.ts";
import { updateItem, updateOf } from "../platform/table/write.ts";
import { TtlCache } from "../platform/ttl-cache.ts";

/*
 * A breaker for each carrier, which all senders share. While it is open, no sender calls the carrier, so that messages
 * go to the next carrier without waiting for a timeout. Once its time is over it is half open: it lets one message
 * through, the probe, whose outcome closes or reopens it. The operator can close it by a test message.
 *
 * A carrier that responds too slowly for one-time codes fails too. Its breaker is marked as slow, and holds back no message that
 * has no other carrier: late is better than not at all.
 *
 * Without failures nothing is written. Each sender counts its own calls. It reports a failure only when at least half
 * of its last calls failed. A lost response in one of a hundred messages therefore opens nothing, whatever the volume.
 */

export const BreakerRecord = z.object({
  entity: z.literal("breaker"),
  sk: z.string(),
  /** The failures that senders have reported in the current window. */
  failures: z.optional(z.int()),
  windowUntil: z.optional(z.string()),
  /** Set while it is open. */
  openedAt: z.optional(z.string()),
  /** Whether the carrier was slow, and not silent, when the breaker last opened. Release 0.4.0 ignores it, and lets probes through. */
  isSlow: z.optional(z.boolean()),
  /** The probes that have failed since then, and when the last one did. */
  failedProbes: z.optional(z.int()),
  probeFailedAt: z.optional(z.string()),
  /** While the breaker is open, its lease is deferred. Later the sender of the probe message holds it. */
  ...leaseFields,
});
type BreakerRecord = z.infer<typeof BreakerRecord>;

/** The reported failures within a window that open a breaker. */
const failuresToOpen = 5;
const windowMs = minuteMs;

/** How long it stays open before the first probe, and how long a probe may take. */
const openMs = 30 * secondMs;

/** The longest time between two probes. Each failed one doubles the time, because it may cost a customer's message. */
const maxOpenMs = 10 * minuteMs;

/** The fields of a breaker that has been open, without its lease. */
const openFields = [
  "openedAt",
  "isSlow",
  "failures",
  "windowUntil",
  "failedProbes",
  "probeFailedAt",
] as const;

/** How long a sender uses the state that it has read. */
const keptMs = 10 * secondMs;

/** How long a breaker is open before skipped messages count it. Until then its opening and its failed probes do. */
const countedAfterMs = 5 * minuteMs;

/** The number of a carrier's last calls by which a sender judges it. */
const judgedBy = 10;

const maxCarriers = 1_000;

/** Whether a carrier may be called; `probe` must be passed to `note` with the outcome. */
export type Admission =
  | { readonly isAdmitted: true; readonly probe?: string }
  | { readonly isAdmitted: false; readonly openUntil: string };

/** How a call ended for the breaker: with a definite outcome, with one that came too late for codes, or without any. */
export type CallResult = "failed" | "slow" | "worked";

/** The breakers as a sender knows them. An instance of a function has one object for all its calls. */
export class Breakers {
  /** Whether the last calls of each carrier failed, with the newest at the end. */
  readonly #lately = new Map<string, readonly boolean[]>();
  /** Newer states than the cached ones, from this sender's own writes. */
  readonly #own = new Map<string, { readonly breaker: BreakerRecord; readonly untilMs: number }>();
  readonly #cache = new TtlCache<Map<string, BreakerRecord>>({ ttlMs: keptMs });
  /** The states that have been counted. */
  readonly #counted = new WeakSet<BreakerRecord>();

  /**
   * Returns until when a carrier is not called; undefined when it may be called, or when a probe is due.
   * @param patienceMs how much longer a message waits that should not be the probe
   * @param isLastResort whether the message has no other carrier
   */
  async openUntil(carrier: string, patienceMs = 0, isLastResort = false): Promise<string | undefined> {
    const breaker = await this.#find(carrier);
    if (breaker?.leaseUntil === undefined || (isLastResort && breaker.isSlow === true)) return undefined;
    // A probe of a slow carrier is late, and not lost.
    const until = later(new Date(breaker.leaseUntil), breaker.isSlow === true ? 0 : patienceMs);
    if (until <= now().toISOString()) return undefined;
    this.#countOpen(breaker);
    return until;
  }

  /** Decides whether one message may be submitted to a carrier now. */
  async admit(carrier: string, isLastResort = false): Promise<Admission> {
    const breaker = await this.#find(carrier);
    if (breaker?.leaseUntil === undefined) return { isAdmitted: true };
    const at = now();
    const mayBeLate = isLastResort && breaker.isSlow === true;
    if (!isFree(breaker, at))
      return mayBeLate ? { isAdmitted: true } : { isAdmitted: false, openUntil: breaker.leaseUntil };
    const lease = newLease(at, openMs);
    const taken = await updateItem(
      BreakerRecord,
      acquireLease(keys.breaker(carrier), lease, at, { requires: { present: ["openedAt"] } }),
      { isOwn: hasLease(lease) },
    );
    if (taken.applied) {
      this.#know(taken.item);
      log.info("carrier.breaker_half_open", { carrier });
      return { isAdmitted: true, probe: lease.leaseToken };
    }
    // Another sender has sent the probe, or has closed the breaker.
    const found = BreakerRecord.safeParse(taken.found).data;
    if (found === undefined) return { isAdmitted: true };
    this.#know(found);
    return found.leaseUntil === undefined || mayBeLate
      ? { isAdmitted: true }
      : { isAdmitted: false, openUntil: found.leaseUntil };
  }

  /**
   * Records the outcome of a call.
   * @param probe the token of the probe, if the message was one
   */
  async note(carrier: string, result: CallResult, probe?: string): Promise<void> {
    const worked = result === "worked";
    const isSlow = result === "slow";
    if (probe !== undefined)
      return worked ? this.#close(carrier, probe) : this.#reopen(carrier, probe, isSlow);
    const lately = [...(this.#lately.get(carrier) ?? []), !worked].slice(-judgedBy);
    this.#lately.set(carrier, lately);
    if (worked || lately.filter(Boolean).length * 2 < lately.length) return;
    const isOpen = (await this.#find(carrier))?.openedAt !== undefined;
    if (!isOpen) await this.#tell(carrier, isSlow);
  }

  /** Counts a breaker that stays open, once for each state that is read, because no message may ever be its probe. */
  #countOpen(breaker: BreakerRecord): void {
    const { openedAt } = breaker;
    const isOpenForLong = openedAt !== undefined && Date.parse(openedAt) + countedAfterMs <= now().getTime();
    if (!isOpenForLong || this.#counted.has(breaker)) return;
    this.#counted.add(breaker);
    countMetrics({ CarrierBreakersOpened: 1 });
  }

  async #find(carrier: string): Promise<BreakerRecord | undefined> {
    const own = this.#own.get(carrier);
    if (own !== undefined && now().getTime() < own.untilMs) return own.breaker;
    return (await this.#cache.read(readBreakers)).get(carrier);
  }

  /** Keeps the state after a write for as long as an older cached state may be used. */
  #know(breaker: BreakerRecord): void {
    this.#own.set(breaker.sk, { breaker, untilMs: now().getTime() + keptMs });
  }

  /** Reports a failure to the other senders, and opens the breaker when there are enough. */
  async #tell(carrier: string, isSlow: boolean): Promise<void> {
    const at = now();
    const key = keys.breaker(carrier);
    const windowUntil = at.toISOString();
    const counted = await updateItem(
      BreakerRecord,
      updateOf(key, { add: { failures: 1 } }, { absent: ["openedAt"], above: { windowUntil } }),
    );
    const told = counted.applied
      ? counted
      : await updateItem(
          BreakerRecord,
          updateOf(
            key,
            { set: { entity: "breaker", failures: 1, windowUntil: later(at, windowMs) } },
            { absent: ["openedAt"], ifPresent: { atMost: { windowUntil } } },
          ),
        );
    if (!told.applied) {
      const found = BreakerRecord.safeParse(told.found).data;
      if (found?.openedAt !== undefined) this.#know(found);
      return;
    }
    if ((told.item.failures ?? 0) < failuresToOpen) return;
    const set = { openedAt: at.toISOString(), leaseUntil: later(at, openMs), isSlow };
    const opened = await updateItem(
      BreakerRecord,
      updateOf(key, { set, remove: ["failures", "windowUntil"] }, { absent: ["openedAt"] }),
    );
    if (!opened.applied) return;
    this.#know(opened.item);
    log.error("carrier.breaker_opened", { carrier, errorCode: isSlow ? "Slow" : undefined });
    countMetrics({ CarrierBreakersOpened: 1 });
  }

  async #close(carrier: string, probe: string): Promise<void> {
    const closed = await updateItem(
      BreakerRecord,
      releaseLease(keys.breaker(carrier), { leaseToken: probe }, { remove: openFields }),
    );
    if (!closed.applied) return;
    this.#lately.delete(carrier);
    this.#know(closed.item);
    log.info("carrier.breaker_closed", { carrier });
    countMetrics({ CarrierBreakersClosed: 1 });
  }

  async #reopen(carrier: string, probe: string, isSlow: boolean): Promise<void> {
    const at = now();
    const { failedProbes = 0 } = (await this.#find(carrier)) ?? {};
    const until = new Date(later(at, Math.min(maxOpenMs, openMs * 2 ** (failedProbes + 1))));
    const set = { failedProbes: failedProbes + 1, probeFailedAt: at.toISOString(), isSlow };
    const reopened = await updateItem(
      BreakerRecord,
      releaseLease(keys.breaker(carrier), { leaseToken: probe }, { until, set }),
    );
    if (!reopened.applied) return;
    this.#know(reopened.item);
    log.error("carrier.breaker_opened", { carrier, errorCode: isSlow ? "Slow" : undefined });
    countMetrics({ CarrierBreakersOpened: 1 });
  }
}

function later(at: Date, ms: number): string {
  return new Date(at.getTime() + ms).toISOString();
}

/**
 * Closes the breaker of a carrier that has responded to the operator. The senders notice it within ten seconds.
 * @returns whether it was open
 */
export async function closeBreaker(carrier: string): Promise<boolean> {
  const remove = [...openFields, ...leaseFieldNames];
  const closed = updateOf(keys.breaker(carrier), { remove }, { present: ["openedAt"] });
  return (await updateItem(BreakerRecord, closed)).applied;
}

/** Reads all breakers, by the names of their carriers. */
export async function readBreakers(): Promise<Map<string, BreakerRecord>> {
  const { pk } = keys.breaker("");
  const breakers = itemsOf(await queryRows(BreakerRecord, { pk, limit: maxCarriers, consistent: true }));
  return new Map(breakers.map((breaker) => [breaker.sk, breaker]));
}
