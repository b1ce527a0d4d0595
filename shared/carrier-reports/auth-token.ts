import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import * as z from "zod";

import { minuteMs } from "../platform/clock.ts";
import { keptFor } from "../platform/kept.ts";

/** What Secrets Manager has for the calls of a carrier that signs them. */
const CallbackSecret = z.object({ authToken: z.string().min(1) });

const keptMs = minuteMs;

const known = new Map<string, () => Promise<string>>();

const client = new SecretsManagerClient({
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 2_000, throwOnRequestTimeout: true },
});

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
  const { SecretString = "" } = await client.send(new GetSecretValueCommand({ SecretId }));
  const secret = CallbackSecret.safeParse(parsed(SecretString));
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
