import { setImmediate as nextTurn } from "node:timers/promises";

import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { Turns } from "../../infra/local/turns.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout"] }));
afterEach(() => void vi.useRealTimers());

/** Work that goes on until it is told to end, and notes who has begun. */
class Work {
  nowMs = 0;
  readonly begun: string[] = [];
  readonly #turns = new Turns(() => this.nowMs);
  readonly #goOn = new Map<string, (() => void)[]>();

  ask(name: string, times = 1): void {
    for (let time = 0; time < times; time += 1) {
      void this.#turns.take(name, async () => {
        this.begun.push(name);
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#goOn.set(name, [...(this.#goOn.get(name) ?? []), resolve]);
        await promise;
      });
    }
  }

  async end(name: string, times = 1): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      this.#goOn.get(name)?.shift()?.();
      await nextTurn();
    }
  }
}

/** One caller with a request at work, and then another with so many. */
async function busyBesideOne(times: number): Promise<Work> {
  const work = new Work();
  work.ask("one");
  await nextTurn();
  work.ask("busy", times);
  await nextTurn();
  return work;
}

/** As many times the same name. */
function of(name: string, times: number): string[] {
  return Array.from({ length: times }, () => name);
}

it("lets sixteen requests of one who is alone begin, and the next when one has ended", async () => {
  const work = new Work();
  work.ask("one", 20);
  await nextTurn();
  expect(work.begun).toEqual(of("one", 16));
  await work.end("one", 2);
  expect(work.begun).toEqual(of("one", 18));
});

it("lets each caller begin once before anybody again", async () => {
  const work = new Work();
  work.ask("busy", 20);
  await nextTurn();
  work.ask("one", 2);
  work.ask("other");
  await work.end("busy", 3);
  expect(work.begun).toEqual([...of("busy", 16), "one", "other", "one"]);
});

it("gives who asks for more than there is room for one at a time while another calls, and a pause behind it", async () => {
  const work = await busyBesideOne(50);
  await work.end("one");
  // Those that had begun before there were too many come to their end, and are not followed by others.
  await work.end("busy", 13);
  expect(work.begun).toEqual(["one", ...of("busy", 15)]);
  work.ask("one");
  await work.end("busy");
  work.nowMs = 40;
  await work.end("busy");
  expect(work.begun.slice(16)).toEqual(["one"]);
  vi.advanceTimersByTime(39);
  await nextTurn();
  expect(work.begun.slice(16)).toEqual(["one"]);
  vi.advanceTimersByTime(1);
  await nextTurn();
  expect(work.begun.slice(16)).toEqual(["one", "busy"]);
});

it("gives no longer pause than a second", async () => {
  const work = await busyBesideOne(50);
  work.nowMs = 30_000;
  await work.end("busy", 15);
  expect(work.begun).toHaveLength(16);
  vi.advanceTimersByTime(1_000);
  await nextTurn();
  expect(work.begun).toHaveLength(17);
});

it("lets who was given a pause begin at once where it no longer asks for too much", async () => {
  const work = await busyBesideOne(18);
  work.nowMs = 40;
  await work.end("busy");
  // There are seventeen left, of which fourteen are at work.
  expect(work.begun).toEqual(["one", ...of("busy", 15)]);
  await work.end("busy");
  expect(work.begun).toEqual(["one", ...of("busy", 17)]);
});

it("gives everything again when nobody else has called for a second", async () => {
  const work = await busyBesideOne(60);
  await work.end("one");
  work.nowMs = 1_000;
  await work.end("busy", 5);
  expect(work.begun).toEqual(["one", ...of("busy", 15)]);
  work.nowMs = 1_001;
  await work.end("busy");
  expect(work.begun).toEqual(["one", ...of("busy", 15 + 7)]);
});

it("lets as many as there is room for begin of each, where none asks for more", async () => {
  const work = new Work();
  work.ask("one", 4);
  work.ask("other", 12);
  await nextTurn();
  expect(work.begun).toEqual([...of("one", 4), ...of("other", 12)]);
});
