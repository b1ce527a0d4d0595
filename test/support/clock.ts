import { vi } from "vitest";

/** Stops the clock at a time after the present one, in milliseconds. A negative number is a clock that is slow. */
export function advance(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}
