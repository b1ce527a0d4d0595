/** An event at a moment of the model's own time. */
interface Event {
  readonly atMs: number;
  readonly happen: () => void;
  isCalledOff: boolean;
}

/**
 * The time of a model. It stands still while any code can run, and then jumps to the next event. So hours take
 * milliseconds, and a run can be repeated exactly.
 */
export class VirtualTime {
  nowMs: number;
  /** Sorted by time, latest first. The newest of several events at one moment stands first. */
  readonly #events: Event[] = [];

  constructor(startsAt: Date) {
    this.nowMs = startsAt.getTime();
  }

  /** Calls `happen` after a delay. @returns a function that cancels it */
  after(delayMs: number, happen: () => void): () => void {
    const event: Event = { atMs: this.nowMs + Math.max(0, delayMs), happen, isCalledOff: false };
    let [low, high] = [0, this.#events.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#events[middle]?.atMs ?? 0) > event.atMs) low = middle + 1;
      else high = middle;
    }
    this.#events.splice(low, 0, event);
    return () => {
      event.isCalledOff = true;
    };
  }

  async sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(delayMs, resolve);
    });
  }

  /**
   * Lets time pass until a promise is settled.
   * @throws Error when no event is left and the promise is pending, or the error of the promise
   */
  async until<Result>(done: Promise<Result>): Promise<Result> {
    const state = { isDone: false };
    const end = (): void => {
      state.isDone = true;
    };
    done.then(end, end);
    await settled();
    while (!state.isDone) {
      const next = this.#events.pop();
      if (next === undefined) throw new Error("it is not done, and nothing is left to happen");
      if (next.isCalledOff) continue;
      this.nowMs = next.atMs;
      next.happen();
      // The events run one at a time, so that a run does not depend on which of two simultaneous ones is quicker.
      await settled();
    }
    return done;
  }
}

/** Runs all code that can run while no time passes. */
export async function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
