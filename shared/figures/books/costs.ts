import * as z from "zod/mini";

import { MarginsRecord } from "../../messages/counts/figures.ts";
import { addTo } from "../../messages/counts/rows.ts";
import { listWallets } from "../../money/wallet/record.ts";
import { dayMs, dayOf } from "../../platform/clock.ts";
import { workOnPending } from "../../platform/jobs/pending-work.ts";
import { shardCount } from "../../platform/jobs/shards.ts";
import type { Key } from "../../platform/table/keys.ts";
import { rowsOf } from "../../platform/table/lists.ts";
import { findItem, type Row } from "../../platform/table/read.ts";
import { unreadableOf, UnreadableRecordError } from "../../platform/table/records.ts";
import { marginsOfDay, shardOfCounter } from "../../platform/table/shards.ts";

/*
 * The carriers' costs in the books of a month: those of messages that were accepted in it. A message that is sent after the
 * month was closed has its cost in the next books.
 */

const CostsOfCountry = z.object({
  costMicros: z.int(),
  messagesWithoutCost: z.int(),
  unknownMessages: z._default(z.int(), 0),
  unknownCostMicros: z._default(z.int(), 0),
});
type CostsOfCountry = z.infer<typeof CostsOfCountry>;
const Costs = z.record(z.string(), CostsOfCountry);
type Costs = z.infer<typeof Costs>;

/** A day whose costs were not final when they were counted: the key of its margins, and what was counted. */
export const OpenDay = z.object({ pk: z.string(), sk: z.string(), costs: Costs });
type OpenDay = z.infer<typeof OpenDay>;

const MarginsOfDay = z.extend(MarginsRecord, { pk: z.string() });
type MarginsOfDay = z.infer<typeof MarginsOfDay>;

/** An organization with its margins of some days, and one of these days if its messages have not been counted. */
export interface OrganizationWithMargins {
  readonly organizationId: string;
  readonly margins: readonly Row<MarginsOfDay>[];
  readonly uncountedDay: string | undefined;
}

/** Yields the organizations after one in order, each with its margins of the days. One batch of each day is in memory. */
export async function* organizationsWithMargins(
  days: readonly string[],
  after: string | undefined,
): AsyncGenerator<OrganizationWithMargins> {
  const uncounted = await findUncountedDays(days);
  const rest = rowsOf(MarginsOfDay, {
    pk: days.map(marginsOfDay),
    ...(after === undefined ? {} : { from: after }),
    consistent: true,
  });
  let next = (await rest.next()).value;
  const idOf = ({ key }: Row<MarginsOfDay>): string => key.sk.replace(/#.*/, "");
  for await (const organizationId of listWallets(after)) {
    const margins: Row<MarginsOfDay>[] = [];
    // Both lists have the order of the ids.
    for (; next !== undefined && idOf(next) <= organizationId; next = (await rest.next()).value) {
      if (idOf(next) === organizationId) margins.push(next);
    }
    yield { organizationId, margins, uncountedDay: uncounted.get(organizationId) };
  }
}

/** Adds up the costs of an organization by country: those of its days, and later changes of the days that were open. */
export async function sumOfCosts(
  margins: readonly Row<MarginsOfDay>[],
  openBefore: readonly OpenDay[],
): Promise<{ readonly costs: ReadonlyMap<string, CostsOfCountry>; readonly openDays: OpenDay[] }> {
  const costs = new Map<string, CostsOfCountry>();
  const openDays: OpenDay[] = [];
  const count = ({ pk, sk, closedAt, margins: ofDay }: MarginsOfDay, counted: Costs = {}): void => {
    const present = new Map<string, CostsOfCountry>();
    for (const { country, ...margin } of ofDay) addTo(present, country, costsIn(margin, 1));
    for (const [country, each] of present) addTo(costs, country, each);
    for (const [country, each] of Object.entries(counted)) addTo(costs, country, costsIn(each, -1));
    if (closedAt === undefined) openDays.push({ pk, sk, costs: Object.fromEntries(present) });
  };
  for (const { key, item } of margins) {
    if (item === undefined) throw new UnreadableRecordError(key);
    count(item);
  }
  for (const open of openBefore) {
    const key: Key<"margins"> = { pk: open.pk, sk: open.sk };
    const present = await findItem(MarginsOfDay, key, { consistent: true });
    if (present === undefined) openDays.push(open);
    else count(present, open.costs);
  }
  return { costs, openDays };
}

function costsIn(
  { costMicros, messagesWithoutCost, unknownMessages, unknownCostMicros }: CostsOfCountry,
  sign: -1 | 1,
): CostsOfCountry {
  return {
    costMicros: sign * costMicros,
    messagesWithoutCost: sign * messagesWithoutCost,
    unknownMessages: sign * unknownMessages,
    unknownCostMicros: sign * unknownCostMicros,
  };
}

/** Returns the organizations with a day whose messages have not been counted, each with such a day. */
async function findUncountedDays(days: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const wanted = new Set(days);
  const found = new Map<string, string>();
  for (let shard = 0; shard < shardCount; shard += 1) {
    await workOnPending({
      name: "CLOSE-DAY",
      shard,
      isTimeLeft: () => true,
      visit: async (key) => {
        const { organizationId, day, margins } = shardOfCounter(key);
        if (!wanted.has(day)) return;
        const counted = await findItem(MarginsOfDay, margins, { consistent: true }).catch(unreadableOf);
        if (counted === undefined) found.set(organizationId, day);
      },
    });
  }
  return found;
}

/** Returns the days of a month. */
export function daysFrom(start: string, end: string): string[] {
  const days = (Date.parse(end) - Date.parse(start)) / dayMs;
  return Array.from({ length: days }, (_, index) =>
    dayOf(new Date(Date.parse(start) + index * dayMs).toISOString()),
  );
}
