import { BoundedMap } from "../bounded-map.ts";
import { minuteMs, now, secondMs } from "../clock.ts";
import { config } from "../config.ts";
import { limitReached } from "../limits/rate-limit.ts";
import { tryConsume } from "../limits/sliding-window.ts";
import { networkOf } from "../source-network.ts";

const windowMs = 5 * minuteMs;

/** Networks that are rejected for a short time, so that a flood from one of them costs no writes. */
const rejectedUntilMs = new BoundedMap<number>();

/**
 * Counts a credential that never existed against the network that it came from. Valid credentials and those that ended are not
 * counted, so that one caller cannot lock out others in the same network. A deleted key cannot be distinguished.
 * @throws ApiError RATE_LIMITED when too many came from the network
 */
export async function countUnknownCredential(address: string): Promise<void> {
  const max = config.unknownCredentialsPerAddress();
  if (max === undefined) return;
  const limit = { name: "unknown-credentials", max, windowMs };
  const network = networkOf(address);
  const waitMs = (rejectedUntilMs.get(network) ?? 0) - now().getTime();
  if (waitMs > 0) throw limitReached(limit, waitMs);
  const result = await tryConsume(limit, network);
  if (!("waitMs" in result)) return;
  rejectedUntilMs.set(network, now().getTime() + secondMs);
  throw limitReached(limit, result.waitMs);
}
