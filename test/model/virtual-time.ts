/** Something that happens at a moment of the model's own time. */
interface Event {
  readonly atMs: number;
  readonly happen: () => void;
  isCalledOff: boolean;
}

/**
 * The time of a model. It stands still while anything can run, and then jumps to the next event, so that hours take
 * milliseconds and a run is the same each time.
 */
export class VirtualTime {
  nowMs: number;
  /** Latest first. Of those of one moment the one that was added last stands first. */
  readonly #events: Event[] = [];

  constructor(startsAt: Date) {
    this.nowMs = startsAt.getTime();
  }

  /** Lets something happen after so long. @returns what calls it off */
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
   * Lets time pass until something is done.
   * @throws Error when it is not done and nothing is left that could happen, or what it throws itself
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
      // One at a time: what two events of one moment start must not depend on which of them is quicker.
      await settled();
    }
    return done;
  }
}

/** Lets everything run that can run while no time passes. */
export async function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
