import * as z from "zod/mini";

import { now } from "../clock.ts";
import { keys, type Pausable } from "../table/keys.ts";
import { findItem } from "../table/read.ts";
import { updateItem, updateOf } from "../table/write.ts";

/*
 * An operator can pause all sending of a stage, or all payments. Their jobs return to their queues without an attempt and
 * without aging, until the operator resumes it.
 */

/** Whether something is paused. Without the item, it was never paused. */
export const PauseRecord = z.object({
  entity: z.enum(["payments", "sending"]),
  /** Since when it is paused, and why, for other operators; absent unless it is paused. */
  pausedAt: z.optional(z.string()),
  pausedReason: z.optional(z.string()),
  /** When the last pause ended. */
  resumedAt: z.optional(z.string()),
});
export type Pause = Omit<z.infer<typeof PauseRecord>, "entity">;

/** The delay of a job during a pause: after it, all jobs leave the queues soon. */
export const heldBackSeconds = 120;

/** Returns whether something is paused now. */
export async function readPause(what: Pausable): Promise<Pause> {
  return (await findItem(PauseRecord, keys.pause(what), { consistent: true })) ?? {};
}

export async function isPaused(what: Pausable): Promise<boolean> {
  return (await readPause(what)).pausedAt !== undefined;
}

/**
 * Pauses sending within a minute, or payments immediately.
 * @param reason for other operators
 * @returns the pause; an earlier one stays, with its reason
 */
export async function pause(what: Pausable, reason: string): Promise<Pause> {
  const set = { entity: what, pausedAt: now().toISOString(), pausedReason: reason };
  const paused = await updateItem(
    PauseRecord,
    updateOf(keys.pause(what), { set, remove: ["resumedAt"] }, { absent: ["pausedAt"] }),
  );
  return paused.applied ? paused.item : PauseRecord.parse(paused.found);
}

/** Ends a pause. The work that waited is done within minutes. */
export async function resume(what: Pausable): Promise<Pause> {
  const set = { resumedAt: now().toISOString() };
  const remove = ["pausedAt", "pausedReason"] as const;
  const resumed = await updateItem(
    PauseRecord,
    updateOf(keys.pause(what), { set, remove }, { present: ["pausedAt"] }),
  );
  return resumed.applied ? resumed.item : readPause(what);
}
