import { readFile } from "node:fs/promises";

import { expect, it } from "vitest";

import type { Feed, Worker } from "../../infra/stack/worker.ts";
import { workers } from "../../infra/stack/workers.ts";

/** The rows of the page whose first cell is the name of a queue or a function, each with its other cells. */
async function statedRows(): Promise<Map<string, string[]>> {
  const page = await readFile("infra/SHARED-RESOURCES.md", "utf8");
  return new Map(
    [...page.matchAll(/^\| `(\w+)` +\|(.*)\|$/gm)].map(([, name = "", cells = ""]) => [
      name,
      cells.split("|").map((cell) => cell.trim()),
    ]),
  );
}

it("each queue and each schedule has a bound for one customer on the page of shared resources", async () => {
  const rows = await statedRows();
  const table = Object.entries<Worker>(workers);
  const feeds = table.flatMap(([, { queues = {} }]) => Object.entries<Feed>(queues));
  const schedules = table.filter(([, { schedule }]) => schedule !== undefined).map(([name]) => name);
  expect([...rows.keys()].toSorted()).toEqual([...feeds.map(([name]) => name), ...schedules].toSorted());
  for (const [name, { maxConcurrency }] of feeds) {
    expect(rows.get(name)).toEqual([String(maxConcurrency), expect.stringMatching(/\w/)]);
  }
  for (const name of schedules) expect(rows.get(name)).toEqual([expect.stringMatching(/\w/)]);
});
