import * as z from "zod/mini";

import { minuteMs } from "../platform/clock.ts";
import { keptFor } from "../platform/kept.ts";

/** What Secrets Manager has for the calls of a carrier that signs them. */
const CallbackSecret = z.object({ authToken: z.string().check(z.minLength(1)) });

const keptMs = minuteMs;

const known = new Map<string, () => Promise<string>>();

/**
 * What a carrier signs its calls with, as it was within the last minute.
 * @throws Error when it cannot be read
 */
export async function readAuthToken(secretId: string): Promise<string> {
  const ask = known.get(secretId) ?? keptFor(keptMs, async () => load(secretId));
  known.set(secretId, ask);
  return ask();
}

async function load(SecretId: string): Promise<string> {
  const { readSecretText } = await import("../platform/aws/read-secret.ts");
  const secret = CallbackSecret.safeParse(parsed(await readSecretText({ SecretId })));
  if (!secret.success) throw new Error("the secret of a carrier's calls is not what `carriers set` writes");
  return secret.data.authToken;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // What the parser says would quote the secret.
    return undefined;
  }
}
