import { vi } from "vitest";

/** The log of this process from the call of `recordLog` on. */
export interface RecordedLog {
  lines(): Record<string, unknown>[];
  /** All of it as text. */
  text(): string;
  /** The lines about an event. */
  of(event: string): Record<string, unknown>[];
}

/** Records the log of this process instead of printing it, until the mocks are restored. */
export function recordLog(): RecordedLog {
  const written: string[] = [];
  vi.spyOn(process.stdout, "write").mockImplementation((line) => written.push(String(line)) > 0);
  const lines = (): Record<string, unknown>[] => written.map((line) => JSON.parse(line));
  return {
    lines,
    text: () => written.join(""),
    of: (event) => lines().filter((line) => line["event"] === event),
  };
}
