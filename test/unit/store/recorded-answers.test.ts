import { readFile } from "node:fs/promises";

import { expect, it } from "vitest";

import { answersTo, difference, ownOpinion, type Answer } from "../../dynamodb-local/opinions.ts";
import type { Sequence } from "../../dynamodb-local/random-requests.ts";

interface Recorded {
  readonly sequence: Sequence;
  readonly answers: readonly Answer[];
}

const lines = (await readFile("test/dynamodb-local/recorded-answers.jsonl", "utf8")).trimEnd().split("\n");

it("the store responds to recorded requests like Amazon's DynamoDB Local", async () => {
  expect(lines.length).toBeGreaterThan(10);
  let succeeded = 0;
  for (const line of lines) {
    const { sequence, answers }: Recorded = JSON.parse(line);
    const own = await answersTo(sequence, ownOpinion());
    expect(difference(sequence, own, answers)).toBeUndefined();
    succeeded += own.filter(({ error }) => error === undefined).length;
  }
  expect(succeeded).toBeGreaterThan(50);
});
