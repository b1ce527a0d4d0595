import { dayMs, dayOf, minuteMs } from "../../platform/clock.ts";
import { firstIdAt } from "../../platform/ids.ts";
import { itemsIn } from "../../platform/table/lists.ts";
import { marginsOfDay, type DayShard } from "../../platform/table/shards.ts";
import { MessageRecord } from "../message/record.ts";
import { MarginsRecord, marginsOf, sumOfMargins, type Margin } from "./margins.ts";

/** Reads the revenue and cost of all organizations' messages of a day, if they have been counted. */
export function readMargins(day: string): AsyncGenerator<MarginsRecord> {
  return itemsIn(MarginsRecord, { pk: marginsOfDay(day), consistent: true });
}

/** The margins in memory, more than the countries and carriers of a day. */
const maxMargins = 10_000;

/** Calculates the same from the day's messages that have not been counted. */
export async function readMarginsOfMessages({ day, messages }: DayShard): Promise<Margin[]> {
  const from = new Date(`${day}T00:00:00.000Z`);
  const range = {
    from: firstIdAt("msg", from),
    // An id is made a moment after the message's `queuedAt`.
    to: firstIdAt("msg", new Date(from.getTime() + dayMs + minuteMs)),
  };
  let margins: Margin[] = [];
  for await (const message of itemsIn(MessageRecord, { pk: messages, ...range })) {
    if (dayOf(message.queuedAt) === day) margins.push(...marginsOf([message]));
    if (margins.length === maxMargins) margins = sumOfMargins(margins);
  }
  return sumOfMargins(margins);
}
