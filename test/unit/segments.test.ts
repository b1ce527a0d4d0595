import { expect, it } from "vitest";

import { segmentsOf } from "../../shared/messages/message/segments.ts";

const basic =
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡" +
  "ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";

it.each([
  ["one character", "a", "GSM-7", 1],
  ["160 characters", "a".repeat(160), "GSM-7", 1],
  ["161 characters", "a".repeat(161), "GSM-7", 2],
  ["306 characters", "a".repeat(306), "GSM-7", 2],
  ["307 characters", "a".repeat(307), "GSM-7", 3],
  ["the whole basic alphabet", basic, "GSM-7", 1],
  ["80 euro signs, which count two", "€".repeat(80), "GSM-7", 1],
  ["81 euro signs", "€".repeat(81), "GSM-7", 2],
  ["the extension table", "\f^{}\\[~]|€".repeat(8), "GSM-7", 1],
  ["an escape sequence that would be cut", `${"a".repeat(152)}€${"a".repeat(152)}`, "GSM-7", 3],
  ["a character outside GSM-7", "a".repeat(69) + "ç", "UCS-2", 1],
  ["70 UCS-2 characters", "你".repeat(70), "UCS-2", 1],
  ["71 UCS-2 characters", "你".repeat(71), "UCS-2", 2],
  ["134 UCS-2 characters", "你".repeat(134), "UCS-2", 2],
  ["135 UCS-2 characters", "你".repeat(135), "UCS-2", 3],
  ["35 emoji, which count two", "😀".repeat(35), "UCS-2", 1],
  ["36 emoji", "😀".repeat(36), "UCS-2", 2],
  ["a surrogate pair that would be cut", `${"你".repeat(66)}😀${"你".repeat(66)}`, "UCS-2", 3],
] as const)("%s", (_name, text, encoding, segments) => {
  expect(segmentsOf(text, { unicode: false })).toEqual({ encoding, segments });
});

it("UCS-2 is used on request", () => {
  expect(segmentsOf("a".repeat(71), { unicode: true })).toEqual({ encoding: "UCS-2", segments: 2 });
});

it("the basic alphabet has the 127 characters beside the escape", () => {
  expect(new Set(basic).size).toBe(127);
});
