import { invalidField } from "../api/contract/errors.ts";
import type { VerificationProfile } from "../api/contract/verification-profiles.ts";
import { segmentsOf } from "../messages/message/segments.ts";
import builtIn from "./texts.json" with { type: "json" };

/** The sentences of a text, the most important first, and their language. */
interface Sentences {
  readonly sentences: readonly string[];
  readonly locale: string;
}

/** The gateway's own texts by language. */
const builtInTexts = new Map<string, Sentences>(
  Object.entries(builtIn).map(([locale, sentences]) => [locale, { sentences, locale }]),
);

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
  profile: Omit<VerificationProfile, "version">,
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

/**
 * Returns the sentences in the language that is closest to a locale, else in English. The profile's own have priority: a text of
 * the customer for the language is better than one of the gateway for the region.
 */
function sentencesFor({ texts = {} }: Pick<VerificationProfile, "texts">, requested: string): Sentences {
  const textsOfProfile = new Map<string, Sentences>(
    Object.entries(texts).map(([tag, text]) => [
      localeOf(tag)?.toString() ?? tag,
      { sentences: [text], locale: tag },
    ]),
  );
  const tags = lookupTags(requested);
  const [closest] = [textsOfProfile, builtInTexts].flatMap((source) =>
    tags.flatMap((tag) => source.get(tag) ?? []),
  );
  return closest ?? { sentences: [texts["en"] ?? builtIn.en].flat(), locale: "en" };
}

/** The languages whose texts the speakers of another one read (CLDR, language matching). */
const readableTags: Readonly<Record<string, readonly string[]>> = {
  nb: ["no"],
  nn: ["nb", "no"],
  no: ["nb"],
  yue: ["zh-Hant"],
};

/**
 * Returns the tags of texts that fit a locale, the closest first. Subtags are cut from the end (RFC 4647, 3.4), also those of
 * its usual script. A text in another script does not fit: readers of traditional Chinese get no simplified one.
 */
function lookupTags(requested: string): string[] {
  const locale = localeOf(requested);
  if (locale === undefined) return [requested];
  // With the most likely script and region: `zh-TW` is `zh-Hant-TW`.
  const likely = locale.maximize();
  const tags = [locale, likely].flatMap((each) => prefixesOf(each.toString()));
  const fitting = tags.filter((tag) => localeOf(tag)?.maximize().script === likely.script);
  return [...new Set([...fitting, ...(readableTags[locale.language] ?? [])])];
}

/** Returns the locale of a tag, with the present names of its parts: `in-ID` is `id-ID`; undefined if the tag is none. */
function localeOf(tag: string): Intl.Locale | undefined {
  try {
    return new Intl.Locale(tag);
  } catch {
    return undefined;
  }
}

/** Returns a tag and its beginnings, the longest first. None ends with a single letter, which introduces the next part. */
function prefixesOf(tag: string): string[] {
  const parts = tag.split("-");
  return parts
    .map((_, index) => parts.slice(0, parts.length - index))
    .filter((each) => (each.at(-1)?.length ?? 0) > 1)
    .map((each) => each.join("-"));
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
