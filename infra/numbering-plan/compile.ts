import metadata from "libphonenumber-js/metadata.max.json";
import * as z from "zod/mini";

/*
 * Compiles the metadata of libphonenumber into two small tables: the lengths that numbers of each country calling code can
 * have, and the countries and ranges of each code. Their forms are described where they are read,
 * in `shared/contract/phone-numbers.ts` and `shared/messages/numbering-plan.ts`.
 */

/** The letters of the types of numbers, in the order in which the metadata has the types (its `types`). */
const typeLetters = ["f", "m", "t", "p", "n", "a", "u", "g", "v", "c"] as const;

/** Reserved codes that libphonenumber uses for parts of Saint Helena; ISO 3166-1 assigns them to no country. */
const countriesOfReservedCodes: Readonly<Record<string, string>> = { AC: "SH", TA: "SH" };

/** The exchange 976 is pay-per-call in each area code of North America; libphonenumber takes it for any other. */
const northAmericanPremium = "p [2-9]..976.{4}";

const Type = z.union([z.tuple([z.string()], z.unknown()), z.literal(0)]);
/** Code, prefix, pattern, possible lengths, six fields about formats, leading digits and types. */
const Region = z.pipe(
  z.tuple([z.string(), z.unknown(), z.string(), z.array(z.int())], z.unknown()),
  z.transform(([, , , lengths, ...rest]) => {
    const leadingDigits = z.catch(z.optional(z.string()), undefined).parse(rest[6]);
    const listed = z.array(Type).parse(rest[7] ?? []);
    const [fixed, mobile, ...others] = listed.map((type) => (type === 0 ? undefined : compact(type[0])));
    // Where mobile numbers are not told apart from those of fixed lines, the metadata has no pattern of their own for them.
    return {
      lengths,
      leadingDigits,
      patterns: [fixed, mobile === "" ? fixed : (mobile ?? fixed), ...others],
    };
  }),
);
const Metadata = z.object({
  country_calling_codes: z.record(z.string(), z.array(z.string())),
  countries: z.record(z.string(), Region),
  nonGeographic: z.record(z.string(), Region),
});

interface NamedRegion extends z.infer<typeof Region> {
  readonly country: string;
}

/** The tables as the installed version of libphonenumber-js has them, by country calling code. */
export function compileNumberingPlan(): {
  readonly lengths: Readonly<Record<string, readonly number[]>>;
  readonly plan: Readonly<Record<string, readonly string[]>>;
} {
  const { country_calling_codes: codes, countries, nonGeographic } = Metadata.parse(metadata);
  const lengths: Record<string, readonly number[]> = {};
  const plan: Record<string, readonly string[]> = {};
  for (const [code, names] of Object.entries(codes)) {
    const regions = names.map((name): NamedRegion => {
      const region = countries[name];
      if (region === undefined) throw new Error(`libphonenumber has no metadata of ${name}`);
      return { country: countriesOfReservedCodes[name] ?? name, ...region };
    });
    // The first is the main one. Its lengths count, as they do in libphonenumber: no other has further ones, but Canada, whose
    // short numbers are for callers inside the country.
    lengths[code] = regions[0]?.lengths ?? [];
    const isShared = new Set(regions.map(({ country }) => country)).size > 1;
    plan[code] = [
      countriesOf(regions, isShared),
      ...rangesOf(regions, isShared),
      ...(code === "1" ? [northAmericanPremium] : []),
    ];
  }
  for (const [code, region] of Object.entries(nonGeographic)) {
    lengths[code] = region.lengths;
    // Mobile numbers without a country are of satellites, and of networks on ships and planes.
    const ranges = rangesOf([{ country: "", ...region }], false).map((range) => range.replace(/^m/, "s"));
    plan[code] = ["", ...ranges];
  }
  return { lengths, plan };
}

/** The countries of a code, each with what its numbers begin with where that alone tells it from the others. */
function countriesOf(regions: readonly NamedRegion[], isShared: boolean): string {
  const countries = regions.map(({ country, leadingDigits }) =>
    isShared && leadingDigits !== undefined ? `${country}:${compact(leadingDigits)}` : country,
  );
  return [...new Set(countries)].join(" ");
}

/** The ranges of the regions of a code. A pattern that several have, or that is of several types, comes once. */
function rangesOf(regions: readonly NamedRegion[], isShared: boolean): string[] {
  const ranges = new Map<string, { letters: string; countries: string[] }>();
  for (const { country, patterns } of regions) {
    for (const pattern of new Set(patterns)) {
      if (pattern === undefined) continue;
      const letters = typeLetters.filter((_, index) => patterns[index] === pattern).join("");
      const range = ranges.get(`${letters} ${pattern}`) ?? { letters, countries: [] };
      if (isShared) range.countries.push(country);
      ranges.set(`${letters} ${pattern}`, range);
    }
  }
  return [...ranges].map(([range, { countries }]) => [range, ...countries].join(" "));
}

/** A pattern in a shorter form, which matches the same strings of digits. */
function compact(pattern: string): string {
  return pattern.replaceAll("\\d", ".").replaceAll("(?:", "(");
}
