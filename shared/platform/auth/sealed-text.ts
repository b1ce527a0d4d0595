import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from "node:crypto";

/*
 * Text in the table that only the holder of a key of the stage can read: AES-256-GCM (NIST SP 800-38D). In addition to the
 * text, it authenticates the place of the text, so that no text can replace another.
 */

const form = "v1";
const cipher = "aes-256-gcm";
const keyBytes = 32;
/** Random, which is safe for 2^32 texts of a key. */
const nonceBytes = 12;
const tagBytes = 16;
/** Enough to distinguish the few keys of a stage. */
const keyIdLength = 8;

const leastKeyLength = 32;

/** A text was sealed with another key than the current one. */
export class SealedWithAnotherKey extends Error {
  constructor() {
    super("the text was sealed with another key");
  }
}

/**
 * Returns the keys in a secret: one key, or `keys` and several, with spaces in between. The first one seals, and all of them
 * unseal. So a new key replaces an old one while the texts of the old one are still in use.
 * @throws Error when one of several keys is too short
 */
function keysIn(keyText: string): readonly [first: string, ...others: string[]] {
  // A value from a file ends with a line break.
  const [word, first, ...others] = keyText.trim().split(/\s+/);
  // No single key begins with this word and a space.
  if (word !== "keys" || first === undefined) return [keyText];
  if ([first, ...others].some(({ length }) => length < leastKeyLength)) {
    throw new Error(`each of several keys must have at least ${leastKeyLength} characters`);
  }
  return [first, ...others];
}

/**
 * Seals a text. The result has three parts with dots in between: the form, the key id, and in base64url the nonce, ciphertext
 * and tag.
 * @param keyText any text that no one can guess
 * @param place the purpose of the text, which is unsealed for the same place only
 */
export function sealText(keyText: string, text: string, place: string): string {
  const nonce = randomBytes(nonceBytes);
  const [key] = keysIn(keyText);
  const encryption = createCipheriv(cipher, keyOf(key), nonce).setAAD(Buffer.from(place));
  const sealed = [nonce, encryption.update(text, "utf8"), encryption.final(), encryption.getAuthTag()];
  return [form, idOf(key), Buffer.concat(sealed).toString("base64url")].join(".");
}

/**
 * Returns the text that was sealed.
 * @throws SealedWithAnotherKey; Error when it was changed, or sealed for another place
 */
export function unsealText(keyText: string, sealed: string, place: string): string {
  const key = keysIn(keyText).find((each) => isSealedWith(each, sealed));
  if (key === undefined) throw new SealedWithAnotherKey();
  const bytes = Buffer.from(sealed.split(".")[2] ?? "", "base64url");
  const decryption = createDecipheriv(cipher, keyOf(key), bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  });
  decryption.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(-tagBytes));
  const text = decryption.update(bytes.subarray(nonceBytes, -tagBytes));
  return Buffer.concat([text, decryption.final()]).toString("utf8");
}

/** Whether a text was sealed with one of the keys. */
export function isSealedWith(keyText: string, sealed: string): boolean {
  return sealingKeyIds(keyText).some((id) => sealed.startsWith(`${form}.${id}.`));
}

function keyOf(keyText: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", keyText, "", "sealed text", keyBytes));
}

/**
 * Returns the HMAC-SHA256 of a text with the key of an id, in hex. It reveals nothing about sealed texts.
 * @throws SealedWithAnotherKey
 */
export function macOf(keyText: string, keyId: string, text: string): string {
  const key = keysIn(keyText).find((each) => idOf(each) === keyId);
  if (key === undefined) throw new SealedWithAnotherKey();
  const macKey = new Uint8Array(hkdfSync("sha256", key, "", "message authentication", keyBytes));
  return createHmac("sha256", macKey).update(text).digest("hex");
}

/** Returns the ids of the keys in a secret, that of the sealing key first. */
export function sealingKeyIds(keyText: string): readonly [first: string, ...others: string[]] {
  const [first, ...others] = keysIn(keyText);
  return [idOf(first), ...others.map(idOf)];
}

/** Returns the id of a key, which reveals nothing about it: a hash of the derived key, not of its text. */
function idOf(key: string): string {
  return createHash("sha256").update(keyOf(key)).digest("hex").slice(0, keyIdLength);
}
