import { glob, readFile } from "node:fs/promises";

import { beforeAll, expect, it } from "vitest";

import { operations } from "../../shared/api/routes.ts";

/** The place of each operation in the console, or why it has none, according to the README. */
const places = new Map<string, string>();
/** All sources of the console. */
let sources = "";

beforeAll(async () => {
  const readme = await readFile("functions/console/README.md", "utf8");
  const [, table = ""] = /<!-- operations -->\s+(.*?)\s+<!-- \/operations -->/s.exec(readme) ?? [];
  for (const [, place = "", listed = ""] of table.matchAll(/^\| (.*?) *\| (`.*`) *\|$/gm)) {
    for (const [, operation = ""] of listed.matchAll(/`(\w+)`/g)) places.set(operation, place);
  }
  for await (const file of glob("functions/console/app/**/*.{ts,tsx}"))
    sources += await readFile(file, "utf8");
});

it("the console has a place for each operation of the API, or a reason why not", () => {
  const listed = [...places.keys()];
  const expected = operations().map(([operation]) => operation);
  expect(listed.toSorted(), "add its place to functions/console/README.md").toEqual(expected.toSorted());
  for (const [operation, place] of places) expect(place, operation).not.toBe("");
});

it("the console calls the operations that have a place in it, and no others", () => {
  for (const [operation, place] of places) {
    const isCalled = new RegExp(`\\.${operation}\\(`).test(sources);
    expect(isCalled, `${operation}: ${place}`).toBe(!place.startsWith("none: "));
  }
});

it("the addresses in that table are those of views", () => {
  const addresses = [...places.values()].flatMap((place) => /^`#\/(.*)`$/.exec(place)?.[1] ?? []);
  expect(addresses.length).toBeGreaterThan(40);
  for (const address of new Set(addresses))
    expect(sources).toMatch(new RegExp(`^  "?${address}"?: async`, "m"));
});
