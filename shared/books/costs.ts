import * as z from "zod/mini";

import { MarginsRecord } from "../messages/margins.ts";
import { dayMs, dayOf } from "../platform/clock.ts";
import { workOnPending } from "../platform/jobs/pending-work.ts";
import { shardCount } from "../platform/jobs/shards.ts";
import { itemsIn } from "../platform/table/lists.ts";
import { findItem } from "../platform/table/read.ts";
import { marginsOfDay, shardOfCounter } from "../platform/table/shards.ts";
import { listWallets } from "../wallet/record.ts";

/*
 * The carriers' costs in the books of a month: those of messages that were accepted in it. A message that is sent after the
 * month was closed has its cost in the next books.
 */

const CostsOfCountry = z.object({ costMicros: z.int(), messagesWithoutCost: z.int() });
type CostsOfCountry = z.infer<typeof CostsOfCountry>;
const Costs = z.record(z.string(), CostsOfCountry);
type Costs = z.infer<typeof Costs>;

/** A day whose costs were not final when they were counted: the key of its margins, and what was counted. */
export const OpenDay = z.object({ pk: z.string(), sk: z.string(), costs: Costs });
type OpenDay = z.infer<typeof OpenDay>;

const MarginsOfDay = z.extend(MarginsRecord, { pk: z.string() });
type MarginsOfDay = z.infer<typeof MarginsOfDay>;

/** Yields all organizations in order, each with its margins of the days. One batch of each day is in memory. */
export async function* organizationsWithMargins(
  days: readonly string[],
): AsyncGenerator<{ readonly organizationId: string; readonly margins: readonly MarginsOfDay[] }> {
  const rest = itemsIn(MarginsOfDay, { pk: days.map(marginsOfDay), consistent: true });
  let next = (await rest.next()).value;
  for await (const organizationId of listWallets()) {
    const margins: MarginsOfDay[] = [];
    // Both lists have the order of the ids.
    for (; next !== undefined && next.organizationId <= organizationId; next = (await rest.next()).value) {
      if (next.organizationId === organizationId) margins.push(next);
    }
    yield { organizationId, margins };
  }
}

/** Adds up the costs of an organization by country: those of its days, and later changes of the days that were open. */
export async function sumOfCosts(
  margins: readonly MarginsOfDay[],
  openBefore: readonly OpenDay[],
): Promise<{ readonly costs: Costs; readonly openDays: OpenDay[] }> {
  const costs: Costs = {};
  const openDays: OpenDay[] = [];
  const count = ({ pk, sk, closedAt, margins: ofDay }: MarginsOfDay, counted: Costs = {}): void => {
    const present: Costs = {};
    for (const each of ofDay) add(present, each.country, each, 1);
    for (const [country, each] of Object.entries(present)) add(costs, country, each, 1);
    for (const [country, each] of Object.entries(counted)) add(costs, country, each, -1);
    if (closedAt === undefined) openDays.push({ pk, sk, costs: present });
  };
  for (const each of margins) count(each);
  for (const open of openBefore) {
    const { pk, sk } = open;
    const present = await findItem(MarginsOfDay, { pk, sk }, { consistent: true });
    if (present === undefined) openDays.push(open);
    else count(present, open.costs);
  }
  return { costs, openDays };
}

function add(costs: Costs, country: string, each: CostsOfCountry, sign: -1 | 1): void {
  const sum = costs[country] ?? { costMicros: 0, messagesWithoutCost: 0 };
  costs[country] = {
    costMicros: sum.costMicros + sign * each.costMicros,
    messagesWithoutCost: sum.messagesWithoutCost + sign * each.messagesWithoutCost,
  };
}

/** Finds a day of an organization whose messages have not been counted, so that its costs are unknown. */
export async function findUncountedDay(
  days: readonly string[],
): Promise<{ readonly organizationId: string; readonly day: string } | undefined> {
  const wanted = new Set(days);
  const found: { readonly organizationId: string; readonly day: string }[] = [];
  for (let shard = 0; shard < shardCount; shard += 1) {
    await workOnPending({
      name: "CLOSE-DAY",
      shard,
      isTimeLeft: () => found.length === 0,
      visit: async (key) => {
        const { organizationId, day, margins } = shardOfCounter(key);
        if (!wanted.has(day)) return;
        const counted = await findItem(MarginsOfDay, margins, { consistent: true });
        if (counted === undefined) found.push({ organizationId, day });
      },
    });
  }
  return found[0];
}

/** Returns the days of a month. */
export function daysFrom(start: string, end: string): string[] {
  const days = (Date.parse(end) - Date.parse(start)) / dayMs;
  return Array.from({ length: days }, (_, index) =>
    dayOf(new Date(Date.parse(start) + index * dayMs).toISOString()),
  );
}
