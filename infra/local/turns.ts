/**
 * Requests that are answered side by side; others wait for their turn. The calls of a function share one thread here: if
 * it served more of them at once, the answers of DynamoDB would wait for it until the SDK has given them up.
 */
const maxSideBySide = 16;

/** Who has asked for nothing for so long is none of those who call. */
const callsForMs = 1_000;

interface Caller {
  atWork: number;
  readonly waiting: (() => void)[];
  lastAtMs: number;
  /** How many pauses it has before it, in which it is given nothing where it asks for too much. */
  pauses: number;
}

/** The longest pause behind a request of who asks for too much. */
const maxPauseMs = 1_000;

/**
 * Lets requests begin, so many side by side, each caller once before anybody again. Whoever asks for more than there is
 * room for, while others call too, is given one request at a time, and behind it a pause as long as that took. In AWS
 * nobody waits for another's requests, for each has an instance of its own; here they share the machine, of which refusals
 * take their part too.
 */
export class Turns {
  readonly #nowMs: () => number;
  /** Whoever has had a turn stands behind all others. */
  readonly #callers = new Map<string, Caller>();
  #atWork = 0;

  constructor(nowMs: () => number = performance.now.bind(performance)) {
    this.#nowMs = nowMs;
  }

  /** Does some work of a caller when it is its turn. */
  async take<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const caller = this.#callers.get(name) ?? { atWork: 0, waiting: [], lastAtMs: 0, pauses: 0 };
    this.#callers.set(name, caller);
    const turn = Promise.withResolvers<void>();
    caller.waiting.push(turn.resolve);
    caller.lastAtMs = this.#nowMs();
    this.#begin();
    await turn.promise;
    const begunAtMs = this.#nowMs();
    try {
      return await work();
    } finally {
      caller.atWork -= 1;
      this.#atWork -= 1;
      if (this.#asksForTooMuch(caller)) this.#pause(caller, this.#nowMs() - begunAtMs);
      this.#begin();
    }
  }

  #pause(caller: Caller, tookMs: number): void {
    caller.pauses += 1;
    setTimeout(
      () => {
        caller.pauses -= 1;
        this.#begin();
      },
      Math.min(tookMs, maxPauseMs),
    );
  }

  #begin(): void {
    const longAgoMs = this.#nowMs() - callsForMs;
    for (const [name, { atWork, waiting, lastAtMs }] of this.#callers) {
      if (atWork + waiting.length === 0 && lastAtMs < longAgoMs) this.#callers.delete(name);
    }
    // Who is put behind the others comes up once more, for as long as there is room.
    for (const [name, caller] of this.#callers) {
      if (this.#atWork === maxSideBySide) return;
      const begin = caller.atWork < this.#maxOf(caller) ? caller.waiting.shift() : undefined;
      if (begin === undefined) continue;
      caller.atWork += 1;
      this.#atWork += 1;
      this.#callers.delete(name);
      this.#callers.set(name, caller);
      begin();
    }
  }

  #maxOf(caller: Caller): number {
    if (!this.#asksForTooMuch(caller)) return maxSideBySide;
    return caller.pauses > 0 ? 0 : 1;
  }

  #asksForTooMuch({ atWork, waiting }: Caller): boolean {
    return this.#callers.size > 1 && atWork + waiting.length > maxSideBySide;
  }
}
