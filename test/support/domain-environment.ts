import { afterEach, vi } from "vitest";

import { workerStore } from "./worker-store.ts";

/*
 * Lets domain code run inside a test as it runs inside a function, on a store that the files of one worker share. Each
 * file has a table and queues of its own, so that work on all due items finds none of other files.
 */

// Loaded after the store, whose port the AWS client reads when it is loaded.
const { useEmulators } = await import("./emulators.ts");
const { useOwnTable } = await import("./own-table.ts");
const { takeJobs } = await import("./queues.ts");
const { queueNames } = await import("../../shared/platform/queue-names.ts");

await useEmulators(workerStore);
await useOwnTable();

// The next test begins with the real time, without mocks, with the variables of the file, and with empty queues.
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  await Promise.all(queueNames.map(takeJobs));
});
