import fc from "fast-check";
import { expect, it } from "vitest";

import { isNightly } from "../support/second-opinions.ts";
import type { Mutation } from "./book-mutations.ts";
import { booksAreInOrder } from "./property.ts";
import { digestOf } from "./trace.ts";

const seed = Number(process.env["MODEL_SEED"] ?? Date.now() % 2 ** 31);
const numRuns = isNightly ? 500 : 250;

it(`the books are in order after any schedule of faults (seed ${seed})`, async () => {
  await expect(fc.assert(booksAreInOrder(), { numRuns, seed })).resolves.toBeUndefined();
});

it("a run is the same each time, to the last random value", async () => {
  const digestsOf = async (ofSeed: number): Promise<string> =>
    digestOf(async (observe) => fc.assert(booksAreInOrder({ observe }), { numRuns: 20, seed: ofSeed }));
  expect(await digestsOf(seed)).toBe(await digestsOf(seed));
  expect(await digestsOf(seed + 1)).not.toBe(await digestsOf(seed));
});

it("messages are sent and fail, and carriers accept, reject, throttle and do not respond", async () => {
  const seen = new Set<string>();
  const observe = (event: string): void => {
    for (const [, state = ""] of event.matchAll(/"(?:outcome|status)":"(\w+)"/g)) seen.add(state);
  };
  await fc.assert(booksAreInOrder({ observe }), { numRuns: 300, seed: 1 });
  const states = ["queued", "sent", "failed", "rejected", "throttled", "unknown"];
  expect([...seen]).toEqual(expect.arrayContaining(states));
});

it.each([
  "void",
  "ambiguity check",
  "throttle-only retry",
  "block condition",
  "budget condition",
  "cap condition",
  "held condition",
  "noted day",
  "test sender",
] satisfies Mutation[])("the model notices within 1,000 runs when the %s is removed", async (mutation) => {
  const { failed, errorInstance } = await fc.check(booksAreInOrder({ mutation }), {
    numRuns: 1_000,
    // The schedules are always the same. Over five seeds the slowest mutation took 430 runs in the median and 1,248 at
    // most, so a new seed would sometimes miss it.
    seed: 1,
    endOnFailure: true,
  });
  expect(failed).toBe(true);
  expect(String(errorInstance)).toMatch(
    /balance|add up|cap|paid|applied|no entry|counted|messageCount|two messages|budget|approv|no mere test|WALLET cannot be read/,
  );
});
