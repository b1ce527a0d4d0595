import * as z from "zod/mini";

import { minuteMs, now, secondMs } from "../platform/clock.ts";
import { log } from "../platform/log.ts";
import { countMetrics } from "../platform/metrics.ts";
import { keys } from "../platform/table/keys.ts";
import {
  acquireLease,
  hasLease,
  isFree,
  leaseFields,
  newLease,
  releaseLease,
} from "../platform/table/lease.ts";
import { itemsOf, queryRows, updateItem } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
import { TtlCache } from "../platform/ttl-cache.ts";

/*
 * A breaker for each carrier, which all senders share: while it is open nobody asks the carrier, so that messages do not
 * wait for its silence, and go to the next one. Once its time is over it is half open and lets one message through, which
 * decides whether it closes or stays open.
 *
 * While all is well nothing is written. A sender counts by itself, and tells the others of a failure only when failures are
 * at least half of what it saw last: one message in a hundred whose answer is lost opens nothing, however many there are.
 */

const BreakerRecord = z.object({
  entity: z.literal("breaker"),
  sk: z.string(),
  /** Failures that senders have told of until the end of a window. */
  failures: z.optional(z.int()),
  windowUntil: z.optional(z.string()),
  /** While it is open. */
  openedAt: z.optional(z.string()),
  /** While it is open, its lease is deferred, and later held by the sender of the message that was let through. */
  ...leaseFields,
});
type BreakerRecord = z.infer<typeof BreakerRecord>;

/** So many failures that senders tell of within a window open a breaker. */
const failuresToOpen = 5;
const windowMs = minuteMs;

/** How long it stays open before a message is let through, and how long that one may take. */
const openMs = 30 * secondMs;

/** How long a sender goes by what it has read of the others. */
const keptMs = 10 * secondMs;

/** How many of a carrier's last answers a sender judges it by. */
const judgedBy = 10;

const maxCarriers = 1_000;

/** Whether a carrier may be asked; `probe` is to be given back with what came of it. */
export type Admission =
  | { readonly isAdmitted: true; readonly probe?: string }
  | { readonly isAdmitted: false; readonly openUntil: string };

/** The breakers as a sender sees them; an instance of a function has one for all its calls. */
export class Breakers {
  /** Of each carrier's last answers, the newest at the end, whether they were failures. */
  readonly #lately = new Map<string, readonly boolean[]>();
  /** What this sender knows better than what it has read. */
  readonly #own = new Map<string, { readonly breaker: BreakerRecord; readonly untilMs: number }>();
  readonly #cache = new TtlCache<Map<string, BreakerRecord>>({ ttlMs: keptMs });

  /** Until when a carrier is not asked; undefined while it may be, or when it is time to let a message through. */
  async openUntil(carrier: string): Promise<string | undefined> {
    const breaker = await this.#find(carrier);
    return breaker === undefined || isFree(breaker, now()) ? undefined : breaker.leaseUntil;
  }

  /** Asks whether a carrier may be asked now, for one message that will be handed to it in that case. */
  async admit(carrier: string): Promise<Admission> {
    const breaker = await this.#find(carrier);
    if (breaker?.leaseUntil === undefined) return { isAdmitted: true };
    const at = now();
    if (!isFree(breaker, at)) return { isAdmitted: false, openUntil: breaker.leaseUntil };
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
    // Another sender lets its message through, or has closed it.
    const found = BreakerRecord.safeParse(taken.found).data;
    if (found === undefined) return { isAdmitted: true };
    this.#know(found);
    return found.leaseUntil === undefined
      ? { isAdmitted: true }
      : { isAdmitted: false, openUntil: found.leaseUntil };
  }

