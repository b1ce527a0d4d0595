import { expect, it } from "vitest";

import { SenderId } from "../../shared/api/contract/senders.ts";
import {
  protectedNames,
  resemblanceOf,
  resemblanceOfProtected,
} from "../../shared/messages/sender-ids/look-alikes.ts";

it.each([
  ["MYBANK", "mybank", "looks the same"],
  ["MYBANK", "MY8ANK", "looks the same"],
  ["MYBANKl", "MYBANK1", "looks the same"],
  ["MYBANKl", "MYBANKI", "looks the same"],
  ["POST", "P0ST", "looks the same"],
  ["POST", "PO5T", "looks the same"],
  ["Modern", "Modem", "looks the same"],
  ["vvatch", "watch", "looks the same"],
  ["cloud", "doud", "looks the same"],
  ["MYBANK", "MYB4NK", "looks the same"],
  ["MYBANK", "MYBANKl", "differs in one character"],
  ["MYBANK", "MYBAMK", "differs in one character"],
  ["MYBANKX", "MYBANX", "differs in one character"],
])("%s and %s: %s", (one, other, resemblance) => {
  expect(resemblanceOf(one, other)).toBe(resemblance);
  expect(resemblanceOf(other, one)).toBe(resemblance);
});

it.each([
  ["ACME", "ACNE"],
  ["MYBANK", "MYBARN"],
  ["ADASHOP", "BOBSHOP"],
  ["ORDERS", "BORDER"],
])("%s and %s do not resemble each other", (one, other) => {
  expect(resemblanceOf(one, other)).toBeUndefined();
});

it.each([
  ["PayPa1", "PAYPAL", "looks the same"],
  ["PAYPALS", "PAYPAL", "differs in one character"],
  ["MyPayPaI", "PAYPAL", "contains it"],
  ["IR5", "IRS", "looks the same"],
  ["FIRSTBANK", "IRS", undefined],
])("%s and the protected name %s: %s", (senderId, protectedName, resemblance) => {
  expect(resemblanceOfProtected(senderId, protectedName)).toBe(resemblance);
});

it("each protected name is a possible sender ID in upper case, and is listed once", () => {
  for (const name of protectedNames) expect(SenderId.parse(name)).toBe(name.toUpperCase());
  expect(new Set(protectedNames).size).toBe(protectedNames.length);
});
