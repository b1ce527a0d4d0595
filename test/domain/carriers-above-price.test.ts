import { beforeEach, expect, it, vi } from "vitest";

import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { documentOf, RateCard } from "../../shared/money/prices/rate-card.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { accept, inOrder, reject, throttle, beUnreachable } from "../support/carriers.ts";
import { recordLog, type RecordedLog } from "../support/log.ts";
import { acceptedMessage, recordOf, statusOf } from "../support/messages.ts";
import { threeCarriers, balanceAfterRefunds } from "../support/three-carriers.ts";

let log: RecordedLog;
beforeEach(() => {
  log = recordLog();
});

/** The costs of the three carriers for a message with a price of 7,900 micro-units. */
function costs(alpha: number, beta: number, gamma?: number) {
  const costMicros = { alpha, beta, ...(gamma === undefined ? {} : { gamma }) };
  return { rateCard: new RateCard(documentOf([{ prefix: "1", priceMicros: 1, costMicros }])) };
}

it.each([
  ["rejected", reject],
  ["throttled", throttle],
  ["was unreachable for", beUnreachable],
])(
  "a carrier above the price of a message is skipped for a message that the first one %s",
  async (_, first) => {
    const { job, route, asked } = await threeCarriers(first);
    await submitMessage(job, inOrder(route, costs(1, 7_901, 7_900)));
    expect(asked()).toEqual([1, 0, 1]);
    expect(await recordOf(job)).toMatchObject({ status: "sent", carrier: "gamma", costMicros: 7_900 });
    expect(log.text()).not.toContain("carrier.above_price");
  },
);

it("a carrier above the price of a message is used where its cost is not known, and where it is the first of its route", async () => {
  const { job, route, asked } = await threeCarriers(reject, reject);
  await submitMessage(job, inOrder(route, costs(9_000, 7_900)));
  expect(asked()).toEqual([1, 1, 1]);
});

it("a carrier above the price of a message does not count after the others have rejected: the message fails with their code, and is refunded", async () => {
  const { job, route, asked } = await threeCarriers(reject);
  await submitMessage(job, inOrder(route, costs(1, 7_901, 9_000)));
  expect(asked()).toEqual([1, 0, 0]);
  expect(await statusOf(job)).toBe("failed: MESSAGE_UNROUTABLE");
  expect(await balanceAfterRefunds(job)).toBe(1_000_000);
  expect(log.text()).toMatch(/"event":"carrier.above_price".*"carrier":"beta"[^]*"carrier":"gamma"/);
});

it("a carrier above the price of a message lets a message wait that the others throttled, and accepts it when the cost has come down", async () => {
  const { job, route, asked } = await threeCarriers(throttle);
  await submitMessage(job, inOrder(route, costs(1, 7_901, 9_000)));
  expect([asked(), await statusOf(job)]).toEqual([[1, 0, 0], "queued"]);
  await submitMessage(job, inOrder(route, costs(1, 7_900, 9_000)));
  expect([asked(), await statusOf(job)]).toEqual([[2, 1, 0], "sent"]);
});

it("a carrier above the price of a message lets messages wait where the first one is disabled", async () => {
  const { job, route, asked } = await threeCarriers(accept);
  const disabled = route.map((each) => ({ ...each, isDisabled: each.name === "alpha" }));
  await submitMessage(job, inOrder(disabled, costs(1, 7_901, 9_000)));
  expect([asked(), await statusOf(job)]).toEqual([[0, 0, 0], "queued"]);
  expect(log.text()).toContain('"event":"carrier.above_price"');
});

it("a carrier above the price of a message is used on a stage that allows it", async () => {
  vi.stubEnv(environmentNames.failoverAtLoss, "true");
  const { job, route, asked } = await threeCarriers(reject);
  await submitMessage(job, inOrder(route, costs(1, 7_901, 9_000)));
  expect(asked()).toEqual([1, 1, 0]);
  expect(await recordOf(job)).toMatchObject({ status: "sent", carrier: "beta", costMicros: 7_901 });
});

it("a carrier above the price of a message is judged by the cost of all segments of a message", async () => {
  const job = await acceptedMessage({ message: "x".repeat(200) });
  const { route, asked } = await threeCarriers(reject);
  await submitMessage(job, inOrder(route, costs(1, 7_900, 1)));
  expect(asked()).toEqual([1, 1, 0]);
  expect(await recordOf(job)).toMatchObject({ status: "sent", costMicros: 15_800 });
});
