/** The territories that are a part of another country for VAT (Directive 2006/112, Art. 7). */
const partOf: Readonly<Record<string, string>> = { IM: "GB", MC: "FR" };

/** Returns the country whose VAT a place has. */
export function vatCountryOf(country: string): string {
  return partOf[country] ?? country;
}
