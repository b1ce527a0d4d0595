import { expect, it } from "vitest";

import { parseJson } from "../../infra/stack/operator-file.ts";

it("a mistake at the end of a long file takes no longer to find", () => {
  const lines = "1,\n".repeat(100_000);
  expect(() => parseJson(Buffer.from(`[\n${lines}]`), "prod.json")).toThrow(
    "prod.json is not valid:\n  line 100002, column 1: not JSON: unexpected ]",
  );
});
