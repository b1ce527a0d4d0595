import * as z from "zod/mini";

import { now } from "../platform/clock.ts";
import { durationMs } from "../platform/limits/rate-limit.ts";
import { field } from "../platform/table/expressions.ts";
import { keys, type Key } from "../platform/table/keys.ts";
import { type Update, updateItem, updateOf } from "../platform/table/write.ts";

/*
 * The throughput of a carrier, which all senders share. The table has the time until which the carrier's capacity is
 * reserved. A sender reserves capacity for all its waiting messages in one write, and each message gets its own start
 * time. The message waits until then without further calls.
 *
 * Marketing uses at most three quarters of the throughput, so that a one-time code never waits for a campaign. Other
 * messages may use one quarter while marketing waits, and otherwise all of it.
 */

export const ThroughputRecord = z.object({
  entity: z.literal("pace"),
  segmentsPerSecond: z.number(),
  /**
   * The times until which capacity is reserved, in milliseconds since the epoch: for marketing, and for other messages.
   */
  marketingUntilMs: z.number(),
  urgentUntilMs: z.number(),
});
type ThroughputRecord = z.infer<typeof ThroughputRecord>;

/** The share of the throughput that marketing may use. */
const marketingShare = 0.75;

/** The attempts of a sender whose record changes before each write. */
const maxAttempts = 10;

/** The messages that need capacity. */
export interface Load {
  readonly segments: number;
  readonly isMarketing: boolean;
}

interface Waiting {
  readonly segments: number;
  readonly start: (startsAtMs: number) => void;
  readonly fail: (error: unknown) => void;
}

/** Reserves the throughput of carriers. An instance of a function has one for all its calls. */
export class Throughput {
  /** The messages that wait for the current write, by carrier and by whether they are marketing. */
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #known = new Map<string, ThroughputRecord>();

  /**
   * Reserves capacity of a carrier for one message.
   * @returns when it may be submitted, in milliseconds since the epoch
   * @throws Error when other senders changed the reservations in each attempt
   */
  async reserve(
    carrier: string,
    segmentsPerSecond: number,
    { segments, isMarketing }: Load,
  ): Promise<number> {
    return new Promise((start, fail) => {
      const name = `${carrier} ${isMarketing}`;
      const waiting = this.#waiting.get(name);
      const added = { segments, start, fail };
      // Messages that arrive during a write share the next write.
      if (waiting !== undefined) return void waiting.push(added);
      this.#waiting.set(name, [added]);
      return void this.#reserveForAll(name, async (totalSegments) =>
        this.#write(carrier, segmentsPerSecond, { segments: totalSegments, isMarketing }),
      );
    });
  }

  async #reserveForAll(name: string, write: (segments: number) => Promise<Span>): Promise<void> {
    for (;;) {
      const batch = this.#waiting.get(name)?.splice(0) ?? [];
      if (batch.length === 0) break;
      const total = batch.reduce((sum, { segments }) => sum + segments, 0);
      try {
        const { startMs, lengthMs } = await write(total);
        let before = 0;
        for (const { segments, start } of batch) {
          start(startMs + (lengthMs * before) / total);
          before += segments;
        }
      } catch (error) {
        for (const { fail } of batch) fail(error);
      }
    }
    this.#waiting.delete(name);
  }

  async #write(carrier: string, segmentsPerSecond: number, load: Load): Promise<Span> {
    const key = keys.pace(carrier);
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const known = this.#known.get(carrier);
      const { update, lengthMs } = reservation(key, known, {
        ...load,
        segmentsPerSecond,
        atMs: now().getTime(),
      });
      const written = await updateItem(ThroughputRecord, update);
      const present = written.applied ? written.item : ThroughputRecord.safeParse(written.found).data;
      if (present === undefined) this.#known.delete(carrier);
      else this.#known.set(carrier, present);
      if (written.applied) {
        const { marketingUntilMs, urgentUntilMs } = written.item;
        return { startMs: (load.isMarketing ? marketingUntilMs : urgentUntilMs) - lengthMs, lengthMs };
      }
    }
    throw new Error("other senders changed the carrier's reservations in each attempt");
  }
}

/** A period of a carrier's capacity. */
interface Span {
  readonly startMs: number;
  readonly lengthMs: number;
}

/**
 * Returns the update that reserves capacity, on the condition that the record is as it was read. Where capacity is
 * reserved into the future, it adds to the reservations, so that concurrent senders do not disturb each other.
 */
function reservation(
  key: Key<"pace">,
  known: ThroughputRecord | undefined,
  {
    segments,
    isMarketing,
    segmentsPerSecond,
    atMs,
  }: Load & { readonly segmentsPerSecond: number; readonly atMs: number },
): { readonly update: Update<"pace">; readonly lengthMs: number } {
  const wholeMs = durationMs(segments, segmentsPerSecond);
  const shareMs = Math.ceil(wholeMs / (isMarketing ? marketingShare : 1 - marketingShare));
  // When the operator has changed the throughput, reservations start again, and the old ones do not count.
  if (known?.segmentsPerSecond !== segmentsPerSecond) {
    const lengthMs = isMarketing ? shareMs : Math.ceil(wholeMs);
    const untilMs = atMs + lengthMs;
    const set = {
      entity: "pace" as const,
      segmentsPerSecond,
      marketingUntilMs: isMarketing ? untilMs : atMs,
      urgentUntilMs: isMarketing ? atMs : untilMs,
    };
    const unchanged =
      known === undefined
        ? ({ absent: ["segmentsPerSecond"] } as const)
        : { is: { segmentsPerSecond: known.segmentsPerSecond } };
    return { update: updateOf(key, { set }, unchanged), lengthMs };
  }
  const { marketingUntilMs, urgentUntilMs } = known;
  const is = { segmentsPerSecond };
  if (isMarketing) {
    // It begins after all reservations of other messages.
    if (marketingUntilMs > atMs && marketingUntilMs >= urgentUntilMs) {
      const requires = {
        is,
        above: { marketingUntilMs: atMs },
        atLeast: { marketingUntilMs: field("urgentUntilMs") },
      };
      return { update: updateOf(key, { add: { marketingUntilMs: shareMs } }, requires), lengthMs: shareMs };
    }
    const set = { marketingUntilMs: Math.max(atMs, marketingUntilMs, urgentUntilMs) + shareMs };
    const unchanged = { ...is, marketingUntilMs, urgentUntilMs };
    return { update: updateOf(key, { set }, { is: unchanged }), lengthMs: shareMs };
  }
  const startMs = Math.max(atMs, urgentUntilMs);
  const isShared = marketingUntilMs > startMs;
  const lengthMs = isShared ? shareMs : Math.ceil(wholeMs);
  if (urgentUntilMs > atMs) {
    const marketing = { marketingUntilMs: field("urgentUntilMs") };
    const requires = isShared
      ? { is, above: { urgentUntilMs: atMs, ...marketing } }
      : { is, above: { urgentUntilMs: atMs }, atMost: marketing };
    return { update: updateOf(key, { add: { urgentUntilMs: lengthMs } }, requires), lengthMs };
  }
  const set = { urgentUntilMs: atMs + lengthMs };
  const requires = {
    is: { ...is, urgentUntilMs },
    [isShared ? "above" : "atMost"]: { marketingUntilMs: atMs },
  };
  return { update: updateOf(key, { set }, requires), lengthMs };
}
