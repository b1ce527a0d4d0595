import { createHash } from "node:crypto";

import * as z from "zod/mini";

import { dayMs, epochSeconds, now } from "../../platform/clock.ts";
import { keys, type Key } from "../../platform/table/keys.ts";
import { findItem } from "../../platform/table/read.ts";
import { putItem, putOf } from "../../platform/table/write.ts";

/** How long a network stays known after a log-in, or after a link in an email with the password. */
const rememberedMs = 90 * dayMs;

/**
 * A note that an account was logged into from a network. It names neither: only someone who guesses both can recognize
 * it.
 */
export const KnownNetworkRecord = z.object({ entity: z.literal("knownNetwork"), expiresAt: z.number() });
type KnownNetworkRecord = z.infer<typeof KnownNetworkRecord>;

/** Reports whether an account was logged into from a network recently. */
export async function isKnownNetwork(email: string, network: string): Promise<boolean> {
  const record = await findItem(KnownNetworkRecord, keyOf(email, network));
  // DynamoDB deletes expired items with a delay.
  return record !== undefined && record.expiresAt > epochSeconds(now());
}

/** Notes that the owner of an email gave the password of its account in a network. */
export async function rememberNetwork(email: string, network: string): Promise<void> {
  const expiresAt = epochSeconds(new Date(now().getTime() + rememberedMs));
  const record: KnownNetworkRecord = { entity: "knownNetwork", expiresAt };
  await putItem(putOf(keyOf(email, network), record));
}

function keyOf(email: string, network: string): Key<"knownNetwork"> {
  return keys.knownNetwork(createHash("sha256").update(`${email} ${network}`).digest("hex"));
}
