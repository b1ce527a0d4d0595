import { expect, it } from "vitest";

import {
  GivenPhoneNumber,
  KnownPhoneNumber,
  PhoneNumberInQuery,
} from "../../shared/contract/phone-numbers.ts";
import { PricesQuery } from "../../shared/contract/prices.ts";

/** Returns the message for a rejected number; undefined for a valid one. */
function problemOf(number: unknown): string | undefined {
  return GivenPhoneNumber.safeParse(number)
    .error?.issues.map(({ message }) => message)
    .join("; ");
}

it.each(["447700900123", "15551234567", "15005550000", "2904567", "431234567890123", "870773112345"])(
  "%s is taken with and without its plus sign, and kept without",
  (number) => {
    expect(GivenPhoneNumber.parse(number)).toBe(number);
    expect(GivenPhoneNumber.parse(`+${number}`)).toBe(number);
    expect(KnownPhoneNumber.parse(`+${number}`)).toBe(number);
  },
);

it("a plus sign in a query string may come as the space that it decodes to", () => {
  for (const to of ["447700900123", "+447700900123", " 447700900123"]) {
    expect(PhoneNumberInQuery.parse(to)).toBe("447700900123");
    expect(PricesQuery.parse({ prefix: to }).prefix).toBe("447700900123");
  }
  expect(PhoneNumberInQuery.safeParse("1500555").success).toBe(false);
});

const form =
  "must be the country code and the number in digits, with or without a plus sign, such as 447700900123";

it.each([
  "+44 7700 900123",
  "44-7700-900123",
  "(44) 7700.900123",
  "00447700900123",
  "+44 (0)7700 900123",
  "+44 07700 900123",
  "447700900123\n",
  "44\u{2011}7700\u{a0}900123",
  "４４７７００９００１２３",
])("%j is rejected with the number that was probably meant", (text) => {
  expect(problemOf(text)).toBe(`${form}; did you mean 447700900123?`);
});

it.each(["07700900123", "1 555", "tel:+447700900123", "++447700900123", "447700900123,447700900124", ""])(
  "%j is rejected without a suggestion",
  (text) => {
    expect(problemOf(text)).toBe(form);
  },
);

it("reports the possible lengths for an impossible one", () => {
  const ofUnitedStates = "cannot be a phone number: those of country code 1 have 10 digits after it";
  for (const number of ["1500555", "12025559", "120255501001234"])
    expect(problemOf(number)).toBe(ofUnitedStates);
  expect(problemOf("4477009")).toBe(
    "cannot be a phone number: those of country code 44 have 7, 9 or 10 digits after it",
  );
  // With the 0 that callers inside the country dial first.
  expect(problemOf("+4407700900123")).toBe(
    "cannot be a phone number: those of country code 44 have 7, 9 or 10 digits after it; did you mean 447700900123?",
  );
  for (const number of ["9991234567", "2101234567"]) {
    expect(problemOf(number)).toBe("begins with no country code that exists");
  }
});

it("a number is looked up whatever its length", () => {
  expect(KnownPhoneNumber.parse("1500555")).toBe("1500555");
});
