import { secondMs } from "../../shared/platform/clock.ts";
import { requestFaults, type RequestFault } from "./faulty-requests.ts";
import { settled } from "./virtual-time.ts";

const faultsInAThousand = 120;

/** The order of all operations that run at the same time, and their faults. A list of choices decides both. */
export class ChosenOrder {
  isFaulty = true;
  readonly #choices: readonly number[];
  readonly #waiting: (() => void)[] = [];
  readonly #late: (() => void)[] = [];
  #choice = 0;

  constructor(choices: readonly number[]) {
    this.#choices = choices;
  }

  /** Returns a number below `below`, decided by the choices, or 0 when they are used up. */
  choose(below: number): number {
    const choice = this.#choices[this.#choice] ?? 0;
    this.#choice += 1;
    return below <= 1 ? 0 : choice % below;
  }

  pickFault(): RequestFault | undefined {
    if (!this.isFaulty) return undefined;
    const choice = this.choose(1_000);
    return choice === 0 || choice > faultsInAThousand
      ? undefined
      : requestFaults[choice % requestFaults.length];
  }

  /** Waits until the choices resume this operation. */
  async turn(): Promise<void> {
    return new Promise((go) => {
      this.#waiting.push(go);
    });
  }

  /** Waits as a function does. A time limit of seconds passes only by a fault: other work ends before it. */
  async sleep(delayMs: number): Promise<void> {
    const isLimit = delayMs >= secondMs;
    if (isLimit && (!this.isFaulty || this.choose(8) !== 1)) return never();
    return this.turn();
  }

  /** Lets a request arrive after its sender has stopped waiting, possibly after everything else. */
  later(arrive: () => void): void {
    this.#late.push(arrive);
  }

  /** Lets the requests arrive that are still late. */
  arriveLate(): void {
    for (const arrive of this.#late.splice(0)) arrive();
  }

  /** Starts steps, and resumes their operations, until only late requests are left. */
  async run<Step>(steps: readonly Step[], start: (step: Step) => void): Promise<void> {
    let next = 0;
    while (next < steps.length || this.#waiting.length > 0 || this.#late.length > 0) {
      const isStepLeft = next < steps.length;
      const pick = this.choose(this.#waiting.length + this.#late.length + (isStepLeft ? 1 : 0));
      const step = steps[next];
      if (pick < this.#waiting.length) this.#waiting.splice(pick, 1)[0]?.();
      else if (isStepLeft && step !== undefined && pick === this.#waiting.length) {
        next += 1;
        start(step);
      } else if (next < steps.length || this.#waiting.length > 0) {
        this.#late.splice(pick - this.#waiting.length - (isStepLeft ? 1 : 0), 1)[0]?.();
      } else {
        // Late requests arrive in the end, after the reconciliation.
        break;
      }
      await settled();
    }
  }

  /** Runs work to its end, with no other operation at the same time. */
  async finish(work: Promise<unknown>): Promise<void> {
    const ended = { isTrue: false };
    const working = work.finally(() => {
      ended.isTrue = true;
    });
    // The promise is awaited below. Until then its failure must not count as unhandled.
    working.catch(() => undefined);
    for (let turns = 0; !ended.isTrue; turns += 1) {
      if (turns > 20_000) throw new Error("the work does not end");
      this.#waiting.shift()?.();
      await settled();
    }
    await working;
  }
}

/** A promise of a function that has died. */
export async function never(): Promise<never> {
  return new Promise(() => undefined);
}
