import fc from "fast-check";
import { expect, it } from "vitest";

import { booksAreInOrder } from "../model/property.ts";
import { bothMoneyPaths } from "./last-release.ts";

/*
 * The model of the money path, in which each function call runs the last release or the present code, at random. Both use
 * one table. So each reads what the other wrote, as while a release is deployed, and after it is rolled back.
 */

const seed = Number(process.env["MODEL_SEED"] ?? Date.now() % 2 ** 31);

it(`the books are in order with the functions of two releases (seed ${seed})`, async () => {
  const releases = await bothMoneyPaths();
  await expect(fc.assert(booksAreInOrder({ releases }), { numRuns: 1_000, seed })).resolves.toBeUndefined();
}, 600_000);
