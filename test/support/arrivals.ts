import { slotOf, type ArrivalCounts } from "../../shared/messages/counts/arrivals.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { putItem, putOf } from "../../shared/platform/table/write.ts";
import type { Random } from "../chaos/random.ts";

/** The likelihood of each event of a message. */
export interface Odds {
  readonly rejects: number;
  readonly throttles: number;
  readonly receipts: number;
  readonly prompt: number;
  readonly delivers: number;
  readonly late: number;
  /** The half of the organizations that is counted separately. */
  readonly odd: number;
}

export const usualOdds: Odds = {
  rejects: 0.02,
  throttles: 0,
  receipts: 0.96,
  prompt: 0.9,
  delivers: 0.94,
  late: 0,
  odd: 0.5,
};

/** Returns the figures of random messages. */
export function randomFigures(random: Random, messages: number, odds: Odds): Partial<ArrivalCounts> {
  const figures: Record<string, number> = {};
  const add = (name: string): void => void (figures[name] = (figures[name] ?? 0) + 1);
  for (let index = 0; index < messages; index += 1) {
    const isOdd = random() < odds.odd;
    const outcome = (name: string): void => {
      add(name);
      if (isOdd) add(`odd${name.charAt(0).toUpperCase()}${name.slice(1)}`);
    };
    if (random() < odds.throttles) outcome("throttled");
    else if (random() < odds.rejects) outcome("failed");
    else {
      outcome("accepted");
      if (odds.late > 0 && random() < odds.late) outcome("late");
      add("submitted2");
      if (random() >= odds.receipts) continue;
      outcome(random() < odds.delivers ? "delivered" : "undelivered");
      add(random() < odds.prompt ? "received5" : "received300");
    }
  }
  return figures;
}

/** Writes the figures of a slot, in place of earlier ones. */
export async function writeSlot(
  at: Date,
  { carrier, country, ofClass = "otp" }: { carrier: string; country: string; ofClass?: string },
  figures: Partial<ArrivalCounts>,
): Promise<void> {
  const key = keys.arrivals(slotOf(at.toISOString()), `${carrier}#${country}#${ofClass}`);
  await putItem(putOf(key, { entity: "arrivals", ...figures }));
}
