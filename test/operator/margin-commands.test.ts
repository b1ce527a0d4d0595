import { afterAll, beforeAll, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { noFigures, writeFigures, noMessages, type Margin } from "../../shared/messages/counts/figures.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { messageKey } from "../../shared/platform/table/shards.ts";
import { putItem, putOf, updateItem, updateOf } from "../../shared/platform/table/write.ts";
import type { Customer } from "../support/api.ts";
import { sentMessage } from "../support/message-records.ts";
import { jsonOf, outputOf } from "../support/operator.ts";
import { dayShardOf } from "../support/organization-shards.ts";
import { useOperatedGateway } from "../support/own-gateway.ts";

/*
 * The margins of sent messages, as the operator sees them.
 */

const { register } = useOperatedGateway();
const organizationId = "org_01J00000000000000000000000";
const ofMessages = { ...noMessages, segments: 2, messages: 2 };
const gb = { ...ofMessages, country: "GB", carrier: "aws", revenueMicros: 92_000, costMicros: 60_001 };
const us = { ...ofMessages, country: "US", carrier: "kannel", revenueMicros: 15_800, costMicros: 16_000 };
const unknown = { ...ofMessages, country: "GB", carrier: "kannel", revenueMicros: 100, costMicros: 0 };

let customer: Customer;

beforeAll(async () => {
  customer = await register();
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2031-03-03T12:00:00Z") });
  const write = async (day: string, margins: Margin[], isFinal = true): Promise<void> =>
    writeFigures(dayShardOf(organizationId, day), { ...noFigures, margins }, isFinal);
  await write("2031-01-31", [gb]);
  await write("2031-03-01", [gb, us]);
  await write(
    "2031-03-02",
    [gb, { ...unknown, messagesWithoutCost: 2, unknownMessages: 1, unknownCostMicros: 70_000 }],
    false,
  );
  const other = dayShardOf("org_01J00000000000000000000001", "2031-03-02", 3);
  await writeFigures(other, { ...noFigures, margins: [us] }, true);
});
afterAll(() => {
  vi.useRealTimers();
});

it("margins have no share without revenue", async () => {
  vi.setSystemTime(new Date("2030-03-03T12:00:00Z"));
  const out = await outputOf("margins");
  vi.setSystemTime(new Date("2031-03-03T12:00:00Z"));
  expect(out).toBe(
    "Total of 0 messages: revenue 0, cost 0, margin 0 USD (-)\n" +
      "The messages of today are not included: --today reads them.\n30 read units\n",
  );
});

it("margins are summed by day, exactly, with the unknown costs and the days that are not final", async () => {
  const lines = (await outputOf("margins")).split("\n");
  expect(lines.map((line) => line.trim().replaceAll(/ {2,}/g, " | "))).toEqual([
    "DAY | MESSAGES | SEGMENTS | REVENUE | COST | MARGIN | SHARE | WITHOUT COST | UNKNOWN | UNKNOWN COST | UNIT COST",
    "2031-03-01 | 4 | 4 | 0.1078 | 0.076001 | 0.031799 | 29.5% | 0 | 0 | 0 | 0.019",
    "2031-03-02 | 6 | 6 | 0.1079 | 0.076001 | 0.031899 | 29.6% | 2 | 1 | 0.07",
    "Total of 10 messages: revenue 0.2157, cost 0.152002, margin 0.063698 USD (29.5%)",
    "The outcome of 1 messages is unknown. Carriers may charge 0.07 for them, which is not included.",
    "The costs of 2 messages are unknown and not included.",
    "The messages of today are not included: --today reads them.",
    "30 read units",
    "Not final: 1 days of organizations have scheduled messages.",
    "",
  ]);
});

it.each([
  ["--by country", ["GB 184100 120002", "US 31600 32000"]],
  ["--by carrier", ["aws 184000 120002", "kannel 31700 32000"]],
  ["--by organization", [`${organizationId} 199900 136002`, "org_01J00000000000000000000001 15800 16000"]],
  ["--by carrier,country", ["aws GB 184000 120002", "kannel US 31600 32000", "kannel GB 100 0"]],
  ["--by country --month 2031-01", ["GB 92000 60001"]],
  ["--by carrier --days 1", ["aws 92000 60001", "kannel 15900 16000"]],
  ["--days 31", ["2031-01-31 92000 60001", "2031-03-01 107800 76001", "2031-03-02 107900 76001"]],
])("margins are summed by %s", async (options, expected) => {
  const Row = z.object({ name: z.string(), revenueMicros: z.int(), costMicros: z.int() });
  const rows = await jsonOf(`margins ${options}`, Row);
  expect(rows.map((row) => `${row.name} ${row.revenueMicros} ${row.costMicros}`)).toEqual(expected);
});

it("margins are a CSV file with --csv", async () => {
  expect(await outputOf("margins --by country --csv")).toBe(
    "country,messages,segments,revenue,cost,margin,share,without_cost,unknown,unknown_cost,unit_cost\n" +
      "GB,6,6,0.1841,0.120002,0.064098,34.8%,2,1,0.07,\n" +
      "US,4,4,0.0316,0.032,-0.0004,-1.3%,0,0,0,0.008\n",
  );
});

it("margins include today with --today", async () => {
  const message = sentMessage(customer.organizationId, { carrier: "aws", costMicros: 5_000 });
  await putItem(putOf(messageKey(message), message));
  const wallet = updateOf(keys.wallet(customer.organizationId), {
    set: { messageCount: 1, spendDay: "2031-03-03" },
  });
  await updateItem(z.unknown(), wallet);
  const lines = (await outputOf("margins --days 1 --today --csv")).split("\n");
  expect(lines.slice(1)).toEqual([
    "2031-03-02,6,6,0.1079,0.076001,0.031899,29.6%,2,1,0.07,",
    "2031-03-03,1,1,0.0079,0.005,0.0029,36.7%,0,0,0,0.005",
    "",
  ]);
});
