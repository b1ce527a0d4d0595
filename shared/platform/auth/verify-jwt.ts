import type { KeyObject } from "node:crypto";

import type { JWTVerifyOptions, JWTVerifyResult } from "jose";
import { JWTExpired } from "jose/errors";
import { jwtVerify } from "jose/jwt/verify";

/*
 * The check of signed tokens. It is imported when the first token comes: in a bundle it is a file of its own, which a
 * function that is called with API keys never loads. The file has its own copies of what it imports, so that nothing here
 * may keep anything, or import what does.
 */

/** What a token carries; undefined when it is forged or foreign. */
export async function verifyJwt(
  token: string,
  key: KeyObject,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult | "expired" | undefined> {
  try {
    return await jwtVerify(token, key, options);
  } catch (error) {
    return error instanceof JWTExpired ? "expired" : undefined;
  }
}
