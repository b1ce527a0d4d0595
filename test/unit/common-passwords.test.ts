import { readFile } from "node:fs/promises";

import { dictionary } from "@zxcvbn-ts/language-common";
import { expect, it } from "vitest";

import { packedFile, packedModule, packedPasswords } from "../../infra/build/common-passwords.ts";
import { isCommonPassword } from "../../shared/accounts/passwords/common-passwords.ts";

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
])("%s is one of the most common guesses", async (password) => {
  expect(await isCommonPassword(password, email)).toBe(true);
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
])("%s is not", async (password) => {
  expect(await isCommonPassword(password, email)).toBe(false);
});

it("an email without a name does not reject a password without letters", async () => {
  expect(await isCommonPassword("8203-4417-9951", "42@example.com")).toBe(false);
});

it("every password of the published list that is long enough is rejected", async () => {
  const published = dictionary["passwords-common"].filter(({ length }) => length >= 8);
  expect(published.length).toBeGreaterThan(10_000);
  const letThrough: string[] = [];
  for (const each of published) if (!(await isCommonPassword(each, email))) letThrough.push(each);
  expect(letThrough).toEqual([]);
  // Some of those that a short list of words would not have.
  for (const each of ["starwars", "steelers", "cocacola", "12344321", "redskins"]) {
    expect(published).toContain(each);
  }
});

it("the packed list is the published list", async () => {
  expect(await readFile(packedFile, "utf8")).toBe(packedModule());
  expect(packedPasswords().length).toBeGreaterThan(10_000);
});
