import * as z from "zod/mini";

import { minuteMs, now } from "../platform/clock.ts";
import { log } from "../platform/log.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem, updateItem } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
import { TtlCache } from "../platform/ttl-cache.ts";

/*
 * An operator can hold back all that the stage sends. Accepting goes on; the jobs of what was accepted go round on their
 * queues, none of them tried and none of them old, until sending is resumed.
 */

/** Whether the stage sends. Without the item it always has. */
const SendingRecord = z.object({
  entity: z.literal("sending"),
  /** While nothing is handed to a carrier: since when, and why, for other operators. */
  pausedAt: z.optional(z.string()),
  pausedReason: z.optional(z.string()),
  /** When the last pause ended. */
  resumedAt: z.optional(z.string()),
});
export type Sending = Omit<z.infer<typeof SendingRecord>, "entity">;

/** How long a sender goes by what it has read. */
const cachedMs = minuteMs;

/** A job that is held back looks again after so long: all have gone out soon after a pause. */
export const heldBackSeconds = 120;

/**
 * Whether the stage sends, as it was within the last minute.
 * @returns asks; what is known is kept with it, so that a function has one for all its calls
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

/** Whether the stage sends, as it is now. */
export async function readSending(): Promise<Sending> {
  return (await findItem(SendingRecord, keys.sending(), { consistent: true })) ?? {};
}

/**
 * Lets the stage hand nothing to a carrier from within a minute on.
 * @param reason for other operators
 * @returns the pause; one that was on before stays, for the reason of then
 */
export async function pauseSending(reason: string): Promise<Sending> {
  const set = { entity: "sending", pausedAt: now().toISOString(), pausedReason: reason };
  const paused = await updateItem(
    SendingRecord,
    updateOf(keys.sending(), { set, remove: ["resumedAt"] }, { absent: ["pausedAt"] }),
  );
  return paused.applied ? paused.item : SendingRecord.parse(paused.found);
}

/** Lets the stage send again. What was held back goes out within minutes. */
export async function resumeSending(): Promise<Sending> {
  const set = { resumedAt: now().toISOString() };
  const remove = ["pausedAt", "pausedReason"];
  const resumed = await updateItem(
    SendingRecord,
    updateOf(keys.sending(), { set, remove }, { present: ["pausedAt"] }),
  );
  return resumed.applied ? resumed.item : readSending();
}
