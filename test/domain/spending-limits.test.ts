import { randomUUID } from "node:crypto";

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { ApiError, type ErrorCode, type RateLimitStatus } from "../../shared/api/contract/errors.ts";
import { acceptTogether, newMessage } from "../../shared/messages/accept/accept.ts";
import { countCampaignMessage } from "../../shared/messages/accept/recipient-limits.ts";
import { limitDailySpend, limitSendRate } from "../../shared/money/wallet/adjust.ts";
import { postToWallet } from "../../shared/money/wallet/post.ts";
import { toApiWallet, readWallet } from "../../shared/money/wallet/record.ts";
import { updateWallet } from "../../shared/money/wallet/update.ts";
import { dayMs, hourMs, minuteMs, secondMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { once } from "../../shared/platform/http/idempotency.ts";
import { acceptMessage } from "../support/as-organization.ts";
import { onePrice } from "../support/prices.ts";
import { openWallet } from "../support/wallets.ts";

const start = new Date("2030-06-01T12:00:00Z");
const priceMicros = 7_900;
const request = { to: "15005550000", message: "hi", senderId: "ACME", language: "English" } as const;

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: start }));
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

function advance(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

async function send(organizationId: string): Promise<void> {
  await acceptMessage(organizationId, request);
}

interface Sent {
  readonly accepted: number;
  /** How often each error came. */
  readonly rejected: { readonly [Code in ErrorCode]?: number };
  readonly retryAfter: ReadonlySet<number | undefined>;
}

/** Makes `count` sends in parallel. */
async function sendAtOnce(count: number, one: () => Promise<unknown>): Promise<Sent> {
  const results = await Promise.allSettled(Array.from({ length: count }, one));
  const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  const refusals = errors.map((error) => {
    if (!(error instanceof ApiError)) throw error;
    return error;
  });
  const byCode = Map.groupBy(refusals, ({ code }) => code);
  return {
    accepted: count - errors.length,
    rejected: Object.fromEntries([...byCode].map(([code, each]) => [code, each.length])),
    retryAfter: new Set(refusals.map(({ facts }) => facts.retryAfterSeconds)),
  };
}

describe("a daily spend cap for ten messages", () => {
  const capMicros = 10 * priceMicros + 1;
  beforeEach(() => void vi.stubEnv(environmentNames.dailySpendCap, "0.079001"));

  it("lets ten of a hundred parallel sends pass, and reports when the next day begins", async () => {
    const organizationId = await openWallet(10_000_000);
    expect(await sendAtOnce(100, async () => send(organizationId))).toEqual({
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
    const organizationId = await openWallet(10_000_000);
    await sendAtOnce(20, async () => send(organizationId));
    advance(12 * hourMs - 1);
    expect((await sendAtOnce(1, async () => send(organizationId))).accepted).toBe(0);
    advance(1);
    expect(toApiWallet(await readWallet(organizationId)).spentToday).toBe(0);
    expect((await sendAtOnce(100, async () => send(organizationId))).accepted).toBe(10);
    expect((await readWallet(organizationId)).spentTodayMicros).toBe(10 * priceMicros);
  });

  it("does not reopen for a sender whose clock is slow", async () => {
    const organizationId = await openWallet(10_000_000);
    advance(12 * hourMs);
    await sendAtOnce(20, async () => send(organizationId));
    advance(-minuteMs);
    expect((await sendAtOnce(5, async () => send(organizationId))).accepted).toBe(0);
    advance(minuteMs);
    expect((await sendAtOnce(5, async () => send(organizationId))).accepted).toBe(0);
  });

  it("holds for messages that are paid together: all or none", async () => {
    const organizationId = await openWallet(10_000_000);
    const block = async (): Promise<unknown> =>
      acceptTogether(
        Array.from({ length: 4 }, () =>
          newMessage(organizationId, request, { queuedAt: new Date(), prices: onePrice }),
        ),
        () => [],
      );
    expect((await sendAtOnce(10, block)).accepted).toBe(2);
    expect((await readWallet(organizationId)).spentTodayMicros).toBe(8 * priceMicros);
  });

  it("does not grow by refunds", async () => {
    const organizationId = await openWallet(10_000_000);
    await sendAtOnce(10, async () => send(organizationId));
    await postToWallet({ organizationId, type: "refund", amountMicros: 5 * priceMicros });
    expect((await sendAtOnce(5, async () => send(organizationId))).accepted).toBe(0);
  });

  it("grows by a debit that is returned, also after the cap changed", async () => {
    const organizationId = await openWallet(10_000_000);
    const { spendDay: day } = await readWallet(organizationId);
    const returnDebit = async (): Promise<unknown> => {
      const notAccepted = { day, accepted: 1, acceptedMicros: priceMicros };
      return postToWallet({ organizationId, type: "refund", amountMicros: priceMicros, notAccepted });
    };
    await sendAtOnce(10, async () => send(organizationId));
    await returnDebit();
    expect((await sendAtOnce(5, async () => send(organizationId))).accepted).toBe(1);
    await updateWallet(organizationId, { dailySpendCap: 0.07 });
    await returnDebit();
    await returnDebit();
    await returnDebit();
    const { spentTodayMicros, spendLeftMicros } = await readWallet(organizationId);
    expect({ spentTodayMicros, spendLeftMicros }).toEqual({ spentTodayMicros: 7 * priceMicros });
    expect((await sendAtOnce(5, async () => send(organizationId))).accepted).toBe(1);
    advance(12 * hourMs);
    await send(organizationId);
    await returnDebit();
    expect((await readWallet(organizationId)).spentTodayMicros).toBe(priceMicros);
  });

  it("changes when the operator changes it, from the next message on and for all later days", async () => {
    const organizationId = await openWallet(10_000_000);
    await sendAtOnce(4, async () => send(organizationId));
    await limitDailySpend(organizationId, 6 * priceMicros);
    expect((await sendAtOnce(50, async () => send(organizationId))).accepted).toBe(2);
    // Less than the day's spending.
    await limitDailySpend(organizationId, 3 * priceMicros);
    expect((await sendAtOnce(5, async () => send(organizationId))).accepted).toBe(0);
    await limitDailySpend(organizationId, 7 * priceMicros);
    expect((await sendAtOnce(50, async () => send(organizationId))).accepted).toBe(1);
    advance(24 * hourMs);
    expect((await sendAtOnce(20, async () => send(organizationId))).accepted).toBe(7);
    await limitDailySpend(organizationId, "none");
    expect((await sendAtOnce(20, async () => send(organizationId))).accepted).toBe(20);
    await limitDailySpend(organizationId, undefined);
    expect((await sendAtOnce(1, async () => send(organizationId))).accepted).toBe(0);
    advance(24 * hourMs);
    expect((await sendAtOnce(20, async () => send(organizationId))).accepted).toBe(10);
  });

  it("can be lowered by the customer, and not raised above the operator's cap", async () => {
    const organizationId = await openWallet(10_000_000);
    await updateWallet(organizationId, { dailySpendCap: 0.03 });
    expect((await sendAtOnce(20, async () => send(organizationId))).accepted).toBe(3);
    expect(toApiWallet(await readWallet(organizationId)).dailySpendCap).toBe(0.03);
    await expect(updateWallet(organizationId, { dailySpendCap: 0.08 })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      details: [{ path: "dailySpendCap", message: "must be at most 0.079001, the operator's cap" }],
    });
    await limitDailySpend(organizationId, 5 * priceMicros);
    expect((await sendAtOnce(20, async () => send(organizationId))).accepted).toBe(0);
    await updateWallet(organizationId, { dailySpendCap: null });
    expect((await sendAtOnce(20, async () => send(organizationId))).accepted).toBe(2);
  });

  it("is never exceeded while it changes repeatedly during sends", async () => {
    const organizationId = await openWallet(10_000_000);
    const caps = [4, 9, 2, 8, 3, 9].map((messages) => messages * priceMicros);
    // Before the first change, the stage's cap is in force.
    await limitDailySpend(organizationId, 9 * priceMicros);
    const change = async (): Promise<void> => {
      for (const micros of caps) await limitDailySpend(organizationId, micros);
    };
    const [{ accepted }] = await Promise.all([
      sendAtOnce(60, async () => send(organizationId)),
      change(),
      change(),
    ]);
    const { accepted: more } = await sendAtOnce(20, async () => send(organizationId));
    expect(accepted + more).toBe(9);
    expect((await readWallet(organizationId)).spentTodayMicros).toBe(9 * priceMicros);
  });

  it("takes effect on the next day when the stage changes it", async () => {
    const organizationId = await openWallet(10_000_000);
    await send(organizationId);
    vi.stubEnv(environmentNames.dailySpendCap, "0.0158");
    advance(24 * hourMs);
    expect((await sendAtOnce(20, async () => send(organizationId))).accepted).toBe(2);
    vi.stubEnv(environmentNames.dailySpendCap, "");
    advance(24 * hourMs);
    expect((await sendAtOnce(20, async () => send(organizationId))).accepted).toBe(20);
    expect(toApiWallet(await readWallet(organizationId)).dailySpendCap).toBeUndefined();
  });

  it("is checked after the balance, which a top-up fixes", async () => {
    const organizationId = await openWallet(priceMicros);
    await limitDailySpend(organizationId, 1);
    await expect(send(organizationId)).rejects.toMatchObject({ code: "DAILY_SPEND_CAP_REACHED" });
    await limitDailySpend(organizationId, capMicros);
    await send(organizationId);
    await limitDailySpend(organizationId, 1);
    await expect(send(organizationId)).rejects.toMatchObject({ code: "INSUFFICIENT_BALANCE" });
  });
});

describe("a limit of ten messages per second", () => {
  beforeEach(() => void vi.stubEnv(environmentNames.sendsPerSecond, "10"));

  it("lets ten of fifty parallel sends pass in each second", async () => {
    const organizationId = await openWallet(10_000_000);
    for (let second = 0; second < 3; second += 1) {
      expect(await sendAtOnce(50, async () => send(organizationId))).toEqual({
        accepted: 10,
        rejected: { SEND_RATE_EXCEEDED: 40 },
        retryAfter: new Set([1]),
      });
      advance(secondMs - 1);
      expect((await sendAtOnce(5, async () => send(organizationId))).accepted).toBe(0);
      advance(1);
    }
  });

  it("changes immediately when the operator changes it", async () => {
    const organizationId = await openWallet(10_000_000);
    await limitSendRate(organizationId, 3);
    expect((await sendAtOnce(20, async () => send(organizationId))).accepted).toBe(3);
    await limitSendRate(organizationId, "none");
    expect((await sendAtOnce(20, async () => send(organizationId))).accepted).toBe(20);
    await limitSendRate(organizationId, undefined);
    expect((await sendAtOnce(20, async () => send(organizationId))).accepted).toBe(10);
  });

  it("does not limit campaign messages, which do not use it up either", async () => {
    const organizationId = await openWallet(10_000_000);
    const campaignId = "cmp_01J00000000000000000000000";
    const block = Array.from({ length: 30 }, () =>
      newMessage(organizationId, { ...request, campaignId }, { queuedAt: new Date(), prices: onePrice }),
    );
    await acceptTogether(block, () => []);
    expect((await sendAtOnce(20, async () => send(organizationId))).accepted).toBe(10);
  });

  it("is returned with each response, with its remainder", async () => {
    const organizationId = await openWallet(10_000_000);
    const reports: RateLimitStatus[] = [];
    const sendAndListen = async (): Promise<unknown> =>
      acceptMessage(organizationId, request, { reportRateLimit: (status) => void reports.push(status) });
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

describe("at most five one-time codes to a number in ten minutes", () => {
  beforeEach(() => void vi.stubEnv(environmentNames.oneTimeCodesPerNumber, "5"));

  it.each([{ messageType: "otp" }, {}] as const)(
    "are accepted of a hundred messages with %j, to each number and by each organization",
    async (type) => {
      const [one, other] = await Promise.all([openWallet(10_000_000), openWallet(10_000_000)]);
      const code = async (organizationId: string, to = request.to as string): Promise<unknown> =>
        acceptMessage(organizationId, { ...request, ...type, to });
      expect(await sendAtOnce(100, async () => code(one))).toEqual({
        accepted: 5,
        rejected: { RECIPIENT_RATE_EXCEEDED: 95 },
        retryAfter: new Set([600]),
      });
      expect((await readWallet(one)).messageCount).toBe(5);
      expect((await sendAtOnce(7, async () => code(one, "15005550009"))).accepted).toBe(5);
      expect((await sendAtOnce(7, async () => code(other))).accepted).toBe(5);
      advance(10 * minuteMs);
      expect((await sendAtOnce(7, async () => code(one))).accepted).toBe(5);
    },
  );

  it("count at the time at which they are to be sent, whenever they were scheduled", async () => {
    const organizationId = await openWallet(10_000_000);
    const windowStart = Math.ceil(Date.now() / (10 * minuteMs)) * 10 * minuteMs;
    const at = async (minutes: number): Promise<unknown> =>
      acceptMessage(organizationId, {
        ...request,
        scheduledAt: new Date(windowStart + minutes * minuteMs).toISOString(),
      });
    expect(await sendAtOnce(15, async () => at(61))).toMatchObject({
      accepted: 5,
      rejected: { RECIPIENT_RATE_EXCEEDED: 10 },
    });
    advance(10 * minuteMs);
    expect((await sendAtOnce(15, async () => at(61))).accepted).toBe(0);
    // Another time, and messages of now, have counts of their own.
    expect((await sendAtOnce(15, async () => at(71))).accepted).toBe(5);
    expect((await sendAtOnce(3, async () => send(organizationId))).accepted).toBe(3);
    // Messages that are due soon count together with these.
    expect((await sendAtOnce(15, async () => at(11))).accepted).toBe(2);
    expect((await readWallet(organizationId)).messageCount).toBe(15);
  });

  it("allow the number twice around the start of a window, in whatever way the messages are made", async () => {
    vi.stubEnv(environmentNames.marketingMessagesPerNumber, "5");
    const organizationId = await openWallet(10_000_000);
    const midnight = Date.parse("2030-06-02T00:00:00Z");
    for (const messageType of ["otp", "marketing"] as const) {
      vi.setSystemTime(start);
      const one = async (atMs?: number): Promise<unknown> =>
        acceptMessage(organizationId, {
          ...request,
          messageType,
          ...(atMs === undefined ? {} : { scheduledAt: new Date(atMs).toISOString() }),
        });
      expect((await sendAtOnce(10, async () => one(midnight - secondMs))).accepted).toBe(5);
      expect((await sendAtOnce(10, async () => one(midnight))).accepted).toBe(5);
      vi.setSystemTime(midnight - secondMs / 2);
      expect((await sendAtOnce(10, async () => one())).accepted).toBe(0);
      vi.setSystemTime(midnight);
      expect((await sendAtOnce(10, async () => one())).accepted).toBe(0);
    }
    const ofCampaign = { organizationId, to: request.to, campaignId: "cmp_1" };
    expect(await countCampaignMessage(ofCampaign, new Date(midnight))).toBe(false);
    expect(await countCampaignMessage(ofCampaign, new Date(midnight + dayMs))).toBe(true);
  });

  it("are not used up by other messages", async () => {
    const organizationId = await openWallet(10_000_000);
    for (const messageType of ["marketing", "transactional"] as const) {
      const one = async (): Promise<unknown> => acceptMessage(organizationId, { ...request, messageType });
      expect((await sendAtOnce(10, one)).accepted).toBe(10);
    }
    expect((await sendAtOnce(7, async () => send(organizationId))).accepted).toBe(5);
  });

  it.each([
    ["transactional", environmentNames.transactionalMessagesPerNumber, 10 * minuteMs],
    ["marketing", environmentNames.marketingMessagesPerNumber, dayMs],
  ] as const)(
    "are counted apart from %s messages, which have a limit of their own",
    async (messageType, name, windowMs) => {
      vi.stubEnv(name, "3");
      const organizationId = await openWallet(10_000_000);
      const one = async (to: string = request.to): Promise<unknown> =>
        acceptMessage(organizationId, { ...request, to, messageType });
      expect(await sendAtOnce(10, async () => one())).toEqual({
        accepted: 3,
        rejected: { RECIPIENT_RATE_EXCEEDED: 7 },
        retryAfter: new Set([(windowMs - (Date.now() % windowMs)) / secondMs]),
      });
      expect((await sendAtOnce(4, async () => one("15005550009"))).accepted).toBe(3);
      expect((await sendAtOnce(7, async () => send(organizationId))).accepted).toBe(5);
      advance(windowMs);
      expect((await sendAtOnce(7, async () => one())).accepted).toBe(3);
    },
  );

  it("are not used up by rejected messages, nor twice by a repeated one", async () => {
    const organizationId = await openWallet(0);
    for (let rejected = 0; rejected < 6; rejected += 1) {
      await expect(send(organizationId)).rejects.toMatchObject({ code: "INSUFFICIENT_BALANCE" });
    }
    await postToWallet({ organizationId, type: "top_up", amountMicros: 10_000_000 });
    const key = randomUUID();
    for (let repeat = 0; repeat < 6; repeat += 1) {
      await once({ organizationId, key, content: request }, async (attempt) =>
        acceptMessage(organizationId, request, { attempt }),
      );
    }
    expect((await sendAtOnce(7, async () => send(organizationId))).accepted).toBe(4);
  });
});
