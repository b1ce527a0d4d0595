import { log } from "../log.ts";
import { writeMetrics } from "../metrics.ts";

/**
 * Returns the Lambda handler of a schedule. It runs the work, and logs the returned count as the event `name`. It writes the
 * metrics also if the work fails. An error of the work fails the call.
 */
export function scheduled(
  name: string,
  work: (event: unknown) => Promise<number>,
): (event: unknown) => Promise<void> {
  return async (event) => {
    try {
      log.info(name, { count: await work(event) });
    } finally {
      writeMetrics();
    }
  };
}
