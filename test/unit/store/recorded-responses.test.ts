import { readFile } from "node:fs/promises";

import { expect, it } from "vitest";

import {
  responsesTo,
  difference,
  ownImplementation,
  type Response,
} from "../../dynamodb-local/implementations.ts";
import type { Sequence } from "../../dynamodb-local/random-requests.ts";

interface Recorded {
  readonly sequence: Sequence;
  readonly responses: readonly Response[];
}

const lines = (await readFile("test/dynamodb-local/recorded-responses.jsonl", "utf8")).trimEnd().split("\n");

it("the store responds to recorded requests like Amazon's DynamoDB Local", async () => {
  expect(lines.length).toBeGreaterThan(10);
  let succeeded = 0;
  for (const line of lines) {
    const { sequence, responses }: Recorded = JSON.parse(line);
    const own = await responsesTo(sequence, ownImplementation());
    expect(difference(sequence, own, responses)).toBeUndefined();
    succeeded += own.filter(({ error }) => error === undefined).length;
  }
  expect(succeeded).toBeGreaterThan(50);
});
