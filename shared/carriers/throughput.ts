import * as z from "zod/mini";

import { now } from "../platform/clock.ts";
import { durationMs } from "../platform/limits/rate-limit.ts";
import { keys, type Key } from "../platform/table/keys.ts";
import { updateItem, type Update } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";

/*
 * The pace of a carrier, which all senders keep together: the table has the moment up to which the carrier's time is taken.
 * A sender takes the time for all messages that wait in it with one write, and each gets a moment of its own. It is not
 * asked for again until that has come, however many wait.
 *
 * Marketing takes three quarters of the pace at the most, so that a one-time code never waits behind a campaign: what the
 * rest may take is a quarter while marketing waits, and all of it otherwise.
 */

const PaceRecord = z.object({
  entity: z.literal("pace"),
  segmentsPerSecond: z.number(),
  /** Up to when time is taken, in milliseconds since the epoch: for marketing, and for the rest. */
  marketingUntilMs: z.number(),
  urgentUntilMs: z.number(),
});
type PaceRecord = z.infer<typeof PaceRecord>;

/** The share of a pace that marketing may take. */
const marketingShare = 0.75;

/** How often a sender tries to take time when what it goes by has changed meanwhile. */
const maxAttempts = 10;

/** What time is taken for. */
export interface Load {
  readonly segments: number;
  readonly isMarketing: boolean;
}

interface Waiting {
  readonly segments: number;
  readonly start: (startsAtMs: number) => void;
  readonly fail: (error: unknown) => void;
}

/** The paces as a sender keeps them; an instance of a function has one for all its calls. */
export class Throughput {
  /** What waits for time while a write is under way, by carrier and by whether it is marketing. */
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #known = new Map<string, PaceRecord>();

  /**
   * Takes time of a carrier for one message.
   * @returns when it may be handed over, in milliseconds since the epoch
   * @throws Error when others changed what is taken in each attempt
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
      // While a write is under way, all that come wait together for the next one.
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
      const written = await updateItem(PaceRecord, update);
      const present = written.applied ? written.item : PaceRecord.safeParse(written.found).data;
      if (present === undefined) this.#known.delete(carrier);
      else this.#known.set(carrier, present);
      if (written.applied) {
        const { marketingUntilMs, urgentUntilMs } = written.item;
        return { startMs: (load.isMarketing ? marketingUntilMs : urgentUntilMs) - lengthMs, lengthMs };
      }
    }
    throw new Error("what is taken of the carrier's time changed in each attempt");
  }
}

/** A stretch of a carrier's time. */
interface Span {
  readonly startMs: number;
  readonly lengthMs: number;
}

/**
 * The update that takes time, under the condition that things are as they are known to be. Where time is taken into the
 * future, which is where many take some at once, it adds to what is there, so that those who take do not disturb each other.
 */
function reservation(
  key: Key,
  known: PaceRecord | undefined,
  {
    segments,
    isMarketing,
    segmentsPerSecond,
    atMs,
  }: Load & { readonly segmentsPerSecond: number; readonly atMs: number },
): { readonly update: Update; readonly lengthMs: number } {
  const wholeMs = durationMs(segments, segmentsPerSecond);
  const shareMs = Math.ceil(wholeMs / (isMarketing ? marketingShare : 1 - marketingShare));
  // A pace that the operator has changed begins anew: what was taken at the old one is not gone by.
  if (known?.segmentsPerSecond !== segmentsPerSecond) {
    const lengthMs = isMarketing ? shareMs : Math.ceil(wholeMs);
    const untilMs = atMs + lengthMs;
    const set = {
      entity: "pace",
      segmentsPerSecond,
      marketingUntilMs: isMarketing ? untilMs : atMs,
      urgentUntilMs: isMarketing ? atMs : untilMs,
    };
    const unchanged =
      known === undefined
        ? { absent: ["segmentsPerSecond"] }
        : { is: { segmentsPerSecond: known.segmentsPerSecond } };
    return { update: updateOf(key, { set }, unchanged), lengthMs };
  }
  const { marketingUntilMs, urgentUntilMs } = known;
  const is = { segmentsPerSecond };
  const values = { ":atMs": atMs };
  if (isMarketing) {
    // It begins behind all that is taken for the rest.
    if (marketingUntilMs > atMs && marketingUntilMs >= urgentUntilMs) {
      const where = "#marketingUntilMs > :atMs AND #marketingUntilMs >= urgentUntilMs";
      const add = { marketingUntilMs: shareMs };
      return { update: updateOf(key, { add }, { is, where, values }), lengthMs: shareMs };
    }
    const set = { marketingUntilMs: Math.max(atMs, marketingUntilMs, urgentUntilMs) + shareMs };
    const unchanged = { ...is, marketingUntilMs, urgentUntilMs };
    return { update: updateOf(key, { set }, { is: unchanged }), lengthMs: shareMs };
  }
  const startMs = Math.max(atMs, urgentUntilMs);
  const isShared = marketingUntilMs > startMs;
  const lengthMs = isShared ? shareMs : Math.ceil(wholeMs);
  const comparison = isShared ? ">" : "<=";
  if (urgentUntilMs > atMs) {
    const where = `#urgentUntilMs > :atMs AND marketingUntilMs ${comparison} #urgentUntilMs`;
    return { update: updateOf(key, { add: { urgentUntilMs: lengthMs } }, { is, where, values }), lengthMs };
  }
  const where = `marketingUntilMs ${comparison} :atMs`;
  const set = { urgentUntilMs: atMs + lengthMs };
  return { update: updateOf(key, { set }, { is: { ...is, urgentUntilMs }, where, values }), lengthMs };
}
