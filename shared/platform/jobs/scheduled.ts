import { log } from "../log.ts";
import { writeMetrics } from "../metrics.ts";

/**
 * The Lambda handler of a schedule: does its work, and says under `name` in the log how much of it there was. What was
 * counted on the way is written in any case. What the work throws fails the call.
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
