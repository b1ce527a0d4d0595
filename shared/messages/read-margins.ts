import { dayMs, dayOf, minuteMs } from "../platform/clock.ts";
import { firstIdAt } from "../platform/ids.ts";
import { batchesOf } from "../platform/table/batches.ts";
import { keys, messagesPartition } from "../platform/table/keys.ts";
import { queryItems } from "../platform/table/table.ts";
import { MarginsRecord, marginsOf, sumOfMargins, type Margin } from "./margins.ts";
import { MessageRecord } from "./record.ts";

/** Reads the revenue and cost of all organizations' messages of a day, if they have been counted. */
export async function* readMargins(day: string): AsyncGenerator<MarginsRecord> {
  for await (const batch of batchesOf(MarginsRecord, keys.margins(day, "").pk)) yield* batch;
}

/** How many messages are read together. */
const batchSize = 500;

/** Calculates the same from the day's messages, for one shard of an organization that has not been counted. */
export async function readMarginsOfMessages(
  organizationId: string,
  part: string,
  day: string,
): Promise<Margin[]> {
  const from = new Date(`${day}T00:00:00.000Z`);
  const range = {
    pk: messagesPartition(organizationId, part),
    from: firstIdAt("msg", from),
    // An id is made a moment after the message's `queuedAt`.
    to: firstIdAt("msg", new Date(from.getTime() + dayMs + minuteMs)),
    limit: batchSize,
  };
  let margins: Margin[] = [];
  let batch: MessageRecord[] = [];
  do {
    batch = await queryItems(MessageRecord, { ...range, after: batch.at(-1)?.id });
    const ofDay = batch.filter(({ queuedAt }) => dayOf(queuedAt) === day);
    margins = sumOfMargins([...margins, ...marginsOf(ofDay)]);
  } while (batch.length === batchSize);
  return margins;
}
