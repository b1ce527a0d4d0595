import { beforeEach, expect, it, vi } from "vitest";

import type { MessageRecord } from "../../shared/messages/message/record.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { findPresentCard } from "../../shared/money/prices/cost.ts";
import { publishRateCard } from "../../shared/money/prices/publish.ts";
import { documentOf, RateCard } from "../../shared/money/prices/rate-card.ts";
import { makeCurrent } from "../../shared/money/prices/record.ts";
import { transact } from "../../shared/platform/table/transact.ts";
import { only, ScriptedCarrier } from "../support/carriers.ts";
import { recordLog } from "../support/log.ts";
import { acceptFor, recordOf } from "../support/messages.ts";
import { useOwnTable } from "../support/own-table.ts";
import { priceRows } from "../support/prices.ts";
import { openWallet } from "../support/wallets.ts";

beforeEach(async () => {
  vi.setSystemTime(new Date("2031-03-01T12:00:00Z"));
  await useOwnTable();
});

/** A message of two segments to a number, as it is after its submission with a rate card. */
async function handedOver(to: string, rateCard: RateCard | undefined): Promise<MessageRecord> {
  const organizationId = await openWallet(1_000_000);
  const job = await acceptFor(organizationId, { to, message: "x".repeat(200) });
  await submitMessage(job, only(undefined, { rateCard }));
  return recordOf(job);
}

const card = new RateCard(
  documentOf([
    { prefix: "44", priceMicros: 1, costMicros: { sandbox: 30_001, aws: 9 } },
    { prefix: "4477", priceMicros: 1, costMicros: { aws: 9 } },
    { prefix: "49", priceMicros: 1, costMicros: { sandbox: 1 } },
    { prefix: "49", priceMicros: 1, costMicros: { sandbox: 70 }, validFrom: "2031-03-01T12:00:00.000Z" },
    { prefix: "49", priceMicros: 1, costMicros: { sandbox: 2 }, validFrom: "2031-03-01T12:00:00.001Z" },
    { prefix: "1", priceMicros: 1, costMicros: { sandbox: 0 } },
  ]),
);

it.each([
  ["442012345678", 60_002],
  ["4915112345678", 140],
  ["15005550000", 0],
])("a message to %s records the carrier's cost when it is submitted", async (to, costMicros) => {
  expect(await handedOver(to, card)).toMatchObject({ status: "sent", segments: 2, costMicros });
});

it.each([
  ["whose row has no cost of its carrier", "447700900123", card],
  ["without a row", "33612345678", card],
  ["without a readable rate card", "442012345678", undefined],
])("a message %s is sent without a cost", async (_which, to, rateCard) => {
  const message = await handedOver(to, rateCard);
  expect(message.status).toBe("sent");
  expect(message).not.toHaveProperty("costMicros");
});

it("a message that fails with an unknown outcome records what its carrier may charge, beside its refund", async () => {
  const organizationId = await openWallet(1_000_000);
  const job = await acceptFor(organizationId, { to: "442012345678", message: "x".repeat(200) });
  const silent = new ScriptedCarrier(() => {
    throw new Error("the connection was lost");
  }, false);
  await expect(submitMessage(job, only(silent, { rateCard: card }))).rejects.toThrow("is not known");
  vi.setSystemTime(new Date("2031-03-01T12:03:00Z"));
  await submitMessage(job, only(silent, { rateCard: card }));
  expect(silent.received).toHaveLength(1);
  const unknown = { errorCode: "MESSAGE_OUTCOME_UNKNOWN", refund: "due", costMicros: 60_002 };
  expect(await recordOf(job)).toMatchObject(unknown);
});

it("a sender gets the rate card in force, and continues with a line in the log where none can be read", async () => {
  await publishRateCard(priceRows({ "44": 40_000 }), undefined);
  const found = await findPresentCard();
  expect(found?.rowFor("442012345678", new Date())).toMatchObject({ priceMicros: 40_000 });
  await useOwnTable();
  await transact({ current: makeCurrent(9, undefined) });
  const log = recordLog();
  expect(await findPresentCard()).toBeUndefined();
  expect(log.of("prices.costs_not_known")).toHaveLength(1);
});
