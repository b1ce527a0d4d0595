import * as z from "zod/mini";

// Zod would test whether it may use `eval`, which the content security policy forbids and reports. This import comes
// before the contract, because schemas read the setting when they are created.
z.config({ jitless: true });
