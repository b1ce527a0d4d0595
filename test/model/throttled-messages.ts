import { hourMs } from "../../shared/platform/clock.ts";

/** Every 50th message waits for hours before its first attempt, as after a large campaign, and is then throttled once. */
const lateEvery = 50;
const lateMs = 7 * hourMs;

/** Every 250th message comes when there are no other faults, and all carriers always throttle it. */
const unwantedEvery = 250;
const unwantedMs = 2 * hourMs;

/** The messages that carriers throttle when there are no other faults. */
export class ThrottledMessages {
  /** The number of accepted messages. */
  accepted = 0;
  readonly throttled = new Map<string, "for ever" | "once">();
  readonly #once = new Set<string>();

  isThrottled(messageId: string): boolean {
    const times = this.throttled.get(messageId);
    if (times !== "once") return times === "for ever";
    const isFirst = !this.#once.has(messageId);
    this.#once.add(messageId);
    return isFirst;
  }

  /** Decides the fate of a message that was just accepted. @returns the delay before its first attempt */
  plan(messageId: string): number {
    this.accepted += 1;
    if (this.accepted % unwantedEvery === 0) {
      this.throttled.set(messageId, "for ever");
      return unwantedMs;
    }
    if (this.accepted % lateEvery > 0) return 0;
    this.throttled.set(messageId, "once");
    return lateMs;
  }
}
