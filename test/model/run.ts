import { parseArgs } from "node:util";

import fc from "fast-check";

import { localSettings } from "../support/local-settings.ts";
import { booksAreInOrder } from "./property.ts";

// `npm run test:model -- --runs 100000`: the long run of the model test. A failure prints the seed and the path
// that play it again: `-- --seed 1 --path 7:0`.

Object.assign(process.env, localSettings);

const { values: flags } = parseArgs({
  options: {
    runs: { type: "string", default: "10000" },
    seed: { type: "string" },
    path: { type: "string" },
  },
});
const seed = Number(flags.seed ?? Date.now() % 2 ** 31);
const numRuns = Number(flags.runs);

process.stdout.write(`${numRuns} runs with seed ${seed}\n`);
const startedAt = performance.now();
await fc.assert(booksAreInOrder(), {
  numRuns,
  seed,
  ...(flags.path === undefined ? {} : { path: flags.path }),
});
const seconds = Math.round((performance.now() - startedAt) / 1_000);
process.stdout.write(`${numRuns} runs without a violation in ${seconds} s\n`);
