import { beforeEach, describe, expect, it, vi } from "vitest";

import type { BatchMessage } from "../../shared/api/contract/batches.ts";
import { assignNumber } from "../../shared/messages/numbers/record.ts";
import { optOut } from "../../shared/messages/opt-outs/opt-outs.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { blockDestination, limitDestination } from "../../shared/money/prices/blocked-destinations.ts";
import { publishRateCard } from "../../shared/money/prices/publish.ts";
import { limitDailySpend, limitSendRate } from "../../shared/money/wallet/adjust.ts";
import { postToWallet } from "../../shared/money/wallet/post.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import type { Actor, KeyLimits } from "../../shared/platform/auth/actor.ts";
import {
  BatchGetCommand,
  GetCommand,
  QueryCommand,
  UpdateCommand,
} from "../../shared/platform/aws/dynamodb.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { newId } from "../../shared/platform/ids.ts";
import { usesToday } from "../../shared/platform/limits/daily.ts";
import { batchOf, messagesIn, rejectionsOf, sendBatch } from "../support/batches.ts";
import { advance } from "../support/clock.ts";
import { priceMicros } from "../support/messages.ts";
import { useOwnTable } from "../support/own-table.ts";
import { priceRows } from "../support/prices.ts";
import { interceptTableRequests } from "../support/table-requests.ts";
import { openOrganization } from "../support/wallets.ts";

const start = "2031-03-01T12:00:00Z";
let organizationId: string;

beforeEach(async () => {
  vi.setSystemTime(start);
  await useOwnTable();
  organizationId = await openOrganization(1_000 * priceMicros);
});

const spentMicros = async (): Promise<number> =>
  1_000 * priceMicros - (await readWallet(organizationId)).balanceMicros;

function actorWith(credential: { readonly limits?: Partial<KeyLimits>; readonly test?: true }): Actor {
  const { limits, ...kind } = credential;
  const own = limits && { limits: { budgetKeyId: "key_1", ...limits } };
  return {
    organizationId,
    userId: "usr_1",
    credential: { type: "apiKey", keyId: "key_1", ...kind, ...own },
    scopes: ["send"],
  };
}

describe("a batch of a thousand messages", () => {
  it("has a result for each, charges the accepted ones, and reads no item for a message alone", async () => {
    organizationId = await openOrganization(899 * priceMicros);
    const [optedOut, limited, other] = ["15007000001", "15007000002", "15007000003"];
    await publishRateCard(priceRows({ "1": priceMicros, "33": priceMicros, "44": priceMicros }), undefined);
    await optOut(organizationId, optedOut, "api");
    await assignNumber({ number: other, organizationId: await openOrganization(0) });
    await blockDestination({ prefix: "15008" }, "Ticket 30");
    await limitDestination({ prefix: "4474" }, priceMicros, "Ticket 31");
    vi.stubEnv(environmentNames.transactionalMessagesPerNumber, "1");
    advance(minuteMs);
    const later = "2031-03-01T23:00:00Z";
    const text = { message: "hello", senderId: "ACME", messageType: "marketing" } as const;
    const odd: Partial<BatchMessage>[] = [
      { from: other, senderId: "ACME" },
      { message: undefined, templateId: newId("tpl") },
      { from: other, senderId: undefined },
      { to: "15008000000" },
      { to: "992912345678" },
      { to: optedOut },
      { to: limited, messageType: "transactional" },
      { to: limited, messageType: "transactional" },
      { to: "33612345678" },
      { message: "long ".repeat(40) },
      { scheduledAt: later },
      { senderId: undefined },
      { scheduledAt: start },
      { to: "447400123456" },
      { to: "447400123457" },
    ];
    const { messages } = batchOf(1_000);
    const batch = {
      messages: messages.map((each, index) => ({
        ...each,
        ...text,
        ...odd[index],
      })),
    };
    const hours = { from: "08:00", to: "20:00", timeZone: "UTC" };
    const limits = { hours, holdAbove: 0.01, allowedRecipients: ["1", "44", "992"] };
    // Two messages to one number, of which one is accepted, and all from 15 on.
    const lastPaid = 15 + 898 - 1;
    let reads = 0;
    interceptTableRequests(async (command, send) => {
      const isRead = [BatchGetCommand, GetCommand, QueryCommand].some((each) => command instanceof each);
      reads += isRead ? 1 : 0;
      return send();
    });
    const accepted = await sendBatch(organizationId, batch, { actor: actorWith({ limits }) });

    const rest = Array.from({ length: 999 - lastPaid }, (_, index) => lastPaid + 1 + index);
    expect(rejectionsOf(accepted)).toEqual({
      VALIDATION_ERROR: [0, 1, 12],
      SENDER_ID_NOT_APPROVED: [2],
      DESTINATION_NOT_ALLOWED: [3, 13, 14],
      DESTINATION_NOT_PRICED: [4],
      RECIPIENT_OPTED_OUT: [5],
      RECIPIENT_RATE_EXCEEDED: [expect.toBeOneOf([6, 7])],
      RECIPIENT_NOT_ALLOWED_FOR_KEY: [8],
      INSUFFICIENT_SCOPE: [9],
      OUTSIDE_KEY_HOURS: [10],
      MISSING_SENDER_ID: [11],
      INSUFFICIENT_BALANCE: rest,
    });
    expect(accepted.results.map(({ index }) => index)).toEqual(messages.map((_, index) => index));
    const stored = (await messagesIn(organizationId)).map(({ id }) => id);
    expect(accepted.results.flatMap(({ id }) => id ?? []).toSorted()).toEqual(stored.toSorted());
    expect(accepted).toMatchObject({ accepted: stored.length, rejected: 1_000 - stored.length });
    expect(accepted.total).toBeCloseTo((stored.length * priceMicros) / 1e6, 6);
    expect(await readWallet(organizationId)).toMatchObject({ balanceMicros: 0 });
    // Ten requests read the opt-outs of a hundred numbers each.
    expect(reads).toBeLessThan(30);
    expect(await verifyWallet(organizationId)).toMatchObject({ findings: [] });
  });
});

