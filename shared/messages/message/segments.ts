import type { Encoding } from "../../api/contract/sms.ts";

/** The GSM 7-bit default alphabet (3GPP TS 23.038, section 6.2.1) without its escape character. */
const basicCharacters = new Set(
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?" +
    "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà",
);

/** The extension table (section 6.2.1.1): each of these is sent as an escape and a second septet. */
const extensionCharacters = new Set("\f^{}\\[~]|€");

/** The capacity of a message with one segment, and of each segment of a longer one (TS 23.040). */
const capacities: Record<Encoding, { readonly single: number; readonly part: number }> = {
  "GSM-7": { single: 160, part: 153 },
  "UCS-2": { single: 70, part: 67 },
};

/**
 * Returns how a text is sent: in GSM-7 if every character allows it and UCS-2 is not required, otherwise in UCS-2. No
 * character is ever replaced by a similar one.
 */
export function segmentsOf(
  text: string,
  options: { unicode: boolean },
): { encoding: Encoding; segments: number } {
  const encoding = options.unicode || !isGsm7(text) ? "UCS-2" : "GSM-7";
  return { encoding, segments: countSegments(text, encoding) };
}

function isGsm7(text: string): boolean {
  for (const character of text) {
    if (!basicCharacters.has(character) && !extensionCharacters.has(character)) return false;
  }
  return true;
}

function countSegments(text: string, encoding: Encoding): number {
  const { single, part } = capacities[encoding];
  let total = 0;
  let segments = 1;
  let used = 0;
  for (const character of text) {
    const units = unitsOf(character, encoding);
    total += units;
    // An escape sequence or a surrogate pair is not cut in two: it moves to the next part as a whole.
    if (used + units > part) {
      segments += 1;
      used = 0;
    }
    used += units;
  }
  return total <= single ? 1 : segments;
}

/** Septets in GSM-7, 16-bit units in UCS-2. */
function unitsOf(character: string, encoding: Encoding): number {
  if (encoding === "UCS-2") return character.length;
  return extensionCharacters.has(character) ? 2 : 1;
}
