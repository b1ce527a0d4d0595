import { inject } from "vitest";

/** Whether the stage is on an emulator of AWS. On slow cores it needs longer for large requests than a function may take. */
export function isOnEmulator(): boolean {
  return inject("stageEnvironment")?.["AWS_ENDPOINT_URL"] !== undefined;
}
