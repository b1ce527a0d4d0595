import { createHash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

const prefix = "nn_";
const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const randomLength = 32;
const checksumLength = 6;
const pattern = new RegExp(`^${prefix}[0-9A-Za-z]{${randomLength + checksumLength}}$`);

/** A new API key: `nn_`, 32 random base62 characters (190 bits) and 6 characters of checksum. */
export function newApiKeySecret(): string {
  let random = "";
  for (let i = 0; i < randomLength; i += 1) random += base62.charAt(randomInt(base62.length));
  return prefix + random + checksum(random);
}

/** Whether a string can be an API key at all. A mistyped key is refused here, without reading the table. */
export function isApiKeySecret(candidate: string): boolean {
  if (!pattern.test(candidate)) return false;
  const random = candidate.slice(prefix.length, prefix.length + randomLength);
  return candidate.endsWith(checksum(random));
}

/** What is stored of an API key. It is random enough that a plain SHA-256 cannot be reversed. */
export function hashApiKeySecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** The first characters of a key, to tell one from another in a list. */
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
