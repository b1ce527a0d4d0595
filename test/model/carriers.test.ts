import { expect, it } from "vitest";

import { randomFrom } from "../chaos/random.ts";
import { carryMessages, type CarrierMutation } from "./carriers.ts";

const seed = Number(process.env["MODEL_SEED"] ?? Date.now() % 2 ** 31);

it(`of 5,000 messages none reaches two carriers unless the first surely refused it, none is lost, and all adds up (seed ${seed})`, async () => {
  const { problems, ends, passedOn, shownByReceipt } = await carryMessages(5_000, randomFrom(seed));
  expect(problems).toEqual([]);
  // What it is about has happened, and often.
  expect(passedOn).toBeGreaterThan(500);
  expect(shownByReceipt).toBeGreaterThan(100);
  expect(ends.get("sent")).toBeGreaterThan(1_000);
  expect(ends.get("MESSAGE_OUTCOME_UNKNOWN")).toBeGreaterThan(100);
}, 300_000);

it.each([
  ["claim condition", /may have|taken 2 times/],
  ["repeat check", /may have|taken 2 times/],
  ["receipt", /its receipt had come/],
  ["cost by carrier", /the costs are/],
] as const satisfies [CarrierMutation, RegExp][])(
  "the check notices when the %s is taken out",
  async (mutation, noticed) => {
    const { problems } = await carryMessages(500, randomFrom(1), mutation);
    expect(problems.join()).toMatch(noticed);
  },
);
