import { expect, it } from "vitest";

import { randomFrom } from "../chaos/random.ts";
import type { CarrierMutation } from "./carrier-mutations.ts";
import { carryMessages } from "./carriers.ts";
import { digestOf } from "./trace.ts";

const seed = Number(process.env["MODEL_SEED"] ?? Date.now() % 2 ** 31);

it(`of 5,000 messages none reaches two carriers unless the first surely refused it, none is lost, and all adds up (seed ${seed})`, async () => {
  const { problems, ends, passedOn, shownByReceipt } = await carryMessages(5_000, randomFrom(seed));
  expect(problems, `again: npm run test:model -- --model carriers --seed ${seed}`).toEqual([]);
  // What it is about has happened, and often.
  expect(passedOn).toBeGreaterThan(500);
  expect(shownByReceipt).toBeGreaterThan(100);
  expect(ends.get("sent")).toBeGreaterThan(1_000);
  expect(ends.get("MESSAGE_OUTCOME_UNKNOWN")).toBeGreaterThan(100);
  expect(ends.get("MESSAGE_PROVIDER_ERROR")).toBeGreaterThan(10);
}, 300_000);

it("a run is the same each time, to the last random value", async () => {
  const digestsOf = async (ofSeed: number): Promise<string> => {
    const digest = digestOf();
    await carryMessages(100, randomFrom(ofSeed), { observe: digest.observe });
    return digest.read();
  };
  expect(await digestsOf(seed)).toBe(await digestsOf(seed));
  expect(await digestsOf(seed + 1)).not.toBe(await digestsOf(seed));
});

it.each([
  ["claim condition", /may have|taken 2 times/],
  ["repeat check", /may have|taken 2 times/],
  ["receipt", /its receipt had come/],
  ["cost by carrier", /the costs are/],
  ["order of replies", /said ST.* last, which does not count/],
  ["put-off from the start", /failed with MESSAGE_PROVIDER_ERROR after/],
  ["put-off forgotten", /came to no end/],
  ["deadline", /before the sender's end/],
] as const satisfies [CarrierMutation, RegExp][])(
  "the check notices when the %s is taken out",
  async (mutation, noticed) => {
    const { problems } = await carryMessages(500, randomFrom(1), { mutation });
    expect(problems.join()).toMatch(noticed);
  },
  120_000,
);
