import { compare, hash, truncates } from "bcryptjs";

import { minPasswordCharacters } from "../../api/contract/accounts.ts";
import { invalidField } from "../../api/contract/errors.ts";

/** Takes about 80 ms of one CPU. OWASP's password storage guidance recommends at least 10. */
const cost = 10;

/** A hash that no password has, with the cost above. */
export const nobodysHash = "$2b$10$rxxVpIOtofGi56MSPktmtOb.rSkvR4s/NqqggDpyBATnMpg1F.O8q";

/**
 * Hashes a new password in the normal form NFC, because systems differ in the characters that they type for `ä` (RFC 8265).
 * @param field the field of the request that has the password
 * @throws ApiError VALIDATION_ERROR for a password that bcrypt would silently cut at 72 bytes
 */
export async function hashPassword(password: string, field = "password"): Promise<string> {
  const normalized = password.normalize("NFC");
  if (truncates(normalized)) throw invalidField(field, "must be at most 72 bytes long in UTF-8");
  return hash(normalized, cost);
}

/**
 * Checks a password. Does the same work without a hash, so that the time does not show whether the account exists. Release
 * 0.4.0 hashed passwords as they were typed.
 */
export async function passwordMatches(password: string, passwordHash: string | undefined): Promise<boolean> {
  let matches = false;
  for (const form of new Set([password.normalize("NFC"), password])) {
    const isEqual = await compare(form, passwordHash ?? nobodysHash);
    matches ||= isEqual && passwordHash !== undefined && isTakenWhole(form);
  }
  return matches;
}

/**
 * Reports whether bcrypt distinguishes a password from all others. It reads 72 bytes, and repeats the password after a
 * NUL, which it takes for the end. Registration once accepted eight NULs, which bcrypt does not distinguish from an
 * empty password.
 */
function isTakenWhole(password: string): boolean {
  return !truncates(password) && !password.includes("\0") && password.length >= minPasswordCharacters;
}
