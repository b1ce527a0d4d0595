import * as z from "zod/mini";

import { now } from "../clock.ts";
import { agendaIndex, type Key } from "../table/keys.ts";
import { queryItems } from "../table/table.ts";
import { shardOf } from "./shards.ts";

/*
 * What background work has to look at is not searched for: an item that something is to be done about says so, and
 * when, in two fields that an index lists.
 */

/** The fields of an item that is on an agenda. Work that is done takes both away. */
export const agendaFields = { agenda: z.optional(z.string()), lookAt: z.optional(z.string()) };

/** Items that are worked on side by side. */
const concurrency = 10;

/** Items that are listed together. */
const batchSize = 500;

type AgendaName = "CLOSE-DAY" | "EXPIRE-ACCOUNT" | "SETTLE";

/** The agenda that an organisation's items are on. */
export function agendaOf(name: AgendaName, organizationId: string): string {
  return agendaOfShard(name, shardOf(organizationId));
}

function agendaOfShard(name: AgendaName, shard: number): string {
  return `${name}#${shard}`;
}

export interface AgendaWork {
  readonly name: AgendaName;
  readonly shard: number;
  /** Whether a run may begin with more items; what is left has its turn in the next run. */
  readonly isTimeLeft: () => boolean;
  /** What is done about one item. It must not throw, or the ones behind it would not have their turn. */
  readonly visit: (key: Key) => Promise<void>;
}

const Listed = z.object({ pk: z.string(), sk: z.string(), lookAt: z.string() });
type Listed = z.infer<typeof Listed>;

/** Visits the items of one shard of an agenda that are due, the longest due first, each once. */
export async function workOnAgenda({ name, shard, isTimeLeft, visit }: AgendaWork): Promise<void> {
  const to = now().toISOString();
  const visited = new Set<string>();
  let from: string | undefined;
  for (;;) {
    const range = { index: agendaIndex, pk: agendaOfShard(name, shard), to, limit: batchSize };
    const batch: Listed[] = await queryItems(Listed, { ...range, ...(from === undefined ? {} : { from }) });
    // Several can be due at the same moment, and the ones that a batch ends with are listed again.
    const waiting = batch.filter(({ pk, sk }) => !visited.has(`${pk} ${sk}`));
    for (const { pk, sk } of waiting) visited.add(`${pk} ${sk}`);
    await sideBySide(waiting.values(), isTimeLeft, visit);
    if (batch.length < batchSize || waiting.length === 0 || !isTimeLeft()) return;
    from = batch.at(-1)?.lookAt;
  }
}

async function sideBySide(
  items: IterableIterator<Listed>,
  isTimeLeft: () => boolean,
  visit: AgendaWork["visit"],
): Promise<void> {
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      // All of them take from the same iterator, so that a slow item holds up no others.
      for (const { pk, sk } of items) {
        if (!isTimeLeft()) return;
        await visit({ pk, sk });
      }
    }),
  );
}
