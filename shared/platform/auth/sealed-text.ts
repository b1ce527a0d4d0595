import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";

/*
 * Text that the table keeps and that only those read who have a key of the stage: AES-256-GCM (NIST SP 800-38D). Beside
 * the text it covers the place that the text is for, so that no text can be put into the place of another.
 */

const form = "v1";
const cipher = "aes-256-gcm";
const keyBytes = 32;
/** Random, which a key allows for 2^32 texts. */
const nonceBytes = 12;
const tagBytes = 16;
/** Enough to tell the few keys that a stage ever has. */
const keyIdLength = 8;

/** The key that a text was sealed with is not the one that is there now. */
export class SealedWithAnotherKey extends Error {
  constructor() {
    super("the text was sealed with another key");
  }
}

/**
 * Seals a text: the form, the id of the key, and in base64url the nonce, the ciphertext and the tag, with dots between.
 * @param keyText any text that nobody can guess
 * @param place what the text is for; it is unsealed for the same place only
 */
export function sealText(keyText: string, text: string, place: string): string {
  const nonce = randomBytes(nonceBytes);
  const encryption = createCipheriv(cipher, keyOf(keyText), nonce).setAAD(Buffer.from(place));
  const sealed = [nonce, encryption.update(text, "utf8"), encryption.final(), encryption.getAuthTag()];
  return [form, sealingKeyId(keyText), Buffer.concat(sealed).toString("base64url")].join(".");
}

/**
 * The text that was sealed.
 * @throws SealedWithAnotherKey; Error when it was changed, or sealed for another place
 */
export function unsealText(keyText: string, sealed: string, place: string): string {
  if (!isSealedWith(keyText, sealed)) throw new SealedWithAnotherKey();
  const bytes = Buffer.from(sealed.split(".")[2] ?? "", "base64url");
  const decryption = createDecipheriv(cipher, keyOf(keyText), bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  });
  decryption.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(-tagBytes));
  const text = decryption.update(bytes.subarray(nonceBytes, -tagBytes));
  return Buffer.concat([text, decryption.final()]).toString("utf8");
}

/** Whether a text was sealed with this key. */
export function isSealedWith(keyText: string, sealed: string): boolean {
  return sealed.startsWith(`${form}.${sealingKeyId(keyText)}.`);
}

function keyOf(keyText: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", keyText, "", "sealed text", keyBytes));
}

/** Tells the key and nothing of it: it is a hash of what the key is made into, not of its text. */
export function sealingKeyId(keyText: string): string {
  return createHash("sha256").update(keyOf(keyText)).digest("hex").slice(0, keyIdLength);
}
