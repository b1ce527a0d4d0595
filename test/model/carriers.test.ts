import { expect, it } from "vitest";

import { randomFrom } from "../chaos/random.ts";
import type { CarrierMutation } from "./carrier-mutations.ts";
import { carryMessages } from "./carriers.ts";
import { digestOf } from "./trace.ts";

const seed = Number(process.env["MODEL_SEED"] ?? Date.now() % 2 ** 31);

it(`no message of 3,000 is lost or reaches a second carrier that the first may have accepted, and all sums are exact (seed ${seed})`, async () => {
  const { problems, ends, passedOn, shownByReceipt } = await carryMessages(3_000, randomFrom(seed));
  expect(problems, `again: npm run test:model -- --model carriers --seed ${seed}`).toEqual([]);
  // The faults that matter here have occurred, and often.
  expect(passedOn).toBeGreaterThan(300);
  expect(shownByReceipt).toBeGreaterThan(60);
  expect(ends.get("sent")).toBeGreaterThan(600);
  expect(ends.get("MESSAGE_OUTCOME_UNKNOWN")).toBeGreaterThan(60);
  expect(ends.get("MESSAGE_PROVIDER_ERROR")).toBeGreaterThan(6);
});

it("a run is the same each time, to the last random value", async () => {
  const digestsOf = async (ofSeed: number): Promise<string> =>
    digestOf(async (observe) => carryMessages(100, randomFrom(ofSeed), { observe }));
  expect(await digestsOf(seed)).toBe(await digestsOf(seed));
  expect(await digestsOf(seed + 1)).not.toBe(await digestsOf(seed));
});

it.each([
  ["lease condition", /may have|accepted 2 times/],
  ["repeat check", /may have|accepted 2 times/],
  ["receipt", /its receipt had come/],
  ["cost by carrier", /the costs are/],
  ["order of inbound messages", /wrote ST.* last, without effect/],
  ["first reschedule", /failed with MESSAGE_PROVIDER_ERROR after/],
  ["reschedule time", /came to no end/],
  ["deadline", /before the sender's end/],
] as const satisfies [CarrierMutation, RegExp][])(
  "the check notices when the %s is removed",
  async (mutation, noticed) => {
    const { problems } = await carryMessages(500, randomFrom(1), { mutation });
    expect(problems.join()).toMatch(noticed);
  },
);
