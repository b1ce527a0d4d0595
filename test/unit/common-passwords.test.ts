import { expect, it } from "vitest";

import { isCommonPassword } from "../../shared/accounts/common-passwords.ts";

const email = "ada.lovelace@engines.example";

it.each([
  "password",
  "PASSWORD",
  "Password1",
  "p@ssw0rd",
  "P4$$w0rd!2026",
  "12345678",
  "987654321",
  "aaaaaaaa",
  "abcabcabc",
  "12341234",
  "qwertyuiop",
  "poiuytrewq",
  "1qaz2wsx",
  "qwerty123456",
  "1234abcd",
  "asdfghjkl",
  "iloveyou",
  "!!!dragon!!!",
  "12345678sunshine",
  "ada.lovelace@engines.example",
  "Ada.Lovelace",
  "ada.lovelace1",
  "engines.example",
  "Engines2026!",
])("%s is one of the first that somebody tries who guesses", (password) => {
  expect(isCommonPassword(password, email)).toBe(true);
});

it.each([
  "correct horse",
  "correct horse battery",
  "lovelace computes",
  "tr0ub4dor&3",
  "qwertysunshine",
  "xK7#pQ2m",
  "123456789abc987654321",
  "8203-4417-9951",
  "Grüße aus Köln",
  "密码安全很重要啊",
])("%s is not", (password) => {
  expect(isCommonPassword(password, email)).toBe(false);
});

it("an email without a name before it is no reason to refuse what has no letters", () => {
  expect(isCommonPassword("8203-4417-9951", "42@example.com")).toBe(false);
});
