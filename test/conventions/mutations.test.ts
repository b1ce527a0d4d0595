import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

import { expect, it } from "vitest";

import { projectRoot } from "../../infra/build/project-root.ts";
import { mutations } from "../mutations/guards.ts";

it.each(mutations)("the guard is there once, and so are its tests: $name", ({ file, from, tests }) => {
  const source = readFileSync(path.join(projectRoot, file), "utf8");
  expect(source.split(from)).toHaveLength(2);
  const missing = tests.filter((name) => !existsSync(path.join(projectRoot, `test/domain/${name}.test.ts`)));
  expect(missing).toEqual([]);
});
