import * as z from "zod/mini";

import { deliveryGroupings, readDeliveries, type DeliveryRow } from "../../shared/figures/deliveries/rows.ts";
import { hourMs, now } from "../../shared/platform/clock.ts";
import { command, count, part } from "./command.ts";
import { right, type Columns } from "./output.ts";

const rule = `must be some of ${deliveryGroupings.join(",")}`;
const Groupings = z.pipe(
  z.pipe(
    z.string(),
    z.transform((text) => text.split(",")),
  ),
  z.array(z.enum(deliveryGroupings, rule)),
);

export const showDeliveries = command({
  name: "deliveries",
  summary: "Show how many messages carriers accepted and delivered, and how fast",
  details:
    "A message counts for the five minutes (UTC) in which a carrier accepted it, and its receipt too. Each failed attempt counts, " +
    "also if another carrier accepted the message. RATE is the delivered share of the messages with a receipt, and OF ACCEPTED " +
    "that of all accepted messages. IN 10 S is the share that a carrier accepted within ten seconds. Test messages do not count. " +
    "Figures are kept for 90 days. The last minutes may lack a few messages.",
  examples: [
    "--by carrier,country --hours 6 --stage prod",
    "--by hour --hours 48 --carrier one --country GB --stage prod",
  ],
  input: z.object({
    by: part(
      "--by <groups>",
      `${deliveryGroupings.join(", ")}; default: carrier`,
      z._default(Groupings, ["carrier"]),
    ),
    hours: part("--hours <hours>", "number of past hours; default: 24", z._default(count(90 * 24), 24)),
    carrier: part("--carrier <carrier>", "only this carrier", z.optional(z.string())),
    country: part("--country <country>", "only this country, as an ISO 3166-1 code", z.optional(z.string())),
  }),
  run: async ({ by, hours, carrier, country }, { output }) => {
    const until = now();
    const since = new Date(until.getTime() - hours * hourMs);
    const rows = await readDeliveries({ since, until, by, carrier, country });
    const groups = by.map((name) => [name.toUpperCase(), (row: DeliveryRow) => row[name]]);
    const columns: Columns<DeliveryRow> = {
      ...Object.fromEntries(groups),
      ACCEPTED: "accepted",
      FAILED: "failed",
      THROTTLED: "throttled",
      DELIVERED: "delivered",
      UNDELIVERED: "undelivered",
      "NO RECEIPT": "withoutReceipt",
      RATE: ({ rate }) => percentOf(rate),
      "OF ACCEPTED": ({ rateOfAccepted }) => percentOf(rateOfAccepted),
      "IN 10 S": ({ promptShare }) => percentOf(promptShare),
      "SUBMITTED IN": ({ secondsToSubmit }) => right(textOf(secondsToSubmit)),
      "RECEIPT IN": ({ secondsToReceipt }) => right(textOf(secondsToReceipt)),
    };
    output.table(rows, columns);
    if (rows.length === 0) output.note("No messages were submitted in this time.");
    else
      output.note(
        "The seconds are those of half of the messages, and of 95 in 100. SUBMITTED IN begins when a message is due.",
      );
  },
});

function percentOf(share: number | null): ReturnType<typeof right> {
  return right(share === null ? "" : `${(100 * share).toFixed(1)}%`);
}

function textOf({ half, most }: DeliveryRow["secondsToReceipt"]): string {
  const [first, second] = [half, most].map((seconds) => (seconds === null ? "-" : `${seconds}s`));
  return half === null ? "" : `${first}, ${second}`;
}
