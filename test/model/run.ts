import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

import fc from "fast-check";

import { randomFrom, type Random } from "../chaos/random.ts";
import { bothCarrierPaths, bothMoneyPaths } from "../mixed-versions/last-release.ts";
import { localSettings } from "../support/local-settings.ts";
import { carryMessages, type CarrierPath } from "./carriers.ts";
import { makePayments } from "./payments.ts";
import { booksAreInOrder } from "./property.ts";
import type { MoneyPath } from "./simulation.ts";
import type { Observe } from "./trace.ts";

// The long runs of the models. `npm run test:model -- --runs 100000` runs that of the books. A failure prints the seed and
// the path that repeat it: `-- --seed 1 --path 7:0`. `npm run test:model -- --model carriers --runs 50` runs that of the
// carriers with 50 seeds. A failure prints its seed. `--model payments` does the same for payments. `--model mixed-versions`,
// `mixed-carriers` and `mixed-payments` run the functions of the last release too. `--trace FILE` writes all events to a file.

Object.assign(process.env, localSettings);

const { values: flags } = parseArgs({
  options: {
    model: { type: "string", default: "books" },
    runs: { type: "string" },
    seed: { type: "string" },
    path: { type: "string" },
    trace: { type: "string" },
  },
});
const seed = Number(flags.seed ?? Date.now() % 2 ** 31);
const startedAt = performance.now();
const seconds = (): number => Math.round((performance.now() - startedAt) / 1_000);

if (flags.model === "carriers") await runCarriers(Number(flags.runs ?? 1));
else if (flags.model === "mixed-carriers")
  await runCarriers(Number(flags.runs ?? 1), await bothCarrierPaths());
else if (flags.model === "payments") await runPayments(Number(flags.runs ?? 1));
else if (flags.model === "mixed-payments") await runPayments(Number(flags.runs ?? 1), await bothMoneyPaths());
else {
  const releases = flags.model === "mixed-versions" ? await bothMoneyPaths() : undefined;
  await runBooks(Number(flags.runs ?? 10_000), releases);
}

async function runBooks(numRuns: number, releases?: readonly MoneyPath[]): Promise<void> {
  process.stdout.write(`${numRuns} runs with seed ${seed}\n`);
  const path = flags.path === undefined ? {} : { path: flags.path };
  await fc.assert(booksAreInOrder({ releases }), { numRuns, seed, ...path });
  process.stdout.write(`${numRuns} runs without a violation in ${seconds()} s\n`);
}

async function runCarriers(count: number, releases?: readonly CarrierPath[]): Promise<void> {
  return runSeeds(count, async (random, observe) => carryMessages(5_000, random, { observe, releases }));
}

async function runPayments(count: number, releases?: readonly MoneyPath[]): Promise<void> {
  return runSeeds(count, async (random, observe) => makePayments(random, { observe, releases }));
}

type Run = (
  random: Random,
  observe: Observe | undefined,
) => Promise<{ readonly problems: readonly string[] }>;

/** Runs a model that follows from random numbers, once for each seed. */
async function runSeeds(count: number, run: Run): Promise<void> {
  const failed: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const events: string[] = [];
    const observe = flags.trace === undefined ? undefined : (event: string): void => void events.push(event);
    const { problems } = await run(randomFrom(seed + index), observe);
    if (flags.trace !== undefined) writeFileSync(flags.trace, events.join("\n"));
    if (problems.length === 0) continue;
    failed.push(seed + index);
    process.stdout.write(
      `${problems.join("\n")}\nagain: npm run test:model -- --model ${flags.model} --seed ${seed + index}\n`,
    );
  }
  process.stdout.write(
    `${count} seeds from ${seed} in ${seconds()} s: ${count - failed.length} without a violation\n`,
  );
  if (failed.length > 0) process.exitCode = 1;
}
