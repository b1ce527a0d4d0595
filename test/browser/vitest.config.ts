import { defineConfig } from "vitest/config";

import suite from "../vitest.config.ts";

// `npm run test:browser`: what needs a browser, apart from the tests that need nothing but Node. The default
// export is what vitest reads.
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  ...suite,
  test: { ...suite.test, include: ["test/browser/*.test.ts"], exclude: [] },
});
