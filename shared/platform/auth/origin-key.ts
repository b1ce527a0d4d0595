import { config } from "../config.ts";
import { isSame } from "./is-same.ts";
import { Secret } from "./secret.ts";

const originKey = new Secret(config.originKeySecretId);

/**
 * Whether this is the key that CloudFront sends to the API. The comparison takes constant time.
 * @throws Error when the key cannot be loaded
 */
export async function isOriginKey(given: string): Promise<boolean> {
  return isSame(given, await originKey.value());
}
