import { Country } from "../../../shared/api/contract/countries.ts";

const names = new Intl.DisplayNames(undefined, { type: "region" });

/** The name of a country in the viewer's language. */
export function countryName(code: string): string {
  return names.of(code) ?? code;
}

/** The options of a country field. @param none the label of the option without a country */
export function countryOptions(none: string): readonly (readonly [string, string])[] {
  const options = Country.options.map((code) => [code, countryName(code)] as const);
  return [["", none], ...options.toSorted(([, one], [, other]) => one.localeCompare(other))];
}
