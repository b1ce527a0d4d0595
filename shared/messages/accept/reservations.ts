import { ApiError } from "../../api/contract/errors.ts";
import { log } from "../../platform/log.ts";

/** A place below a limit, or a part of a budget, that messages take before their debit. */
export interface Reservation {
  /** Keeps it, because the messages were accepted. */
  readonly settle?: () => Promise<unknown>;
  readonly release: () => Promise<unknown>;
  /** Whether it stays if the messages may have been charged. */
  readonly staysInDoubt: boolean;
}

/**
 * Waits for reservations that are made at the same time. If one fails, the others are released.
 * @param before reservations that were made before, and are released too
 * @returns all of them
 * @throws the error of the first one that failed, in their order
 */
export async function reserveAll(
  reserving: readonly Promise<readonly Reservation[]>[],
  before: readonly Reservation[] = [],
): Promise<readonly Reservation[]> {
  const results = await Promise.allSettled(reserving);
  const made = results.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
  const reserved = [...before, ...made];
  const failed = results.find((result) => result.status === "rejected");
  if (failed === undefined) return reserved;
  await releaseEach(reserved);
  throw failed.reason;
}

/**
 * Ends reservations by the result of what they were made for.
 * @throws the error of the result
 */
export async function endBy<Result>(
  reservations: readonly Reservation[],
  result: Promise<Result>,
): Promise<Result> {
  try {
    const accepted = await result;
    await endEach(reservations, async (each) => each.settle?.());
    return accepted;
  } catch (error) {
    await releaseEach(reservations.filter(({ staysInDoubt }) => !staysInDoubt || isUncharged(error)));
    throw error;
  }
}

/** Releases reservations whose messages were not accepted. */
export async function releaseEach(reservations: readonly Reservation[]): Promise<void> {
  await endEach(reservations, async (each) => each.release());
}

async function endEach(
  reservations: readonly Reservation[],
  end: (each: Reservation) => Promise<unknown>,
): Promise<void> {
  // All of them end, also if one fails: the function may stop afterwards.
  for (const result of await Promise.allSettled(reservations.map(end))) {
    if (result.status === "rejected") log.warn("reservation.not_ended", { error: result.reason });
  }
}

/** Whether a send that failed was certainly not charged. Any other error may have come after the debit. */
function isUncharged(error: unknown): boolean {
  return error instanceof ApiError && (error.code !== "UNAVAILABLE" || error.facts.isUncharged === true);
}
