import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers";

import { onTestFinished, vi } from "vitest";

/** A time limit of at least this lasts a hundredth of its time. */
const longMs = 1_000;

/**
 * Hastens the long time limits of a test, so that it does not wait for them in real time.
 * @returns the limits that were set, in milliseconds
 */
export function hastenTimers(): number[] {
  const limits: number[] = [];
  const hastened = (ms = 0): number => {
    if (ms < longMs) return ms;
    limits.push(ms);
    return ms / 100;
  };
  const { setTimeout } = timers;
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  const setHastened = (happen: () => void, ms?: number): NodeJS.Timeout => setTimeout(happen, hastened(ms));
  const spies = [
    vi.spyOn(timers, "setTimeout").mockImplementation(Object.assign(setHastened, setTimeout)),
    vi.spyOn(globalThis, "setTimeout").mockImplementation(Object.assign(setHastened, setTimeout)),
    vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) => timeout(hastened(ms))),
  ];
  syncBuiltinESMExports();
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
    syncBuiltinESMExports();
  });
  return limits;
}
