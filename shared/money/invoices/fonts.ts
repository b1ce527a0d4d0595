/*
 * The fonts of documents: Inter, and the Noto Sans of other scripts. The functions that draw have their files in a layer.
 */

/** The fonts with a script of their own, by what ends their names. */
const scripts = Object.entries({
  Arabic: "Arab",
  Armenian: "Armn",
  Bengali: "Beng",
  Devanagari: "Deva",
  Ethiopic: "Ethi",
  Georgian: "Geor",
  Gujarati: "Gujr",
  Gurmukhi: "Guru",
  Hebrew: "Hebr",
  Kannada: "Knda",
  Khmer: "Khmr",
  Lao: "Laoo",
  Malayalam: "Mlym",
  Myanmar: "Mymr",
  Oriya: "Orya",
  Sinhala: "Sinh",
  Tamil: "Taml",
  Telugu: "Telu",
  Thai: "Thai",
}).map(([name, script]) => ({ name, pattern: new RegExp(`\\p{scx=${script}}`, "u") }));

/** The fonts of Chinese, Japanese and Korean. They share characters, which each draws as its own readers know them. */
const ideographic = ["SC", "TC", "JP", "KR"] as const;

/** The fonts of the countries that do not write as mainland China does. */
const ideographicOf: Readonly<Record<string, string>> = { HK: "TC", JP: "JP", KR: "KR", MO: "TC", TW: "TC" };

/**
 * Returns the fonts that may draw a character which Inter lacks, the best first.
 * @param text the whole text: kana and Hangul decide how its ideographs look
 * @param country of the person that the text names
 */
export function fontsFor(character: string, text = "", country = ""): string[] {
  const ofScript = scripts.flatMap(({ name, pattern }) => (pattern.test(character) ? [name] : []));
  let best = ideographicOf[country] ?? "SC";
  if (/[\p{sc=Hira}\p{sc=Kana}]/u.test(text)) best = "JP";
  else if (/\p{sc=Hang}/u.test(text)) best = "KR";
  return [...ofScript, best, ...ideographic.filter((name) => name !== best)];
}

/** Returns the file of a font, as packages name it. */
export function fontFile(name: string): string {
  if (name === "bold") return "@expo-google-fonts/inter/600SemiBold/Inter_600SemiBold.ttf";
  if (name === "regular") return "@expo-google-fonts/inter/400Regular/Inter_400Regular.ttf";
  return `@expo-google-fonts/noto-sans-${name.toLowerCase()}/400Regular/NotoSans${name}_400Regular.ttf`;
}

/** The files of all fonts. */
export const fontFiles = ["regular", "bold", ...scripts.map(({ name }) => name), ...ideographic].map(
  fontFile,
);
