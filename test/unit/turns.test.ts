import { setImmediate as nextTurn } from "node:timers/promises";

import { expect, it } from "vitest";

import { Turns } from "../../infra/local/turns.ts";

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

it("gives one caller two at once while another calls, and all again when nobody else has for a second", async () => {
  const work = new Work();
  work.ask("one");
  await nextTurn();
  work.ask("busy", 30);
  await nextTurn();
  expect(work.begun).toEqual(["one", "busy", "busy"]);
  await work.end("one");
  work.nowMs = 1_000;
  await work.end("busy");
  expect(work.begun).toHaveLength(4);
  work.nowMs = 1_001;
  await work.end("busy");
  expect(work.begun).toEqual(["one", ...of("busy", 2 + 1 + 15)]);
});
