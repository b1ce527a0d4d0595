import fc from "fast-check";

import type { Step } from "./actions.ts";
import { simulate, type Plan } from "./simulation.ts";

/** One of some steps, with its weight among others. */
function oneOf(weight: number, ...steps: Step[]): { weight: number; arbitrary: fc.Arbitrary<Step> } {
  return { weight, arbitrary: fc.constantFrom(...steps) };
}

const step: fc.Arbitrary<Step> = fc.oneof(
  oneOf(6, { kind: "send", segments: 1 }, { kind: "send", segments: 2 }),
  oneOf(3, { kind: "send", segments: 1, key: "a" }, { kind: "send", segments: 2, key: "b" }),
  oneOf(1, { kind: "topUp" }),
  oneOf(1, { kind: "topUp", key: "c" }, { kind: "topUp", key: "d" }),
  oneOf(3, { kind: "block", messages: 3 }, { kind: "schedule" }, { kind: "cancel" }, { kind: "cancel" }),
  oneOf(
    4,
    { kind: "launchCampaign" },
    { kind: "launchCampaign" },
    { kind: "runCampaign" },
    { kind: "runCampaign" },
    { kind: "runCampaign" },
    { kind: "pauseCampaign" },
    { kind: "resumeCampaign" },
    { kind: "cancelCampaign" },
  ),
  oneOf(
    2,
    { kind: "capSpending", messages: 1 },
    { kind: "capSpending", messages: 3 },
    { kind: "capSpending", messages: "none" },
  ),
  oneOf(2, { kind: "changePrice", priceMicros: 5_300 }, { kind: "changePrice", priceMicros: 11_100 }),
  oneOf(4, { kind: "deliver" }),
  oneOf(1, { kind: "forget" }),
  oneOf(3, { kind: "reconcile" }),
  oneOf(3, { kind: "advance", minutes: 1 }, { kind: "advance", minutes: 11 }),
);

/** Mostly workers that continue a campaign, at the same time and long after one another. */
const campaignStep: fc.Arbitrary<Step> = fc.oneof(
  oneOf(8, { kind: "runCampaign" }),
  oneOf(4, { kind: "advance", minutes: 11 }),
  oneOf(2, { kind: "deliver" }),
  oneOf(2, { kind: "reconcile" }),
  oneOf(
    1,
    { kind: "send", segments: 1 },
    { kind: "topUp" },
    { kind: "launchCampaign" },
    { kind: "pauseCampaign" },
    { kind: "resumeCampaign" },
    { kind: "cancelCampaign" },
    { kind: "capSpending", messages: 2 },
  ),
);

/** Mostly messages of API keys, and decisions about held ones, at the same time and at changed prices. */
const keyStep: fc.Arbitrary<Step> = fc.constantFrom<Step>(
  { kind: "sendWithKey", key: "budget" },
  { kind: "sendWithKey", key: "budget" },
  { kind: "sendWithKey", key: "held" },
  { kind: "sendWithKey", key: "test" },
  { kind: "decide", isApproved: true },
  { kind: "decide", isApproved: true },
  { kind: "decide", isApproved: true },
  { kind: "decide", isApproved: false },
  { kind: "changePrice", priceMicros: 5_300 },
  { kind: "changePrice", priceMicros: 11_100 },
  { kind: "advance", minutes: 2 },
  { kind: "deliver" },
  { kind: "reconcile" },
);

/** Steps of all kinds, a campaign that is launched and interrupted, or API keys. */
const schedule: fc.Arbitrary<Step[]> = fc.oneof(
  { weight: 2, arbitrary: fc.array(step, { minLength: 1, maxLength: 14 }) },
  {
    weight: 1,
    arbitrary: fc
      .array(campaignStep, { minLength: 2, maxLength: 14 })
      .map((rest): Step[] => [{ kind: "launchCampaign" }, ...rest]),
  },
  {
    weight: 1,
    arbitrary: fc
      .array(keyStep, { minLength: 2, maxLength: 14 })
      .map((rest): Step[] => [{ kind: "sendWithKey", key: "held" }, ...rest]),
  },
);

/** Checks that the books are in order in the end, for all schedules and faults. */
export function booksAreInOrder(
  options: Pick<Plan, "mutation" | "observe" | "releases"> = {},
): fc.IAsyncProperty<[Step[], number[], number]> {
  return fc.asyncProperty(
    schedule,
    fc.array(fc.nat(99_999), { minLength: 150, maxLength: 400, size: "max" }),
    // Shrinking the seed makes no run simpler.
    fc.noShrink(fc.nat()),
    async (steps, choices, seed) => simulate({ ...options, steps, choices, seed }),
  );
}
