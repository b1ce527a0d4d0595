import { compare, hash, truncates } from "bcryptjs";

import { minPasswordCharacters } from "../contract/accounts.ts";
import { invalidField } from "../contract/errors.ts";

/** About 80 ms of one CPU. OWASP's password storage guidance asks for at least 10. */
const cost = 10;

/** The hash of a password that nobody has, at the cost above. */
export const nobodysHash = "$2b$10$rxxVpIOtofGi56MSPktmtOb.rSkvR4s/NqqggDpyBATnMpg1F.O8q";

/**
 * Hashes a new password.
 * @param field of the request that it came in
 * @throws ApiError VALIDATION_ERROR for one that bcrypt would silently cut at 72 bytes
 */
export async function hashPassword(password: string, field = "password"): Promise<string> {
  if (truncates(password)) throw invalidField(field, "must be at most 72 bytes long in UTF-8");
  return hash(password, cost);
}

/** Does the same work whether or not there is a hash, so that the time tells nothing about the account. */
export async function passwordMatches(password: string, passwordHash: string | undefined): Promise<boolean> {
  const matches = await compare(password, passwordHash ?? nobodysHash);
  return matches && passwordHash !== undefined && isTakenWhole(password);
}

/**
 * Whether bcrypt tells a password from all others: it reads 72 bytes, and takes a NUL for the end, behind which it begins
 * anew. Eight of them, which registration took once, are to it the same as nothing at all.
 */
function isTakenWhole(password: string): boolean {
  return !truncates(password) && !password.includes("\0") && password.length >= minPasswordCharacters;
}
