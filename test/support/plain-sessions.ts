import { vi } from "vitest";

/* Stands in for sessions, whose tokens KMS signs. */

export const startSession = vi.fn<() => Promise<object>>(async () => ({
  session: { token: "a token" },
  sessionId: "ses_1",
}));
