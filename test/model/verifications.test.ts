import fc from "fast-check";
import { expect, it } from "vitest";

import { isNightly } from "../support/second-opinions.ts";
import type { VerificationMutation } from "./verification-mutations.ts";
import { raceVerifications, type VerificationPlan, type VerificationStep } from "./verifications.ts";

const seed = Number(process.env["MODEL_SEED"] ?? Date.now() % 2 ** 31);
const numRuns = isNightly ? 10_000 : 150;

const step = fc.constantFrom<VerificationStep>(
  ...(["start", "start", "start", "own code", "check", "check", "guess", "guess", "guess"] as const),
  ...(["resend", "resend", "report", "cancel", "complete", "minute", "minute", "later"] as const),
);

/** Mostly ends of verifications, and their completion at the same time. */
const endStep = fc.constantFrom<VerificationStep>(
  "start",
  "cancel",
  "later",
  "complete",
  "complete",
  "complete",
);

function races(mutation?: VerificationMutation): fc.IAsyncProperty<[VerificationPlan]> {
  const plan = fc.record({
    steps: fc.oneof(
      { weight: 3, arbitrary: fc.array(step, { minLength: 3, maxLength: 24 }) },
      { weight: 1, arbitrary: fc.array(endStep, { minLength: 3, maxLength: 12 }) },
      {
        weight: 1,
        arbitrary: fc.array(fc.constantFrom("guess", "check"), { minLength: 6, maxLength: 12 }),
      },
    ),
    choices: fc.array(fc.nat(99_999), { minLength: 100, maxLength: 500, size: "max" }),
    seed: fc.noShrink(fc.nat()),
  });
  return fc.asyncProperty(plan, async (each) => raceVerifications({ ...each, mutation }));
}

// A list of hundreds of choices takes hours to shrink.
it(`races of verifications have at most five checks, one approval, one active and exact money (seed ${seed})`, async () => {
  await expect(fc.assert(races(), { numRuns, seed, endOnFailure: true })).resolves.toBeUndefined();
}, 1_500_000);

it.each([
  "count of checks",
  "pending condition",
  "pointer",
  "refund condition",
] satisfies VerificationMutation[])("the model notices when the %s is removed", async (mutation) => {
  const { failed } = await fc.check(races(mutation), { numRuns: 200, seed: 2, endOnFailure: true });
  expect(failed).toBe(true);
});
