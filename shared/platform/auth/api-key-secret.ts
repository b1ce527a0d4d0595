import { createHash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

const prefix = "nn_";
const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const randomLength = 32;
const checksumLength = 6;
const pattern = new RegExp(`^${prefix}[0-9A-Za-z]{${randomLength + checksumLength}}$`);

/** Returns a new API key: `nn_`, 32 random base62 characters (190 bits) and 6 characters of checksum. */
export function newApiKeySecret(): string {
  let random = "";
  for (let i = 0; i < randomLength; i += 1) random += base62.charAt(randomInt(base62.length));
  return prefix + random + checksum(random);
}

/** Whether a string has the form of an API key. This rejects mistyped keys without reading the table. */
export function isApiKeySecret(candidate: string): boolean {
  if (!pattern.test(candidate)) return false;
  const random = candidate.slice(prefix.length, prefix.length + randomLength);
  return candidate.endsWith(checksum(random));
}

/** Returns the hash that the table stores. A key is random enough that a plain SHA-256 cannot be reversed. */
export function hashApiKeySecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** Returns the first characters of a key, which distinguish keys in a list. */
export function apiKeyHint(secret: string): string {
  return `${secret.slice(0, prefix.length + 4)}…`;
}

function checksum(random: string): string {
  let rest = crc32(random);
  let digits = "";
  for (let i = 0; i < checksumLength; i += 1) {
    digits = base62.charAt(rest % base62.length) + digits;
    rest = Math.floor(rest / base62.length);
  }
  return digits;
}
