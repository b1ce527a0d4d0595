const countryNames = new Intl.DisplayNames(undefined, { type: "region" });

/** The name of a country in the viewer's language. @param code as ISO 3166-1 has it */
export function countryName(code: string): string {
  return countryNames.of(code) ?? code;
}
