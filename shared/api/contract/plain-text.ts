/*
 * The characters of numbers and codes that people type or paste.
 */

/**
 * Returns a text with one form of each character: digits of all scripts become 0 to 9, and wide letters narrow ones. Characters
 * that no one sees are left out, such as marks of direction.
 */
export function plainText(text: string): string {
  return text
    .normalize("NFKC")
    .replaceAll(/\p{Cf}/gu, "")
    .replaceAll(/\p{Nd}/gu, valueOfDigit);
}

const digitsOfScript = 10;

/** The value of a digit. Unicode has the ten digits of a script in one row, and often those of several scripts. */
function valueOfDigit(digit: string): string {
  let value = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint((digit.codePointAt(0) ?? 0) - value - 1))) value += 1;
  return String(value % digitsOfScript);
}

/**
 * Returns a code as it is compared: its letters and digits, whatever script, case and marks a person typed them with.
 * @param isNumeric whether it has digits only, so that words beside them do not count, as in `G-123456`
 */
export function typedCode(text: string, isNumeric = false): string {
  const plain = plainText(text);
  const code = isNumeric ? plain.replaceAll(/(?<![\p{L}\d])\p{L}+(?![\p{L}\d])/gu, "") : plain;
  return code.replaceAll(/[^\p{L}\p{N}]/gu, "").toUpperCase();
}
