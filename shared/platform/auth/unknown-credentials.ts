import { ApiError } from "../../contract/errors.ts";
import { minuteMs, now, secondMs } from "../clock.ts";
import { config } from "../config.ts";
import { countTry } from "../http/rate-limit.ts";
import { networkOf } from "../http/source-network.ts";

const windowMs = 5 * minuteMs;

/** Networks that this function remembers, so that what comes on and on from one of them is written down no more. */
const maxRemembered = 10_000;
const refusals = new Map<string, { readonly error: ApiError; readonly untilMs: number }>();

/**
 * Counts a credential that was never given out against the network that it came from. Whoever has a good one is not
 * counted, and not refused for others in the same network; nor is one that has ended, which its owner may not know yet. Of a
 * key that was deleted nothing is left to tell it by.
 * @throws ApiError RATE_LIMITED when too many have come from there
 */
export async function countUnknownCredential(address: string): Promise<void> {
  const max = config.unknownCredentialsPerAddress();
  if (max === undefined) return;
  const network = networkOf(address);
  const known = refusals.get(network);
  if (known !== undefined && now().getTime() < known.untilMs) throw known.error;
  try {
    await countTry({ what: "unknown-credentials", max, windowMs }, network);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "RATE_LIMITED") throw error;
    if (refusals.size >= maxRemembered) refusals.clear();
    // Not for as long as it may be told to wait, which would be another number each time.
    refusals.set(network, { error, untilMs: now().getTime() + secondMs });
    throw error;
  }
}
