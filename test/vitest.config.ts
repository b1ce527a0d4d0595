import { fileURLToPath } from "node:url";

import { defineConfig } from "vitest/config";

// The default export is what vitest reads.
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  root: fileURLToPath(new URL("..", import.meta.url)),
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/browser/**"],
    globalSetup: ["test/support/global-setup.ts"],
    setupFiles: ["test/support/environment.ts"],
    // Two, also where vitest would leave a core free: the tests mostly wait for the gateway.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A test that asserts nothing proves nothing.
    expect: { requireAssertions: true },
  },
});