it("ends at the daily cap with the code of the cap, and at the balance with that of the balance", async () => {
  await limitDailySpend(organizationId, 50 * priceMicros);
  const capped = await sendBatch(organizationId, batchOf(100));
  expect(capped).toMatchObject({ accepted: 50, rejected: 50 });
  expect(rejectionsOf(capped)).toEqual({ DAILY_SPEND_CAP_REACHED: numbers(50, 100) });
  expect(await spentMicros()).toBe(50 * priceMicros);

  organizationId = await openOrganization(50 * priceMicros);
  const paid = await sendBatch(organizationId, batchOf(100));
  expect(rejectionsOf(paid)).toEqual({ INSUFFICIENT_BALANCE: numbers(50, 100) });
  expect(await readWallet(organizationId)).toMatchObject({ balanceMicros: 0, messageCount: 50 });
});

it("counts no message against the limit of its number that the balance does not cover", async () => {
  vi.stubEnv(environmentNames.oneTimeCodesPerNumber, "1");
  const poor = await openOrganization(0);
  const batch = { ...batchOf(1), defaults: { message: "1234", senderId: "ACME" } };
  expect(rejectionsOf(await sendBatch(poor, batch))).toEqual({ INSUFFICIENT_BALANCE: [0] });
  await postToWallet({ organizationId: poor, type: "top_up", amountMicros: priceMicros });
  expect(await sendBatch(poor, batch)).toMatchObject({ accepted: 1 });
  expect(rejectionsOf(await sendBatch(poor, batch))).toEqual({ RECIPIENT_RATE_EXCEEDED: [0] });
});

it("counts as one send against the limit of a second", async () => {
  await limitSendRate(organizationId, 1);
  expect(await sendBatch(organizationId, batchOf(100))).toMatchObject({ accepted: 100 });
  await expect(sendBatch(organizationId, batchOf(100))).rejects.toMatchObject({
    code: "SEND_RATE_EXCEEDED",
    facts: { retryAfterSeconds: 1 },
  });
  expect(await spentMicros()).toBe(100 * priceMicros);
});

