import { writeFile } from "node:fs/promises";
import path from "node:path";

import metadata from "libphonenumber-js/metadata.max.json";
import * as z from "zod/mini";

import { projectRoot } from "./project-root.ts";

/*
 * `npm run number-lengths` reads the possible lengths of numbers from the metadata of libphonenumber-js, after an update of
 * it. The contract, and with it the console, has these lengths in a separate file, without the patterns of all numbers.
 */

const Region = z.tuple([z.string(), z.unknown(), z.unknown(), z.array(z.int())], z.unknown());
const Metadata = z.object({
  country_calling_codes: z.record(z.string(), z.array(z.string())),
  countries: z.record(z.string(), Region),
  nonGeographic: z.record(z.string(), Region),
});

/** The lengths that the rest of a number can have, by country calling code. */
export function numberLengths(): Readonly<Record<string, readonly number[]>> {
  const { country_calling_codes: codes, countries, nonGeographic } = Metadata.parse(metadata);
  return Object.fromEntries([
    // The lengths of the main country count, as in libphonenumber. Only Canada has further ones: its short numbers are for
    // callers inside the country.
    ...Object.entries(codes).map(([code, [main = ""]]) => [code, countries[main]?.[3] ?? []]),
    ...Object.entries(nonGeographic).map(([code, region]) => [code, region[3]]),
  ]);
}

if (import.meta.main) {
  const file = path.join(projectRoot, "shared/api/contract/number-lengths.json");
  await writeFile(file, `${JSON.stringify(numberLengths(), null, 2)}\n`);
  process.stdout.write("Written. Now run `npm run format`.\n");
}
