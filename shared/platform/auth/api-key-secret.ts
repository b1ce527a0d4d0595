import { createHash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

const prefix = "nn_";
const testPrefix = "nn_test_";
const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const randomLength = 32;
const checksumLength = 6;
const pattern = new RegExp(`^(${testPrefix}|${prefix})[0-9A-Za-z]{${randomLength + checksumLength}}$`);

/**
 * Returns a new API key: `nn_`, or `nn_test_` for a test key, 32 random base62 characters (190 bits) and 6 characters of
 * checksum.
 */
export function newApiKeySecret({ isTest = false } = {}): string {
  let random = "";
  for (let i = 0; i < randomLength; i += 1) random += base62.charAt(randomInt(base62.length));
  return (isTest ? testPrefix : prefix) + random + checksum(random);
}

/** Whether a string has the form of an API key. This rejects mistyped keys without reading the table. */
export function isApiKeySecret(candidate: string): boolean {
  if (!pattern.test(candidate)) return false;
  const random = candidate.slice(-(randomLength + checksumLength), -checksumLength);
  return candidate.endsWith(checksum(random));
}

/** Returns the hash that the table stores. A key is random enough that a plain SHA-256 cannot be reversed. */
export function hashApiKeySecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** Returns the first characters of a key, which distinguish keys in a list. */
export function apiKeyHint(secret: string): string {
  const { length } = secret.startsWith(testPrefix) ? testPrefix : prefix;
  return `${secret.slice(0, length + 4)}…`;
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
