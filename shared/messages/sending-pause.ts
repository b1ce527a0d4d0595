import * as z from "zod/mini";

import { minuteMs, now } from "../platform/clock.ts";
import { log } from "../platform/log.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem } from "../platform/table/read.ts";
import { updateItem, updateOf } from "../platform/table/write.ts";
import { TtlCache } from "../platform/ttl-cache.ts";

/*
 * An operator can pause all sending of a stage. Messages are still accepted. Their jobs return to their queues without an
 * attempt and without aging, until sending is resumed.
 */

/** Whether the stage sends. Without the item, it was never paused. */
const SendingRecord = z.object({
  entity: z.literal("sending"),
  /** Since when nothing is submitted, and why, for other operators; absent unless sending is paused. */
  pausedAt: z.optional(z.string()),
  pausedReason: z.optional(z.string()),
  /** When the last pause ended. */
  resumedAt: z.optional(z.string()),
});
export type Sending = Omit<z.infer<typeof SendingRecord>, "entity">;

/** How long a sender uses the state that it has read. */
const cachedMs = minuteMs;

/** The delay of a job while sending is paused: after a pause, all jobs leave the queues soon. */
export const heldBackSeconds = 120;

/**
 * Whether the stage sends, as of at most a minute ago.
 * @returns a reader that caches the state; an instance of a function has one for all its calls
 */
export function cachedSending(): () => Promise<Sending> {
  const cache = new TtlCache<Sending>({ ttlMs: cachedMs });
  return async () =>
    cache.read(async () => {
      const sending = await readSending();
      if (sending.pausedAt !== undefined) log.warn("sending.paused");
      return sending;
    });
}

/** Returns whether the stage sends now. */
export async function readSending(): Promise<Sending> {
  return (await findItem(SendingRecord, keys.sending(), { consistent: true })) ?? {};
}

/**
 * Pauses all submissions within a minute.
 * @param reason for other operators
 * @returns the pause; an earlier one stays, with its reason
 */
export async function pauseSending(reason: string): Promise<Sending> {
  const set = { entity: "sending", pausedAt: now().toISOString(), pausedReason: reason };
  const paused = await updateItem(
    SendingRecord,
    updateOf(keys.sending(), { set, remove: ["resumedAt"] }, { absent: ["pausedAt"] }),
  );
  return paused.applied ? paused.item : SendingRecord.parse(paused.found);
}

/** Lets the stage send again. The waiting messages leave within minutes. */
export async function resumeSending(): Promise<Sending> {
  const set = { resumedAt: now().toISOString() };
  const remove = ["pausedAt", "pausedReason"];
  const resumed = await updateItem(
    SendingRecord,
    updateOf(keys.sending(), { set, remove }, { present: ["pausedAt"] }),
  );
  return resumed.applied ? resumed.item : readSending();
}
