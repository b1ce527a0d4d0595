import type { KeyObject } from "node:crypto";

import type { JWTVerifyOptions, JWTVerifyResult } from "jose";
import { JWTExpired } from "jose/errors";
import { jwtVerify } from "jose/jwt/verify";

/*
 * The check of signed tokens. It is imported with the first token. In a bundle it is a separate file, which a function
 * does not load for API keys. That file has its own copy of each import: keep no state here, and import no module that does.
 */

/** Returns the content of a token; undefined when it is forged or foreign. */
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
