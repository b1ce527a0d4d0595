import type { CallbackJob } from "../../shared/messages/callbacks/callback-job.ts";
import { findOptOut } from "../../shared/messages/opt-outs/record.ts";
import { secondMs } from "../../shared/platform/clock.ts";
import { newId } from "../../shared/platform/ids.ts";
import { between, oneOf, type Random } from "../chaos/random.ts";
import { maxClockErrorMs } from "./lambda.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** The number to which people write. */
export const ownNumber = "447700900999";

/** The words that a person writes, and the pause after each: longer than the clocks of two functions can differ. */
const words = ["STOP", "START", "HELP"] as const;
const silentMs = { least: 15 * secondMs, most: 90 * secondMs };
const mostWords = 6;

/** The share of inbound messages that the carrier repeats because it got no response, and the longest delay until then. */
const broughtAgainOdds = 0.1;
const broughtAgainMs = 5 * secondMs;

/** People who write STOP and START one after the other, and whose carrier passes these as callbacks. */
export class People {
  readonly #last = new Map<string, "START" | "STOP">();
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #report: (report: CallbackJob) => void;

  constructor(time: VirtualTime, random: Random, report: (report: CallbackJob) => void) {
    this.#time = time;
    this.#random = random;
    this.#report = report;
  }

  /** Lets a number of people write at the same time. */
  speak(count: number): void {
    for (let index = 0; index < count; index += 1) {
      const phone = String(447_700_900_000 + index);
      let afterMs = 0;
      for (let word = between(this.#random, 1, mostWords); word > 0; word -= 1) {
        afterMs += between(this.#random, silentMs.least, silentMs.most);
        this.#time.after(afterMs, () => this.#say(phone, oneOf(this.#random, words)));
      }
    }
  }

  #say(phone: string, message: (typeof words)[number]): void {
    if (message !== "HELP") this.#last.set(phone, message);
    const carrierId = newId("inb");
    const bring = (): void => {
      // This is the clock of the function that the carrier calls.
      const receivedAtMs = this.#time.nowMs + (this.#random() * 2 - 1) * maxClockErrorMs;
      const receivedAt = new Date(receivedAtMs).toISOString();
      const reply = { carrier: "alpha", carrierId, from: phone, to: ownNumber, message, receivedAt };
      this.#report({ kind: "inbound", callbackId: newId("inb"), ...reply });
    };
    bring();
    if (this.#random() < broughtAgainOdds) this.#time.after(this.#random() * broughtAgainMs, bring);
  }

  /** The number of people who wrote STOP or START. */
  get count(): number {
    return this.#last.size;
  }

  /** The people whose last word has no effect, in words. */
  async problems(organizationId: string): Promise<string[]> {
    const problems: string[] = [];
    for (const [phone, last] of this.#last) {
      const isOptedOut = (await findOptOut(organizationId, phone)) !== undefined;
      if (isOptedOut !== (last === "STOP")) problems.push(`${phone} wrote ${last} last, without effect`);
    }
    return problems;
  }
}