  /**
   * Notes what came of asking a carrier.
   * @param worked whether it gave an answer that can be relied on, whatever it said of the message
   * @param probe of the message that was let through, if it was one
   */
  async note(carrier: string, worked: boolean, probe?: string): Promise<void> {
    if (probe !== undefined) return worked ? this.#close(carrier, probe) : this.#reopen(carrier, probe);
    const lately = [...(this.#lately.get(carrier) ?? []), !worked].slice(-judgedBy);
    this.#lately.set(carrier, lately);
    if (worked || lately.filter(Boolean).length * 2 < lately.length) return;
    const isOpen = (await this.#find(carrier))?.openedAt !== undefined;
    if (!isOpen) await this.#tell(carrier);
  }

  async #find(carrier: string): Promise<BreakerRecord | undefined> {
    const own = this.#own.get(carrier);
    if (own !== undefined && now().getTime() < own.untilMs) return own.breaker;
    return (await this.#cache.read(readBreakers)).get(carrier);
  }

  /** Remembers what a write has shown for as long as an older reading may be gone by. */
  #know(breaker: BreakerRecord): void {
    this.#own.set(breaker.sk, { breaker, untilMs: now().getTime() + keptMs });
  }

  /** Tells the other senders of a failure, and opens the breaker when it is one too many. */
  async #tell(carrier: string): Promise<void> {
    const at = now();
    const key = keys.breaker(carrier);
    const values = { ":at": at.toISOString() };
    const counted = await updateItem(
      BreakerRecord,
      updateOf(key, { add: { failures: 1 } }, { absent: ["openedAt"], where: "windowUntil > :at", values }),
    );
    const told = counted.applied
      ? counted
      : await updateItem(
          BreakerRecord,
          updateOf(
            key,
            { set: { entity: "breaker", failures: 1, windowUntil: later(at, windowMs) } },
            {
              absent: ["openedAt"],
              where: "attribute_not_exists(#windowUntil) OR #windowUntil <= :at",
              values,
            },
          ),
        );
    if (!told.applied) {
      const found = BreakerRecord.safeParse(told.found).data;
      if (found?.openedAt !== undefined) this.#know(found);
      return;
    }
    if ((told.item.failures ?? 0) < failuresToOpen) return;
    const set = { openedAt: at.toISOString(), leaseUntil: later(at, openMs) };
    const opened = await updateItem(
      BreakerRecord,
      updateOf(key, { set, remove: ["failures", "windowUntil"] }, { absent: ["openedAt"] }),
    );
    if (!opened.applied) return;
    this.#know(opened.item);
    log.error("carrier.breaker_opened", { carrier });
    countMetrics({ CarrierBreakersOpened: 1 });
  }

  async #close(carrier: string, probe: string): Promise<void> {
    const remove = ["openedAt", "failures", "windowUntil"];
    const closed = await updateItem(
      BreakerRecord,
      releaseLease(keys.breaker(carrier), { leaseToken: probe }, { remove }),
    );
    if (!closed.applied) return;
    this.#lately.delete(carrier);
    this.#know(closed.item);
    log.info("carrier.breaker_closed", { carrier });
    countMetrics({ CarrierBreakersClosed: 1 });
  }

  async #reopen(carrier: string, probe: string): Promise<void> {
    const until = new Date(now().getTime() + openMs);
    const reopened = await updateItem(
      BreakerRecord,
      releaseLease(keys.breaker(carrier), { leaseToken: probe }, { until }),
    );
    if (!reopened.applied) return;
    this.#know(reopened.item);
    log.error("carrier.breaker_opened", { carrier });
    countMetrics({ CarrierBreakersOpened: 1 });
  }
}

function later(at: Date, ms: number): string {
  return new Date(at.getTime() + ms).toISOString();
}

/** The breakers that there are, by the names of their carriers. */
export async function readBreakers(): Promise<Map<string, BreakerRecord>> {
  const { pk } = keys.breaker("");
  const breakers = itemsOf(await queryRows(BreakerRecord, { pk, limit: maxCarriers, consistent: true }));
  return new Map(breakers.map((breaker) => [breaker.sk, breaker]));
}
