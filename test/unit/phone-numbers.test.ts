import { expect, it } from "vitest";

import {
  GivenPhoneNumber,
  PhoneNumber,
  PhoneNumberInQuery,
  problemOfLength,
} from "../../shared/api/contract/phone-numbers.ts";
import { PricesQuery } from "../../shared/api/contract/prices.ts";
import { isPossibleNumber } from "../../shared/api/contract/written-numbers.ts";

/** Returns the message for a rejected number; undefined for a valid one. */
function problemOf(number: unknown, schema = GivenPhoneNumber): string | undefined {
  return schema
    .safeParse(number)
    .error?.issues.map(({ message }) => message)
    .join("; ");
}

const numbers = ["447700900123", "15551234567", "15005550000", "2904567", "431234567890123", "870773112345"];

it.each([...numbers, "1234567890", "1500555", "9999999999"])(
  "%s is taken from lists with and without its plus sign, and for messages only without",
  (number) => {
    expect(GivenPhoneNumber.parse(number)).toBe(number);
    expect(GivenPhoneNumber.parse(`+${number}`)).toBe(number);
    expect(PhoneNumber.parse(number)).toBe(number);
    const hint = numbers.includes(number) ? `; did you mean ${number}?` : "";
    expect(problemOf(`+${number}`, PhoneNumber)).toBe(form.replace("with or without", "without") + hint);
    expect(isPossibleNumber(number)).toBe(numbers.includes(number));
  },
);

it("a plus sign in a query string may come as the space that it decodes to", () => {
  for (const to of ["447700900123", "+447700900123", " 447700900123"]) {
    expect(PhoneNumberInQuery.parse(to)).toBe("447700900123");
    expect(PricesQuery.parse({ prefix: to }).prefix).toBe("447700900123");
  }
  expect(PhoneNumberInQuery.safeParse("0500555").success).toBe(false);
});

const form =
  "must be the country code and the number in digits, with or without a plus sign, such as 447700900123";

it.each([
  "+44 7700 900123",
  "44-7700-900123",
  "0044 (0) 7700.900123",
  "tel:+447700900123",
  "\u{202a}+44 7700 900123\u{202c}",
  "+٤٤٧٧٠٠٩٠٠١٢٣",
  "00447700900123",
  "+44 (0)7700 900123",
  "+44 07700 900123",
  "447700900123\n",
  "44\u{2011}7700\u{a0}900123",
  "４４７７００９００１２３",
])("%j is rejected with the number that was probably meant", (text) => {
  expect(problemOf(text)).toBe(`${form}; did you mean 447700900123?`);
});

it.each([
  "07700900123",
  "1 555",
  "(206) 555-0100",
  "447700900123/124",
  "++447700900123",
  "447700900123,447700900124",
  "",
])("%j is rejected without a suggestion", (text) => {
  expect(problemOf(text)).toBe(form);
});

it("reports the possible lengths for an impossible one", () => {
  const ofUnitedStates = "cannot be a phone number: those of country code 1 have 10 digits after it";
  for (const number of ["1500555", "12025559", "120255501001234"])
    expect(problemOfLength(number)).toBe(ofUnitedStates);
  expect(problemOfLength("4477009")).toBe(
    "cannot be a phone number: those of country code 44 have 7, 9 or 10 digits after it",
  );
  // With the 0 that callers inside the country dial first.
  expect(problemOfLength("4407700900123")).toBe(
    "cannot be a phone number: those of country code 44 have 7, 9 or 10 digits after it, such as 447700900123",
  );
  for (const number of ["9991234567", "2101234567"]) {
    expect(problemOfLength(number)).toBe("begins with no country code that exists");
  }
  expect(problemOfLength("447700900123")).toBeUndefined();
});
