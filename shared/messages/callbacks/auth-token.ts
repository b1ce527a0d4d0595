import * as z from "zod/mini";

import { minuteMs } from "../../platform/clock.ts";
import { TtlCache } from "../../platform/ttl-cache.ts";

/** The secret of a carrier that signs its callbacks. */
const CallbackSecret = z.object({ authToken: z.string().check(z.minLength(1)) });

const authTokens = new TtlCache<string>({ ttlMs: minuteMs });

/**
 * Reads the token with which a carrier signs its callbacks, at most a minute old.
 * @throws Error when it cannot be read
 */
export async function readAuthToken(secretId: string): Promise<string> {
  return authTokens.read(async () => load(secretId), secretId);
}

async function load(SecretId: string): Promise<string> {
  const { readSecretJson } = await import("../../platform/aws/read-secret.ts");
  const secret = CallbackSecret.safeParse(await readSecretJson({ SecretId }));
  if (!secret.success)
    throw new Error(
      "the secret of a carrier's callbacks does not have the format that `carriers set` writes",
    );
  return secret.data.authToken;
}
