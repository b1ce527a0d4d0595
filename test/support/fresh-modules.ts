import { vi } from "vitest";

// The project's own modules are loaded anew for each test file, so that no file finds what another has left in memory.
vi.resetModules();
