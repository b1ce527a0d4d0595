import { expect, it } from "vitest";

import { randomFrom } from "../chaos/random.ts";
import { isNightly } from "../support/second-opinions.ts";
import type { PaymentMutation } from "./payment-mutations.ts";
import { makePayments } from "./payments.ts";
import { digestOf } from "./trace.ts";

const seed = Number(process.env["MODEL_SEED"] ?? Date.now() % 2 ** 31);
const runs = isNightly ? 60 : 30;

/** The faults and actions that matter here, each of which has to happen often. */
const actions = [
  "paid",
  "other keys",
  "saved card",
  "record transfer",
  "record refund",
  "dispute",
  "event",
  "send",
] as const;

it(`ledger, provider and invoices agree after ${runs} schedules of payments and faults (seed ${seed})`, async () => {
  const seen = new Map<string, number>();
  const timesOf = (what: string): number => seen.get(what) ?? 0;
  // Some seeds have few of an action in these schedules. Then more follow.
  for (let run = 0; run < runs || (run < 4 * runs && actions.some((what) => timesOf(what) <= 20)); run += 1) {
    const { problems, seen: ofRun } = await makePayments(randomFrom(seed + run));
    expect(problems, `again: npm run test:model -- --model payments --seed ${seed + run}`).toEqual([]);
    for (const [what, times] of ofRun) seen.set(what, timesOf(what) + times);
  }
  for (const what of actions) expect(timesOf(what), what).toBeGreaterThan(20);
});

it("a run is the same each time, to the last random value", async () => {
  const digestsOf = async (ofSeed: number): Promise<string> =>
    digestOf(async (observe) => makePayments(randomFrom(ofSeed), { observe }));
  expect(await digestsOf(seed)).toBe(await digestsOf(seed));
  expect(await digestsOf(seed + 1)).not.toBe(await digestsOf(seed));
});

/** Each with the first seed that shows it, to save time. Where the schedules have changed, it is one of the next 100. */
it.for([
  ["account condition", 229, /although it was paid/],
  ["chargeback reference", 0, /chargeback dp_/],
  ["recharge condition", 164, /charged twice/],
  ["reference condition", 14, /in the ledger as payment \d+ and payment/],
  ["version condition", 11, /owed twice|documents|which no one made/],
] as const satisfies [PaymentMutation, number, RegExp][])(
  "the check notices when the %s is removed",
  async ([mutation, from, noticed], { signal }) => {
    const problems: string[] = [];
    // A run that continued after the time limit would share the clock with the next test.
    for (let run = from; run < from + 100 && problems.length === 0 && !signal.aborted; run += 1)
      problems.push(...(await makePayments(randomFrom(run), { mutation })).problems);
    expect(problems.join()).toMatch(noticed);
  },
);
