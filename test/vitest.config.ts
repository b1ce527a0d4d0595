import { fileURLToPath } from "node:url";

import { defineConfig } from "vitest/config";

// The default export is what vitest reads.
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  root: fileURLToPath(new URL("..", import.meta.url)),
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    setupFiles: ["test/support/environment.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A test that asserts nothing proves nothing.
    expect: { requireAssertions: true },
  },
});
