/** What a listing has, so many at a time; the last batch can have fewer. */
export async function* batches<Each>(all: AsyncIterable<Each>, size: number): AsyncGenerator<Each[]> {
  let batch: Each[] = [];
  for await (const each of all) {
    batch.push(each);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
