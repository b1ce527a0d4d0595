import * as z from "zod/mini";

const Starts = z.int().check(z.gte(1), z.lte(50));
const Share = z.number().check(z.gte(0), z.lte(1));

/** The figures of the guard, which a stage may change. `infra/stack/stages/README.md` describes each. */
export const GuardFigures = z.strictObject({
  startsPerNumberPerDay: z._default(Starts, 10),
  startsPerAddressPerHour: z._default(Starts, 10),
  numbersPerAddressPerHour: z._default(Starts, 5),
  numbersPerDevicePerDay: z._default(Starts, 3),
  unapprovedPerRangePer20Minutes: z._default(Starts, 10),
  judgedPerRange: z._default(Starts, 12),
  judgedPerCountry: z._default(Starts, 40),
  rangeApproval: z._default(Share, 0.1),
  usualApproval: z._default(Share, 0.75),
  partOfUsualApproval: z._default(Share, 0.4),
});
export type GuardFigures = z.infer<typeof GuardFigures>;
