/*
 * Texts at the limits of segments, by their names. Each arrives whole, in as many parts as are charged.
 */

const emoji = "😀";
const family = "👨‍👩‍👧‍👦";

/** Repeats a letter so often that what follows is at the border of two segments. */
function atBorder(letter: string, counts: readonly number[], crossing: readonly string[], rest: string) {
  return counts.flatMap((count) =>
    crossing.map(
      (each) => [`${letter} × ${count}, ${each}`, `${letter.repeat(count)}${each}${rest}`] as const,
    ),
  );
}

export const longTexts: readonly (readonly [name: string, text: string])[] = [
  ...atBorder("a", [151, 152, 153, 158, 159, 160, 304, 305, 306], ["€", "[x"], "b".repeat(40)),
  ...atBorder("я", [65, 66, 67, 69, 132, 133, 134], [emoji, family, "é"], "б".repeat(30)),
  ["80 euro signs", "€".repeat(80)],
  ["81 euro signs", "€".repeat(81)],
  ["153 brackets", "]".repeat(153)],
  ["70 emoji", emoji.repeat(70)],
  ["35 emoji", emoji.repeat(35)],
  ["30 line ends", "line\r\n".repeat(30)],
  ["81 page breaks", "\f".repeat(81)],
  [
    "the whole alphabet of GSM-7",
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà",
  ],
  ["its extension", "^{}\\[~]|€"],
  ["1,530 of GSM-7", "a".repeat(1_530)],
  ["1,600 of GSM-7", "a".repeat(1_600)],
  ["1,600 of UCS-2", "я".repeat(1_600)],
  ["670 of UCS-2", "я".repeat(670)],
  ["a null character", "a\u0000b"],
  ["an escape", "a\u001Bb"],
  ["a tab", "a\tb"],
  ["1,005 of UCS-2", "я".repeat(1_005)],
  ["1,600 emoji", emoji.repeat(1_600)],
];
