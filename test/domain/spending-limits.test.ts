import { beforeEach, describe, expect, it, vi } from "vitest";

import { type RateLimitStatus } from "../../shared/api/contract/errors.ts";
import { limitDailySpend, limitSendRate } from "../../shared/money/wallet/adjust.ts";
import { postToWallet } from "../../shared/money/wallet/post.ts";
import { toApiWallet, readWallet } from "../../shared/money/wallet/record.ts";
import { updateWallet } from "../../shared/money/wallet/update.ts";
import { hourMs, minuteMs, secondMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { advance } from "../support/clock.ts";
import { acceptFor, acceptBlock, priceMicros } from "../support/messages.ts";
import { sendAtOnce, acceptedOf } from "../support/parallel-sends.ts";
import { openWallet } from "../support/wallets.ts";

const start = new Date("2030-06-01T12:00:00Z");

let organizationId: string;
beforeEach(() => void vi.setSystemTime(start));

const send = async (): Promise<unknown> => acceptFor(organizationId);

describe("a daily spend cap for ten messages", () => {
  const capMicros = 10 * priceMicros + 1;
  beforeEach(async () => {
    vi.stubEnv(environmentNames.dailySpendCap, "0.079001");
    organizationId = await openWallet(10_000_000);
  });

  it("lets ten of a hundred parallel sends pass, and reports when the next day begins", async () => {
    expect(await sendAtOnce(100, send)).toEqual({
      accepted: 10,
      rejected: { DAILY_SPEND_CAP_REACHED: 90 },
      retryAfter: new Set([12 * 60 * 60]),
    });
    expect(toApiWallet(await readWallet(organizationId))).toMatchObject({
      balance: 9.921,
      spentToday: 0.079,
      dailySpendCap: 0.079001,
    });
  });

  it("lets ten more pass on the next day, also when many sends race to begin it", async () => {
    await sendAtOnce(20, send);
    advance(12 * hourMs - 1);
    expect(await acceptedOf(1, send)).toBe(0);
    advance(1);
    expect(toApiWallet(await readWallet(organizationId)).spentToday).toBe(0);
    expect(await acceptedOf(100, send)).toBe(10);
    expect((await readWallet(organizationId)).spentTodayMicros).toBe(10 * priceMicros);
  });

  it("does not reopen for a sender whose clock is slow", async () => {
    advance(12 * hourMs);
    await sendAtOnce(20, send);
    advance(-minuteMs);
    expect(await acceptedOf(5, send)).toBe(0);
    advance(minuteMs);
    expect(await acceptedOf(5, send)).toBe(0);
  });

  it("holds for messages that are paid together: all or none", async () => {
    const block = async (): Promise<unknown> => acceptBlock(organizationId, 4);
    expect(await acceptedOf(10, block)).toBe(2);
    expect((await readWallet(organizationId)).spentTodayMicros).toBe(8 * priceMicros);
  });

  it("does not grow by refunds", async () => {
    await sendAtOnce(10, send);
    await postToWallet({ organizationId, type: "refund", amountMicros: 5 * priceMicros });
    expect(await acceptedOf(5, send)).toBe(0);
  });

  it("grows by a debit that is returned, also after the cap changed", async () => {
    const { spendDay: day } = await readWallet(organizationId);
    const returnDebit = async (): Promise<unknown> => {
      const notAccepted = { day, accepted: 1, acceptedMicros: priceMicros };
      return postToWallet({ organizationId, type: "refund", amountMicros: priceMicros, notAccepted });
    };
    await sendAtOnce(10, send);
    await returnDebit();
    expect(await acceptedOf(5, send)).toBe(1);
    await updateWallet(organizationId, { dailySpendCap: 0.07 });
    await returnDebit();
    await returnDebit();
    await returnDebit();
    const { spentTodayMicros, spendLeftMicros } = await readWallet(organizationId);
    expect({ spentTodayMicros, spendLeftMicros }).toEqual({ spentTodayMicros: 7 * priceMicros });
    expect(await acceptedOf(5, send)).toBe(1);
    advance(12 * hourMs);
    await send();
    await returnDebit();
    expect((await readWallet(organizationId)).spentTodayMicros).toBe(priceMicros);
  });

  it("changes when the operator changes it, from the next message on and for all later days", async () => {
    await sendAtOnce(4, send);
    await limitDailySpend(organizationId, 6 * priceMicros);
    expect(await acceptedOf(50, send)).toBe(2);
    // Less than the day's spending.
    await limitDailySpend(organizationId, 3 * priceMicros);
    expect(await acceptedOf(5, send)).toBe(0);
    await limitDailySpend(organizationId, 7 * priceMicros);
    expect(await acceptedOf(50, send)).toBe(1);
    advance(24 * hourMs);
    expect(await acceptedOf(20, send)).toBe(7);
    await limitDailySpend(organizationId, "none");
    expect(await acceptedOf(20, send)).toBe(20);
    await limitDailySpend(organizationId, undefined);
    expect(await acceptedOf(1, send)).toBe(0);
    advance(24 * hourMs);
    expect(await acceptedOf(20, send)).toBe(10);
  });

  it("can be lowered by the customer, and not raised above the operator's cap", async () => {
    await updateWallet(organizationId, { dailySpendCap: 0.03 });
    expect(await acceptedOf(20, send)).toBe(3);
    expect(toApiWallet(await readWallet(organizationId)).dailySpendCap).toBe(0.03);
    await expect(updateWallet(organizationId, { dailySpendCap: 0.08 })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      details: [{ path: "dailySpendCap", message: "must be at most 0.079001, the operator's cap" }],
    });
    await limitDailySpend(organizationId, 5 * priceMicros);
    expect(await acceptedOf(20, send)).toBe(0);
    await updateWallet(organizationId, { dailySpendCap: null });
    expect(await acceptedOf(20, send)).toBe(2);
  });

  it("is never exceeded while it changes repeatedly during sends", async () => {
    const caps = [4, 9, 2, 8, 3, 9].map((messages) => messages * priceMicros);
    // Before the first change, the stage's cap is in force.
    await limitDailySpend(organizationId, 9 * priceMicros);
    const change = async (): Promise<void> => {
      for (const micros of caps) await limitDailySpend(organizationId, micros);
    };
    const [{ accepted }] = await Promise.all([sendAtOnce(60, send), change(), change()]);
    const { accepted: more } = await sendAtOnce(20, send);
    expect(accepted + more).toBe(9);
    expect((await readWallet(organizationId)).spentTodayMicros).toBe(9 * priceMicros);
  });

  it("takes effect on the next day when the stage changes it", async () => {
    await send();
    vi.stubEnv(environmentNames.dailySpendCap, "0.0158");
    advance(24 * hourMs);
    expect(await acceptedOf(20, send)).toBe(2);
    vi.stubEnv(environmentNames.dailySpendCap, "");
    advance(24 * hourMs);
    expect(await acceptedOf(20, send)).toBe(20);
    expect(toApiWallet(await readWallet(organizationId)).dailySpendCap).toBeUndefined();
  });

  it("is checked after the balance, which a top-up fixes", async () => {
    organizationId = await openWallet(priceMicros);
    await limitDailySpend(organizationId, 1);
    await expect(send()).rejects.toMatchObject({ code: "DAILY_SPEND_CAP_REACHED" });
    await limitDailySpend(organizationId, capMicros);
    await send();
    await limitDailySpend(organizationId, 1);
    await expect(send()).rejects.toMatchObject({ code: "INSUFFICIENT_BALANCE" });
  });
});

