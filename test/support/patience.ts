/**
 * How long a test waits for what comes in its own time, and how often it looks. A machine may be busy with other things:
 * this ends a wait for what does not come at all.
 */
export const patience = { timeout: 50_000, interval: 100 };
