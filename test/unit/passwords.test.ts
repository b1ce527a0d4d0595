import { getRounds, hash as hashRaw } from "bcryptjs";
import { expect, it } from "vitest";

import { hashPassword, nobodysHash, passwordMatches } from "../../shared/accounts/passwords/hash.ts";

it("a password matches its own hash and no other", async () => {
  const hash = await hashPassword("correct horse");
  expect(await passwordMatches("correct horse", hash)).toBe(true);
  expect(await passwordMatches("correct horse ", hash)).toBe(false);
});

it("an unknown email costs the same work as a known one", async () => {
  const hash = await hashPassword("correct horse");
  expect(getRounds(nobodysHash)).toBe(getRounds(hash));
  expect(nobodysHash).toHaveLength(hash.length);
});

it("no password matches without an account", async () => {
  expect(await passwordMatches("", undefined)).toBe(false);
});

it("a password that bcrypt would cut never matches, though its first 72 bytes do", async () => {
  const hash = await hashPassword("x".repeat(72));
  expect(await passwordMatches("x".repeat(72), hash)).toBe(true);
  expect(await passwordMatches("x".repeat(73), hash)).toBe(false);
});

it("a password with a NUL matches nothing, and neither does one that bcrypt treats as equal", async () => {
  const hash = await hashPassword("\0".repeat(8));
  for (const password of ["", "\0", "\0".repeat(8)])
    expect(await passwordMatches(password, hash)).toBe(false);
  const repeated = await hashPassword("ab\0ab\0ab\0");
  expect(await passwordMatches("ab", repeated)).toBe(false);
});

it("a password matches in both normal forms, and a hash of release 0.4.0 in the form that was typed", async () => {
  const [composed, decomposed] = (["NFC", "NFD"] as const).map((form) =>
    "p\u00e4ssw\u00f6rd".normalize(form),
  );
  if (composed === undefined || decomposed === undefined) throw new Error("a form is missing");
  for (const registered of [composed, decomposed]) {
    const hash = await hashPassword(registered);
    expect(await passwordMatches(composed, hash)).toBe(true);
    expect(await passwordMatches(decomposed, hash)).toBe(true);
    expect(await passwordMatches("passwort", hash)).toBe(false);
  }
  const older = await hashRaw(decomposed, 4);
  expect(await passwordMatches(decomposed, older)).toBe(true);
  expect(await passwordMatches(decomposed, undefined)).toBe(false);
});
