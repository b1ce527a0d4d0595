import { secondMs } from "../clock.ts";
import { config } from "../config.ts";
import { log } from "../log.ts";
import { countMetrics } from "../metrics.ts";

/** The longest wait for a response of the whole gateway. */
const timeoutMs = 10 * secondMs;

/**
 * Calls the public address of the gateway as a customer does: over DNS, TLS, the firewall and the route. A redirect is a
 * failure, because it leads elsewhere.
 * @returns the number of calls that succeeded
 */
export async function checkEdge(): Promise<number> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(`${config.apiUrl()}/health`, { redirect: "manual", signal });
    // A wrong DNS record may lead to a page of someone else.
    const isOurs = (await response.text()).includes('"status":"ok"');
    if (response.status !== 200 || !isOurs) throw new Error(`not our response, status ${response.status}`);
    countMetrics({ EdgeReached: 1 });
    return 1;
  } catch (error) {
    log.warn("edge.not_reached", { error });
    return 0;
  }
}
