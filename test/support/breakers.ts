import { expect } from "vitest";

import { Breakers } from "../../shared/carriers/breaker.ts";
import { writeMetrics } from "../../shared/platform/metrics.ts";
import type { RecordedLog } from "./log.ts";

/** Reports failed submissions to a carrier. */
export async function reportFailures(sender: Breakers, carrier: string, times: number): Promise<void> {
  for (let failures = 0; failures < times; failures += 1) await sender.note(carrier, "failed");
}

/** Opens the breaker of a carrier. @returns a sender that has seen it */
export async function openedBreaker(carrier: string): Promise<Breakers> {
  const sender = new Breakers();
  await reportFailures(sender, carrier, 5);
  expect(await sender.admit(carrier)).toMatchObject({ isAdmitted: false });
  return sender;
}

/** The events of a carrier in the log so far, and the sum of each metric of breakers. */
export function breakerEvents(
  log: RecordedLog,
  carrier: string,
): { readonly events: string[]; readonly opened: number; readonly closed: number } {
  writeMetrics();
  const lines = log.lines();
  const count = (metric: string): number =>
    lines.reduce((sum, line) => sum + Number("_aws" in line ? (line[metric] ?? 0) : 0), 0);
  return {
    events: lines
      .filter((line) => line["carrier"] === carrier)
      .map((line) => `${String(line["level"])} ${String(line["event"])}`),
    opened: count("CarrierBreakersOpened"),
    closed: count("CarrierBreakersClosed"),
  };
}
