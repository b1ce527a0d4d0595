import { expect, it } from "vitest";

import {
  isSealedWith,
  SealedWithAnotherKey,
  sealingKeyIds,
  sealText,
  unsealText,
} from "../../shared/platform/auth/sealed-text.ts";

const key = "k".repeat(64);
const place = "webhook secret of org_1 whk_1";

it("a sealed text is unsealed completely, and is different each time", () => {
  for (const text of ["", "whsec_abc+/=", "Grüße 👋"]) {
    const [one, other] = [sealText(key, text, place), sealText(key, text, place)];
    expect(one).not.toBe(other);
    expect([one, other].map((sealed) => unsealText(key, sealed, place))).toEqual([text, text]);
  }
});

it("a sealed text is for its own place only", () => {
  const sealed = sealText(key, "secret", place);
  expect(() => unsealText(key, sealed, "webhook secret of org_2 whk_1")).toThrow("unable to authenticate");
});

it("a changed bit or a missing tag makes it invalid", () => {
  const [form, keyId, body = ""] = sealText(key, "secret", place).split(".");
  const bytes = Buffer.from(body, "base64url");
  const withBytes = (changed: Uint8Array): string =>
    [form, keyId, Buffer.from(changed).toString("base64url")].join(".");
  for (let index = 0; index < bytes.length; index += 1) {
    const changed = bytes.map((byte, at) => (at === index ? byte ^ 1 : byte));
    expect(() => unsealText(key, withBytes(changed), place), String(index)).toThrow("unable to authenticate");
  }
  for (const length of [0, 11, 12, 16, 27, bytes.length - 1]) {
    expect(() => unsealText(key, withBytes(bytes.subarray(0, length)), place), String(length)).toThrow(
      /^(Invalid|Unsupported)/,
    );
  }
});

it("the first of several keys seals, and all of them unseal", () => {
  const [old, latest] = [key, "n".repeat(64)];
  const sealed = sealText(old, "secret", place);
  const both = `keys ${latest} ${old}`;
  expect(unsealText(both, sealed, place)).toBe("secret");
  const again = sealText(both, "secret", place);
  expect([isSealedWith(both, sealed), isSealedWith(latest, again), isSealedWith(old, again)]).toEqual([
    true,
    true,
    false,
  ]);
  expect(unsealText(`keys ${old} ${latest}`, again, place)).toBe("secret");
  expect(() => unsealText(`keys ${latest} ${"o".repeat(64)}`, sealed, place)).toThrow(SealedWithAnotherKey);
  expect(sealingKeyIds(both)).toEqual([sealingKeyIds(latest)[0], sealingKeyIds(old)[0]]);
  // A single key may have spaces, and a short one of several is a mistake.
  const spaced = `a key ${key}`;
  expect(unsealText(spaced, sealText(spaced, "secret", place), place)).toBe("secret");
  expect(unsealText(`keys  ${latest} ${old}\n`, sealed, place)).toBe("secret");
  for (const wrong of [`keys ${latest} short`, "keys short"]) {
    expect(() => sealText(wrong, "secret", place)).toThrow("each of several keys must have");
  }
});

it("a replaced key and a changed text are different errors, and neither error shows the text", () => {
  const sealed = sealText(key, "secret", place);
  const other = "o".repeat(64);
  expect([isSealedWith(key, sealed), isSealedWith(other, sealed)]).toEqual([true, false]);
  expect(() => unsealText(other, sealed, place)).toThrow(SealedWithAnotherKey);
  const content = Buffer.from(sealed.split(".")[2] ?? "", "base64url").toString("latin1");
  for (const hidden of ["secret", key.slice(0, 8)]) expect(sealed + content).not.toContain(hidden);
});
