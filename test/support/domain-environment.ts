import { workerStore } from "./worker-store.ts";

/* Lets domain code run inside a test as it runs inside a function, on a store that the files of one worker share. */

// Loaded after the store, whose port the AWS client reads when it is loaded.
const { useEmulators } = await import("./emulators.ts");

await useEmulators(workerStore);
