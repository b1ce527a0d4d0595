import { writeFile } from "node:fs/promises";
import path from "node:path";

import metadata from "libphonenumber-js/metadata.max.json";
import * as z from "zod/mini";

import { projectRoot } from "./project-root.ts";

/*
 * `npm run calling-codes` reads from the metadata of libphonenumber-js, after an update of it, how numbers begin and how long
 * they are. The contract, and with it the console, has this in a separate file, without the patterns of all numbers.
 */

const Region = z.tuple(
  [z.string(), z.unknown(), z.unknown(), z.array(z.int()), z.unknown(), z.unknown()],
  z.unknown(),
);
const Metadata = z.object({
  country_calling_codes: z.record(z.string(), z.array(z.string())),
  countries: z.record(z.string(), Region),
  nonGeographic: z.record(z.string(), Region),
});

/**
 * Returns the lengths that the rest of a number can have, by country calling code. `withTrunkZero` has the codes of countries with
 * a 0 before national numbers.
 */
export function readCallingCodes(): {
  readonly lengths: Readonly<Record<string, readonly number[]>>;
  readonly withTrunkZero: readonly number[];
} {
  const { country_calling_codes: codes, countries, nonGeographic } = Metadata.parse(metadata);
  // Those of the main country count, as in libphonenumber. Only Canada has further lengths: its short numbers are for
  // callers inside the country.
  const mainRegions = Object.entries(codes).map(([code, [main = ""]]) => [code, countries[main]] as const);
  return {
    lengths: Object.fromEntries([
      ...mainRegions.map(([code, region]) => [code, region?.[3] ?? []]),
      ...Object.entries(nonGeographic).map(([code, region]) => [code, region[3]]),
    ]),
    withTrunkZero: mainRegions.flatMap(([code, region]) => (region?.[5] === "0" ? [Number(code)] : [])),
  };
}

if (import.meta.main) {
  const file = path.join(projectRoot, "shared/api/contract/calling-codes.json");
  await writeFile(file, `${JSON.stringify(readCallingCodes(), null, 2)}\n`);
  process.stdout.write("Written. Now run `npm run format`.\n");
}
