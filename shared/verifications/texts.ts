import { invalidField } from "../api/contract/errors.ts";
import type { VerificationProfile } from "../api/contract/verification-profiles.ts";
import { segmentsOf } from "../messages/message/segments.ts";
import builtIn from "./texts.json" with { type: "json" };

/** The gateway's own texts by language: their sentences, the most important first. */
const builtInTexts = new Map<string, readonly string[]>(Object.entries(builtIn));

/** The longest message, in bytes of UTF-8, from which Android passes a code to its app. */
const maxAndroidBytes = 140;

export const tooLong = `makes the message too long: with \`appHash\`, it has at most ${maxAndroidBytes} bytes`;

const maxCodeLength = 10;

interface TextOptions {
  readonly locale?: string | undefined;
  readonly appHash?: string | undefined;
  readonly domain?: string | undefined;
}

/**
 * Returns the text of a verification, and its language. `{code}` stays in it: once in the sentence, and once more in the line
 * of the domain. The text has those of the gateway's own sentences that fit into one segment, and at least the first.
 * @throws ApiError VALIDATION_ERROR if the app hash or the domain of the start makes it too long for Android
 */
export function verificationText(
  profile: VerificationProfile,
  options: TextOptions = {},
): { readonly text: string; readonly locale: string } {
  const { locale = "en", appHash = profile.appHash, domain = profile.domain } = options;
  const chosen = sentencesFor(profile, locale);
  const minutes = String(Math.floor(profile.validitySeconds / 60));
  const filled = chosen.sentences.map((sentence) =>
    sentence.replaceAll(/\{(brand|minutes)\}/g, (_, name) => (name === "brand" ? profile.brand : minutes)),
  );
  // Android and browsers look for their line at the end of the message, and browsers for theirs as the last one.
  const lines = [
    ...(appHash === undefined ? [] : [appHash]),
    ...(domain === undefined ? [] : [`@${domain} #{code}`]),
  ];
  const texts = filled.map((_, count) => [filled.slice(0, count + 1).join(""), ...lines].join("\n"));
  const isAllowed = (text: string): boolean =>
    isOneSegment(text) && (appHash === undefined || fitsAndroid(text));
  const text = texts.findLast(isAllowed) ?? texts[0] ?? "";
  const cause = options.appHash === undefined ? options.domain && "domain" : "appHash";
  if (cause !== undefined && appHash !== undefined && !fitsAndroid(text)) throw invalidField(cause, tooLong);
  return { text, locale: chosen.locale };
}

/** Returns the sentences for a locale, else for its language, else in English. The profile's own have priority. */
function sentencesFor(
  { texts = {} }: VerificationProfile,
  requested: string,
): { readonly sentences: readonly string[]; readonly locale: string } {
  const wanted = requested.toLowerCase();
  for (const locale of [wanted, wanted.replace(/-.*/, "")]) {
    const own = Object.entries(texts).find(([tag]) => tag.toLowerCase() === locale);
    if (own !== undefined) return { sentences: [own[1]], locale: own[0] };
    const sentences = builtInTexts.get(locale);
    if (sentences !== undefined) return { sentences, locale };
  }
  return { sentences: [texts["en"] ?? builtIn.en].flat(), locale: "en" };
}

/** Whether a message is one segment with the longest code. */
function isOneSegment(text: string): boolean {
  return segmentsOf(withLongestCode(text), { unicode: false }).segments === 1;
}

/** Whether a message is short enough for an Android app, with the longest code. */
export function fitsAndroid(text: string): boolean {
  return Buffer.byteLength(withLongestCode(text)) <= maxAndroidBytes;
}

function withLongestCode(text: string): string {
  return text.replaceAll("{code}", "0".repeat(maxCodeLength));
}
