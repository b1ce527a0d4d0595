/**
 * How long a test waits for an asynchronous result, and how often it checks. The time is long, because the machine may be
 * busy: it ends only a wait for a result that never comes.
 */
export const patience = { timeout: 120_000, interval: 100 };

/** As `patience`, for a result that takes seconds: each check is a request to the gateway. */
export const longPatience = { ...patience, interval: 500 };
