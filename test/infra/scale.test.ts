import { readFile } from "node:fs/promises";

import { expect, it } from "vitest";

import { pascalCase } from "../../infra/stack/constructs/names.ts";
import { stageNamed } from "../../infra/stack/stages/stage.ts";
import type { Worker } from "../../infra/stack/worker.ts";
import { workers } from "../../infra/stack/workers.ts";
import { idleCosts, sumOfCosts } from "../benchmarks/idle-cost.ts";
import { synthesized } from "../support/synthesized.ts";

it("has the cost of an idle stage that SCALE.md states", async () => {
  const page = await readFile("infra/SCALE.md", "utf8");
  const rows = new Map(
    [...page.matchAll(/^\| (?<what>.+?) +\| .*\| \**(?<dollars>[\d.]+)\** +\|$/gm)].map(({ groups = {} }) => [
      groups["what"]?.replaceAll("*", ""),
      Number(groups["dollars"]),
    ]),
  );
  const stated = (what: string): number => rows.get(what) ?? Number.NaN;
  const costs = idleCosts(stated("scheduled calls, as above"));
  for (const { what, dollarsPerMonth } of costs.slice(0, 3)) {
    expect(stated(what.replace(", millions", "")), what).toBeCloseTo(dollarsPerMonth, 2);
  }
  expect(stated("in all")).toBeCloseTo(sumOfCosts(costs), 2);
});

it("has at most as many roles as SCALE.md states, and hardly fewer", async () => {
  const page = await readFile("infra/SCALE.md", "utf8");
  const roles = synthesized(stageNamed("prod")).template.findResources("AWS::IAM::Role");
  const [, most] = /of which a stage of `prod` has at most (\d+)/.exec(page) ?? [];
  expect(Object.keys(roles).length).toBeLessThanOrEqual(Number(most));
  expect(Object.keys(roles).length).toBeGreaterThan(Number(most) * 0.8);
});

it("has the schedules that SCALE.md states", async () => {
  const page = await readFile("infra/SCALE.md", "utf8");
  const named = new Map([
    ["minute", 1],
    ["2 min", 2],
    ["5 min", 5],
    ["15 min", 15],
    ["hour", 60],
    ["day", 24 * 60],
  ]);
  const stated = [
    ...page.matchAll(/^\| `(?<name>[A-Z]\w+)` +\| (?<each>minute|2 min|5 min|15 min|hour|day) +\|/gm),
  ];
  const scheduled = Object.entries<Worker>(workers).flatMap(([name, { schedule }]) =>
    schedule === undefined ? [] : [[pascalCase(name), schedule.everyMinutes] as const],
  );
  expect(new Map(stated.map(({ groups = {} }) => [groups["name"], named.get(groups["each"] ?? "")]))).toEqual(
    new Map(scheduled),
  );
});
