import fc from "fast-check";
import { expect, it } from "vitest";

import { randomFrom } from "../chaos/random.ts";
import { carryMessages } from "../model/carriers.ts";
import { makePayments } from "../model/payments.ts";
import { booksAreInOrder } from "../model/property.ts";
import { isNightly } from "../support/second-opinions.ts";
import { bothCarrierPaths, bothMoneyPaths } from "./last-release.ts";

/*
 * The models, in which each function runs the last release or the present code, at random. Both use one table. So each reads
 * what the other wrote, as while a release is deployed, and after it is rolled back.
 */

const seed = Number(process.env["MODEL_SEED"] ?? Date.now() % 2 ** 31);
const numRuns = isNightly ? 1_000 : 500;

it(`the books are in order with the functions of two releases (seed ${seed})`, async () => {
  const releases = await bothMoneyPaths();
  await expect(fc.assert(booksAreInOrder({ releases }), { numRuns, seed })).resolves.toBeUndefined();
}, 600_000);

it(`carriers accept each message once from senders of two releases (seed ${seed})`, async () => {
  const releases = await bothCarrierPaths();
  const { problems, ends, passedOn } = await carryMessages(2_000, randomFrom(seed), { releases });
  expect(problems, `again: npm run test:model -- --model mixed-carriers --seed ${seed}`).toEqual([]);
  expect(passedOn).toBeGreaterThan(200);
  expect(ends.get("sent")).toBeGreaterThan(400);
});

it(`payments are exact while two releases charge the wallets (seed ${seed})`, async () => {
  const releases = await bothMoneyPaths();
  for (let run = 0; run < 40; run += 1) {
    const { problems } = await makePayments(randomFrom(seed + run), { releases });
    expect(problems, `again: npm run test:model -- --model mixed-payments --seed ${seed + run}`).toEqual([]);
  }
});
