import type * as z from "zod/mini";

import { queryItems } from "./table.ts";

/** Items in memory at the same time. */
const batchSize = 500;

/** Concurrent writes. */
const maxTogether = 25;

/** Yields all items of a partition in batches, in the order of their sort keys. */
export async function* batchesOf<Item extends { readonly sk: string }>(
  schema: z.ZodMiniType<Item>,
  pk: string,
): AsyncGenerator<Item[]> {
  let batch: Item[] = [];
  do {
    batch = await queryItems(schema, { pk, after: batch.at(-1)?.sk, limit: batchSize, consistent: true });
    yield batch;
  } while (batch.length === batchSize);
}

/** Runs `work` for each item of a partition, for some items concurrently. */
export async function forEachOf<Item extends { readonly sk: string }>(
  schema: z.ZodMiniType<Item>,
  pk: string,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  for await (const batch of batchesOf(schema, pk)) {
    for (let start = 0; start < batch.length; start += maxTogether) {
      await Promise.all(batch.slice(start, start + maxTogether).map(work));
    }
  }
}
