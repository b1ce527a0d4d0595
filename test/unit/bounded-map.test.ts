import { expect, it } from "vitest";

import { BoundedMap } from "../../shared/platform/bounded-map.ts";

it("drops the entry that was set first when it is full", () => {
  const map = new BoundedMap<number>(2);
  map.set("a", 1).set("b", 2).set("a", 3);
  expect([...map]).toEqual([
    ["b", 2],
    ["a", 3],
  ]);
  map.set("c", 4);
  expect([...map]).toEqual([
    ["a", 3],
    ["c", 4],
  ]);
});
