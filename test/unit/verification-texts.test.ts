import { describe, expect, it } from "vitest";

import {
  SaveVerificationProfileRequest,
  type VerificationProfile,
} from "../../shared/api/contract/verification-profiles.ts";
import { segmentsOf } from "../../shared/messages/message/segments.ts";
import builtIn from "../../shared/verifications/texts.json" with { type: "json" };
import { verificationText } from "../../shared/verifications/texts.ts";

/** The languages whose alphabet is not in GSM-7. */
const unicode = new Set(["ar", "hi", "ja", "ko", "ru", "uk", "zh"]);

const sentencesOf = new Map<string, readonly string[]>(Object.entries(builtIn));

const appHash = "FA+9qCX9VSu";
const domain = "login.shop.example.com";
const longest = profileOf({ brand: "A".repeat(30), validitySeconds: 3_600 });

function profileOf(fields: Partial<VerificationProfile>): VerificationProfile {
  const saved = SaveVerificationProfileRequest.parse({ brand: "Acme", ...fields });
  return { name: "default", ...saved, version: 1 };
}

function sent(text: string): string {
  return text.replaceAll("{code}", "1234567890");
}

it("there are texts in more than twenty languages", () => {
  expect(sentencesOf.size).toBeGreaterThan(20);
});

describe.each([...sentencesOf.keys()])("the text in %s", (locale) => {
  const { text } = verificationText(longest, { locale });

  it("is one segment with the longest values, of GSM-7 where its alphabet allows", () => {
    const encoding = unicode.has(locale) ? "UCS-2" : "GSM-7";
    expect(segmentsOf(sent(text), { unicode: false })).toEqual({ encoding, segments: 1 });
    expect(text.split("{code}").length).toBe(2);
    expect(text).toContain(longest.brand);
    // A text of GSM-7 has all of its sentences.
    expect(encoding === "UCS-2" || text.includes(" 60 ")).toBe(true);
  });

  it("has at most 140 bytes with an app hash, and stays one segment of GSM-7 with both lines", () => {
    const { text: withHash } = verificationText(longest, { locale, appHash });
    expect(Buffer.byteLength(sent(withHash))).toBeLessThanOrEqual(140);
    expect(withHash.endsWith(`\n${appHash}`)).toBe(true);
    const { text: withBoth } = verificationText({ ...longest, appHash, domain }, { locale });
    expect(withBoth.endsWith(`\n${appHash}\n@${domain} #{code}`)).toBe(true);
    const { segments } = segmentsOf(sent(withBoth), { unicode: false });
    expect(unicode.has(locale) || (segments === 1 && Buffer.byteLength(sent(withBoth)) <= 140)).toBe(true);
  });
});

describe("the language of a text", () => {
  const own = { "pt-BR": "{code} do Brasil", fr: "{code} {brand} {minutes}" };

  it.each([
    ["pt-BR", "pt-BR"],
    ["pt-br", "pt-BR"],
    ["pt-PT", "pt"],
    ["fr-CA", "fr"],
    ["zh-Hant-TW", "en"],
    ["zh-Hans-SG", "zh"],
    ["in-ID", "id"],
    ["nn-NO", "nb"],
    ["xx", "en"],
    [undefined, "en"],
  ])("of the locale %s is %s", (locale, expected) => {
    expect(verificationText(profileOf({ texts: own }), { locale }).locale).toBe(expected);
  });

  it("has the profile's own text first, with its values and lines", () => {
    const profile = profileOf({ texts: { ...own, en: "Own {code}" }, domain, validitySeconds: 119 });
    expect(verificationText(profile, { locale: "fr" }).text).toBe(`{code} Acme 1\n@${domain} #{code}`);
    expect(verificationText(profile, { locale: "xx" }).text).toContain("Own {code}");
    expect(verificationText(profile, { locale: "de" }).text).toContain("{code} ist Ihr Code für Acme.");
  });

  it.each([
    [{ appHash }, {}, "appHash"],
    [{ domain }, { appHash }, "domain"],
  ])("must fit Android with what the start adds: %o", (options, fields, path) => {
    const profile = profileOf({ ...fields, texts: { en: `{code}${"x".repeat(119)}` } });
    const details = [expect.objectContaining({ path })];
    expect(() => verificationText(profile, options)).toThrow(expect.objectContaining({ details }));
    expect(verificationText(profile).locale).toBe("en");
  });

  it("leaves sentences out when a brand needs 16-bit characters", () => {
    expect(verificationText(profileOf({ brand: "Piekarnia w Łodzi" })).text).toBe(
      "{code} is your Piekarnia w Łodzi code. Do not share it.",
    );
  });
});

describe("a profile", () => {
  it.each([
    { texts: { en: "No code" } },
    { texts: { en: "{code} and {code}" } },
    { texts: { en: "{code} {name}" } },
    { texts: { en: `{code}${"x".repeat(155)}` } },
    { texts: { english: "{code}" } },
    { brand: "{code}" },
    { brand: " " },
    { brand: "two\nlines" },
    { domain: "https://shop.example.com" },
    { domain: "localhost" },
    { domain: "Shop.example.com" },
    { domain: "10.0.0.12" },
    { appHash: "FA+9qCX9VS" },
    { appHash: "FA-9qCX9VSu" },
    { countries: ["UK"] },
    { countries: [] },
    { codeLength: 3 },
    { validitySeconds: 59 },
    { guard: "off" },
    { allow: ["44-7"] },
    { feeOnSuccess: true },
  ])("must not have %o", (fields) => {
    const rejected = SaveVerificationProfileRequest.safeParse({ brand: "Acme", ...fields });
    expect(rejected.success).toBe(false);
  });

  it("has defaults, and the values that are allowed", () => {
    expect(SaveVerificationProfileRequest.parse({ brand: "Acme" })).toEqual({
      brand: "Acme",
      codeLength: 6,
      validitySeconds: 600,
      guard: "monitor",
      allow: [],
    });
    const full = { domain, appHash, countries: ["GB"], allow: ["+4477"], texts: { "zh-Hant": "{code}" } };
    expect(SaveVerificationProfileRequest.parse({ brand: "Acme", ...full })).toMatchObject({
      ...full,
      allow: ["4477"],
    });
  });
});
