import { createHash, timingSafeEqual } from "node:crypto";

import { config } from "../config.ts";
import { Secret } from "./secret.ts";

const originKey = new Secret(config.originKeySecretId);

/**
 * Whether this is the key that CloudFront sends to the API. The comparison takes constant time.
 * @throws Error when the key cannot be loaded
 */
export async function isOriginKey(given: string): Promise<boolean> {
  return timingSafeEqual(digest(given), digest(await originKey.value()));
}

function digest(value: string): Buffer {
  return createHash("sha256").update(value).digest();
}
