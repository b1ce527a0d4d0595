import { validationError } from "./service-error.ts";

// Numbers of DynamoDB: exact decimals of up to 38 significant digits, from 1E-130 to 9.99…E+125. Their normal form as text
// has no exponent and no leading or trailing zeros.

const maxDigits = 38;
const minExponent = -130;
const maxExponent = 125;

/** `coefficient` times ten to the power of `exponent`. */
interface Decimal {
  readonly coefficient: bigint;
  readonly exponent: number;
}

const written = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;
/** Matches integers in normal form, which nearly all numbers are. */
const plainInteger = /^(?:0|-?[1-9]\d{0,36})$/;
/** The longest text whose double keeps the order of numbers. */
const maxCharactersOfDouble = 15;
/** A longer exponent is out of range in any case. */
const maxExponentCharacters = 6;

/**
 * Returns a number in its normal form, which DynamoDB stores and returns.
 * @throws ServiceError for an invalid number, too many digits, or a number that is too large or too small
 */
export function normalizeNumber(text: string): string {
  return plainInteger.test(text) ? text : format(parse(text));
}

/** @returns less than 0, 0 or more than 0; both numbers are in normal form */
export function compareNumbers(one: string, other: string): number {
  if (one === other) return 0;
  if (one.length <= maxCharactersOfDouble && other.length <= maxCharactersOfDouble) {
    return Number(one) - Number(other);
  }
  return sortableNumber(one) < sortableNumber(other) ? -1 : 1;
}

/** @throws ServiceError when the sum has too many digits, or is too large or too small */
export function addNumbers(one: string, other: string): string {
  const quick = Number(one) + Number(other);
  if (plainInteger.test(one) && plainInteger.test(other) && Number.isSafeInteger(quick)) {
    if (Number.isSafeInteger(Number(one)) && Number.isSafeInteger(Number(other))) return String(quick);
  }
  const [left, right] = [parse(one), parse(other)];
  const exponent = Math.min(left.exponent, right.exponent);
  const sum = scaled(left, exponent) + scaled(right, exponent);
  return normalizeNumber(`${sum}E${exponent}`);
}

/** Returns the number with the opposite sign. */
export function negateNumber(number: string): string {
  if (number === "0") return number;
  return number.startsWith("-") ? number.slice(1) : `-${number}`;
}

/** Returns a text whose order by bytes is the order of the numbers. */
export function sortableNumber(number: string): string {
  const { coefficient, exponent } = parse(number);
  if (coefficient === 0n) return "1";
  const isNegative = coefficient < 0n;
  const digits = String(isNegative ? -coefficient : coefficient);
  // Three digits for the power of ten of the first digit, from 0 up.
  const magnitude = String(digits.length + exponent - minExponent).padStart(3, "0");
  if (!isNegative) return `2${magnitude}${digits}`;
  // A longer negative number is smaller: "~" sorts after all digits.
  return `0${(magnitude + digits).replace(/\d/g, (digit) => String(9 - Number(digit)))}~`;
}

/** Returns the size of a number in bytes: one for each two digits, and one more. */
export function numberSize(number: string): number {
  const digits = number.replace(/^-?0*\.?0*|\./g, "").replace(/0+$/, "");
  return Math.ceil(digits.length / 2) + 1 + (number.startsWith("-") ? 1 : 0);
}

function parse(text: string): Decimal {
  const match = written.exec(text);
  const [, sign = "", whole = "", fraction = "", power = "0"] = match ?? [];
  if (match === null || whole + fraction === "") {
    throw validationError(
      text === ""
        ? "The parameter cannot be converted to a numeric value"
        : `The parameter cannot be converted to a numeric value: ${text}`,
    );
  }
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return { coefficient: 0n, exponent: 0 };
  const bounded = power.length > maxExponentCharacters ? (power.startsWith("-") ? -1e6 : 1e6) : Number(power);
  const exponent = bounded - fraction.length + (digits.length - significant.length);
  checkRange(significant.length, exponent);
  const coefficient = BigInt(significant);
  return { coefficient: sign === "-" ? -coefficient : coefficient, exponent };
}

function checkRange(digits: number, exponent: number): void {
  const magnitude = digits + exponent - 1;
  if (magnitude > maxExponent) {
    throw validationError(
      "Number overflow. Attempting to store a number with magnitude larger than supported range",
    );
  }
  if (magnitude < minExponent) {
    throw validationError(
      "Number underflow. Attempting to store a number with magnitude smaller than supported range",
    );
  }
  if (digits > maxDigits) {
    throw validationError("Attempting to store more than 38 significant digits in a Number");
  }
}

function scaled({ coefficient, exponent }: Decimal, to: number): bigint {
  return coefficient * 10n ** BigInt(exponent - to);
}

function format({ coefficient, exponent }: Decimal): string {
  if (coefficient === 0n) return "0";
  const sign = coefficient < 0n ? "-" : "";
  const digits = String(coefficient < 0n ? -coefficient : coefficient);
  if (exponent >= 0) return sign + digits + "0".repeat(exponent);
  const padded = digits.padStart(1 - exponent, "0");
  return `${sign}${padded.slice(0, exponent)}.${padded.slice(exponent)}`;
}
