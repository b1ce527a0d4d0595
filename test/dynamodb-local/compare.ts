import { randomInt } from "node:crypto";
import { writeFile } from "node:fs/promises";
import path from "node:path";

import fc from "fast-check";

import { projectRoot } from "../../infra/build/project-root.ts";
import { responsesTo, difference, implementationAt, ownImplementation } from "./implementations.ts";
import { sequencesFor } from "./random-requests.ts";

const defaultRuns = 1_000;
const maxSeed = 2 ** 31;

/** The number and the seed of the recorded sequences. */
const recorded = { seed: 20_261_122, runs: 20 };
const recordFile = path.join(projectRoot, "test/dynamodb-local/recorded-responses.jsonl");

/**
 * Compares the local store with another DynamoDB over random requests, response by response. `RECORD_ANSWERS` also writes
 * the responses that `npm test` compares with.
 * @throws Error that names the seed and the first requests with different responses
 */
export async function compareWith(endpoint: string): Promise<void> {
  const other = implementationAt(endpoint);
  const seed = Number(process.env["COMPARE_SEED"] ?? randomInt(maxSeed));
  const numRuns = Number(process.env["COMPARE_RUNS"] ?? defaultRuns);
  process.stdout.write(`Comparing ${numRuns} sequences of requests, COMPARE_SEED=${seed}\n`);
  await fc.assert(
    fc.asyncProperty(sequencesFor("compared"), async (sequence) => {
      const responses = await responsesTo(sequence, other);
      const found = difference(sequence, await responsesTo(sequence, ownImplementation()), responses);
      if (found !== undefined) throw new Error(found);
    }),
    { seed, numRuns },
  );
  if (process.env["RECORD_ANSWERS"] === undefined) return;
  let lines = "";
  for (const sequence of fc.sample(sequencesFor("recorded"), {
    seed: recorded.seed,
    numRuns: recorded.runs,
  })) {
    lines += `${JSON.stringify({ sequence, responses: await responsesTo(sequence, other) })}\n`;
  }
  await writeFile(recordFile, lines);
}
