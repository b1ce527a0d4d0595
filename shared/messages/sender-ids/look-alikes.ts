import { editDistance } from "../../api/contract/validation.ts";

/*
 * Finds sender IDs that a recipient could mistake for one another.
 */

/**
 * Names that are often forged, in upper case. Each belongs to a real organization, so a similar name is not rejected:
 * the operator has to check it.
 */
export const protectedNames: readonly string[] = [
  // Shops, services and payments
  "ADOBE AIRBNB ALIBABA AMAZON AMEX APPLE BINANCE BOOKING COINBASE DISCORD EBAY FACEBOOK GOOGLE ICLOUD INSTAGRAM",
  "LINKEDIN MASTERCARD MICROSOFT NETFLIX PAYPAL REVOLUT SIGNAL SNAPCHAT SPOTIFY STRIPE TELEGRAM TIKTOK TWITTER UBER",
  "VENMO VISA WHATSAPP WISE YAHOO ZELLE",
  // Banks
  "BARCLAYS BBVA BNPPARIBAS CHASE CITIBANK COMMERZBANK HSBC ICICI LLOYDS MONZO NATWEST RABOBANK SANTANDER SPARKASSE",
  "UBS UNICREDIT WELLSFARGO",
  // Parcels
  "ARAMEX AUSPOST CORREOS DHL DPD EVRI FEDEX HERMES LAPOSTE POSTNL ROYALMAIL UPS USPS",
  // Authorities
  "CDC EUROPOL GOVUK HMRC INTERPOL IRS MYGOV NHS POLICE SSA",
].flatMap((names) => names.split(" "));

/** The shortest name with a possible misspelling. In shorter names another character makes another word. */
const minLengthToMisspell = 6;

/** The shortest name that is searched for in others. Shorter names are part of too many words. */
const minLengthToContain = 5;

/** The characters that look alike on a small screen, regardless of case. */
const readAs: Readonly<Record<string, string>> = {
  "0": "O",
  "1": "L",
  "2": "Z",
  "3": "E",
  "4": "A",
  "5": "S",
  "6": "G",
  "7": "T",
  "8": "B",
  "9": "G",
  I: "L",
};

/** Pairs of lower-case characters that look like another character. */
const pairsReadAs: readonly (readonly [string, string])[] = [
  ["RN", "M"],
  ["VV", "W"],
  ["CL", "D"],
];

/** Returns a sender ID with each character replaced by the one that stands for all similar ones. */
function asRead(senderId: string): string {
  const characters = senderId
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, "")
    .replaceAll(/[0-9I]/g, (character) => readAs[character] ?? character);
  return pairsReadAs.reduce((text, [pair, single]) => text.replaceAll(pair, single), characters);
}

/** How one sender ID resembles another. */
export type Resemblance = "looks the same" | "differs in one character" | "contains it";

/** Returns how a sender ID resembles that of another organization; undefined when it does not. */
export function resemblanceOf(senderId: string, other: string): Resemblance | undefined {
  const [one, two] = [asRead(senderId), asRead(other)];
  if (one === two) return "looks the same";
  const isLong = Math.min(one.length, two.length) >= minLengthToMisspell;
  return isLong && editDistance(one, two) === 1 ? "differs in one character" : undefined;
}

/** Returns how a sender ID resembles or contains a protected name; undefined when it does not. */
export function resemblanceOfProtected(senderId: string, protectedName: string): Resemblance | undefined {
  const isContained =
    protectedName.length >= minLengthToContain && asRead(senderId).includes(asRead(protectedName));
  return resemblanceOf(senderId, protectedName) ?? (isContained ? "contains it" : undefined);
}