describe("the budget of a key", () => {
  const send = async (count: number, dailyBudget: number) =>
    sendBatch(organizationId, batchOf(count), { actor: actorWith({ limits: { dailyBudget } }) });

  it("rejects a batch that costs more, before anything is accepted", async () => {
    await expect(send(101, 0.79)).rejects.toMatchObject({ code: "KEY_BUDGET_REACHED" });
    expect(await spentMicros()).toBe(0);
    expect(await send(100, 0.79)).toMatchObject({ accepted: 100 });
    expect(await usesToday("key-budget", "key_1")).toBe(790_000);
  });

  it("has again what the balance did not cover", async () => {
    organizationId = await openOrganization(50 * priceMicros);
    expect(await send(100, 0.79)).toMatchObject({ accepted: 50 });
    expect(await usesToday("key-budget", "key_1")).toBe(50 * priceMicros);
  });
});

describe("a batch without a key whose second block fails", () => {
  /** Fails one of the updates whose key has a name. */
  function failUpdate(name: string, number: number): void {
    let left = number;
    interceptTableRequests(async (command, send) => {
      const { Key } = Object(Object(command).input);
      const isNamed = command instanceof UpdateCommand && JSON.stringify(Key).includes(name);
      left -= isNamed ? 1 : 0;
      if (isNamed && left === 0) throw new Error("no response");
      return send();
    });
  }

  it.each([
    ["the count of a number", "one-time-codes", 50],
    ["the budget of its key", "key-budget", 2],
  ])("by %s, has the results of the first, and the rest can be sent", async (_why, name, number) => {
    vi.stubEnv(environmentNames.oneTimeCodesPerNumber, "1");
    const options = { actor: actorWith({ limits: { dailyBudget: 5 } }) };
    failUpdate(name, number);
    const batch = batchOf(100);
    const failed = await sendBatch(organizationId, batch, options);
    vi.restoreAllMocks();
    expect(rejectionsOf(failed)).toEqual({ UNAVAILABLE: numbers(48, 100) });
    expect(await messagesIn(organizationId)).toHaveLength(48);
    const rest = { ...batch, messages: batch.messages.slice(48) };
    expect(await sendBatch(organizationId, rest, options)).toMatchObject({ accepted: 52 });
  });
});

describe("the mode all", () => {
  const send = async (count: number, change: Partial<BatchMessage> = {}, mode = "all" as const) => {
    const { messages, defaults } = batchOf(count);
    const all = messages.map((each, index) => (index === 3 ? { ...each, ...change } : each));
    return sendBatch(organizationId, { messages: all, defaults, mode });
  };

  it("accepts up to 48 messages together, or 32 scheduled ones", async () => {
    expect(await send(48)).toMatchObject({ accepted: 48, rejected: 0 });
    await expect(send(49)).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    const scheduledAt = "2031-03-02T12:00:00Z";
    expect(await send(32, { scheduledAt })).toMatchObject({ accepted: 32 });
    await expect(send(33, { scheduledAt })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    expect(await messagesIn(organizationId)).toHaveLength(80);
  });

  it.each([
    ["a message is rejected", { from: "15007000003" }, 48, "SENDER_ID_NOT_APPROVED"],
    ["the balance covers all but one", {}, 47, "INSUFFICIENT_BALANCE"],
  ] as const)("accepts none when %s", async (_why, change, covered, code) => {
    organizationId = await openOrganization(covered * priceMicros);
    await expect(send(48, change)).rejects.toMatchObject({ code });
    expect(await messagesIn(organizationId)).toEqual([]);
    expect(await readWallet(organizationId)).toMatchObject({ balanceMicros: covered * priceMicros, seq: 1 });
  });
});

it("test messages are free, and end at the limit of the day", async () => {
  const actor = actorWith({ test: true });
  const first = await sendBatch(organizationId, batchOf(960), { actor });
  expect(first).toMatchObject({ accepted: 960, rejected: 0 });
  expect(first.results.every(({ id = "" }) => id.endsWith("T"))).toBe(true);
  const second = await sendBatch(organizationId, batchOf(50), { actor });
  expect(rejectionsOf(second)).toEqual({ TEST_LIMIT_REACHED: numbers(0, 50) });
  expect(await sendBatch(organizationId, batchOf(40), { actor })).toMatchObject({ accepted: 40 });
  expect(await spentMicros()).toBe(0);
  expect(await messagesIn(organizationId)).toEqual([]);
});

/** The numbers from the first to below the last. */
function numbers(first: number, end: number): number[] {
  return Array.from({ length: end - first }, (_, index) => first + index);
}
