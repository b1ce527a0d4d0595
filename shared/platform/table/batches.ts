import type * as z from "zod/mini";

import { queryItems } from "./table.ts";

/** Items that are in memory at once. */
const batchSize = 500;

/** Writes that are made side by side. */
const maxTogether = 25;

/** All items of a partition in the order of their sort keys, a batch at a time. */
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

/** Does something with each item of a partition, some of them side by side. */
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
