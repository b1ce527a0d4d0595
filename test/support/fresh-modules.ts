import { vi } from "vitest";

// Loads the project's own modules again for each test file, so that files share no state in memory.
vi.resetModules();