describe("a limit of ten messages per second", () => {
  beforeEach(async () => {
    vi.stubEnv(environmentNames.sendsPerSecond, "10");
    organizationId = await openWallet(10_000_000);
  });

  it("lets ten of fifty parallel sends pass in each second", async () => {
    for (let second = 0; second < 3; second += 1) {
      expect(await sendAtOnce(50, send)).toEqual({
        accepted: 10,
        rejected: { SEND_RATE_EXCEEDED: 40 },
        retryAfter: new Set([1]),
      });
      advance(secondMs - 1);
      expect(await acceptedOf(5, send)).toBe(0);
      advance(1);
    }
  });

  it("changes immediately when the operator changes it", async () => {
    await limitSendRate(organizationId, 3);
    expect(await acceptedOf(20, send)).toBe(3);
    await limitSendRate(organizationId, "none");
    expect(await acceptedOf(20, send)).toBe(20);
    await limitSendRate(organizationId, undefined);
    expect(await acceptedOf(20, send)).toBe(10);
  });

  it("does not limit campaign messages, which do not use it up either", async () => {
    const campaignId = "cmp_01J00000000000000000000000";
    await acceptBlock(organizationId, 30, { campaignId });
    expect(await acceptedOf(20, send)).toBe(10);
  });

  it("is returned with each response, with its remainder", async () => {
    const reports: RateLimitStatus[] = [];
    const sendAndListen = async (): Promise<unknown> =>
      acceptFor(organizationId, {}, { reportRateLimit: (status) => void (status && reports.push(status)) });
    for (let sent = 0; sent < 10; sent += 1) await sendAndListen();
    const limit = { name: "sends", max: 10, windowMs: secondMs, resetSeconds: 1 };
    expect(reports).toEqual(Array.from({ length: 10 }, (_, index) => ({ ...limit, remaining: 9 - index })));
    await expect(sendAndListen()).rejects.toMatchObject({
      facts: { retryAfterSeconds: 1, rateLimit: { ...limit, remaining: 0 } },
    });
    await limitSendRate(organizationId, "none");
    await sendAndListen();
    expect(reports).toHaveLength(10);
  });
});
