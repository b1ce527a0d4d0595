import { randomUUID } from "node:crypto";

import { beforeEach, describe, expect, it, vi } from "vitest";

import { withinLimits } from "../../shared/audience/campaigns/recipients.ts";
import { newMessage } from "../../shared/messages/accept/new-message.ts";
import { countCampaignMessage } from "../../shared/messages/accept/recipient-limits.ts";
import { postToWallet } from "../../shared/money/wallet/post.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { dayMs, minuteMs, secondMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { once } from "../../shared/platform/http/idempotency.ts";
import { oneShard } from "../../shared/platform/table/shards.ts";
import { acceptMessage } from "../support/as-organization.ts";
import { advance } from "../support/clock.ts";
import { acceptFor, hello } from "../support/messages.ts";
import { sendAtOnce, acceptedOf } from "../support/parallel-sends.ts";
import { onePrice } from "../support/prices.ts";
import { openWallet } from "../support/wallets.ts";

const start = new Date("2030-06-01T12:00:00Z");

let organizationId: string;
beforeEach(() => void vi.setSystemTime(start));

const send = async (): Promise<unknown> => acceptFor(organizationId);

describe("at most five one-time codes to a number in ten minutes", () => {
  beforeEach(async () => {
    vi.stubEnv(environmentNames.oneTimeCodesPerNumber, "5");
    organizationId = await openWallet(10_000_000);
  });

  it.each([{ messageType: "otp" }, {}] as const)(
    "are accepted of a hundred messages with %j, to each number and by each organization",
    async (type) => {
      const other = await openWallet(10_000_000);
      const code = async (to: string = hello.to, sender = organizationId): Promise<unknown> =>
        acceptFor(sender, { ...type, to });
      expect(await sendAtOnce(100, async () => code())).toEqual({
        accepted: 5,
        rejected: { RECIPIENT_RATE_EXCEEDED: 95 },
        retryAfter: new Set([600]),
      });
      expect((await readWallet(organizationId)).messageCount).toBe(5);
      expect(await acceptedOf(7, async () => code("15005550009"))).toBe(5);
      expect(await acceptedOf(7, async () => code(hello.to, other))).toBe(5);
      advance(10 * minuteMs);
      expect(await acceptedOf(7, async () => code())).toBe(5);
    },
  );

  it("count at the time at which they are to be sent, whenever they were scheduled", async () => {
    const windowStart = Math.ceil(Date.now() / (10 * minuteMs)) * 10 * minuteMs;
    const at = async (minutes: number): Promise<unknown> =>
      acceptFor(organizationId, { scheduledAt: new Date(windowStart + minutes * minuteMs).toISOString() });
    expect(await sendAtOnce(15, async () => at(61))).toMatchObject({
      accepted: 5,
      rejected: { RECIPIENT_RATE_EXCEEDED: 10 },
    });
    advance(10 * minuteMs);
    expect(await acceptedOf(15, async () => at(61))).toBe(0);
    // Another time, and messages of now, have counts of their own.
    expect(await acceptedOf(15, async () => at(71))).toBe(5);
    expect(await acceptedOf(3, send)).toBe(3);
    // Messages that are due soon count together with these.
    expect(await acceptedOf(15, async () => at(11))).toBe(2);
    expect((await readWallet(organizationId)).messageCount).toBe(15);
  });

  it("allow the number twice around the start of a window, in whatever way the messages are made", async () => {
    vi.stubEnv(environmentNames.marketingMessagesPerNumber, "5");
    const midnight = Date.parse("2030-06-02T00:00:00Z");
    for (const messageType of ["otp", "marketing"] as const) {
      vi.setSystemTime(start);
      const one = async (atMs?: number): Promise<unknown> =>
        acceptFor(organizationId, {
          messageType,
          ...(atMs === undefined ? {} : { scheduledAt: new Date(atMs).toISOString() }),
        });
      expect(await acceptedOf(10, async () => one(midnight - secondMs))).toBe(5);
      expect(await acceptedOf(10, async () => one(midnight))).toBe(5);
      vi.setSystemTime(midnight - secondMs / 2);
      expect(await acceptedOf(10, async () => one())).toBe(0);
      vi.setSystemTime(midnight);
      expect(await acceptedOf(10, async () => one())).toBe(0);
    }
    const ofCampaign = { organizationId, to: hello.to, campaignId: "cmp_1" };
    expect(await countCampaignMessage(ofCampaign, new Date(midnight))).toBe(false);
    expect(await countCampaignMessage(ofCampaign, new Date(midnight + dayMs))).toBe(true);
  });

  it("count for a campaign on the day on which it was resumed last", async () => {
    vi.stubEnv(environmentNames.marketingMessagesPerNumber, "1");
    const terms = { queuedAt: start, prices: onePrice };
    const isReached = async (campaignId: string, startedDaysAgo: number): Promise<boolean> => {
      const message = newMessage({ organizationId, ...oneShard }, { ...hello, campaignId }, terms);
      const startedAt = new Date(start.getTime() - startedDaysAgo * dayMs).toISOString();
      const campaign = { startedAt, resumedAt: start.toISOString() };
      const [result] = await withinLimits(campaign, [
        { position: "1", contactId: "con_1", contactUpdatedAt: startedAt, message },
      ]);
      return result !== undefined && "message" in result;
    };
    expect(await isReached("cmp_1", 1)).toBe(true);
    expect(await isReached("cmp_2", 2)).toBe(false);
    expect(await isReached("cmp_1", 1)).toBe(true);
  });

  it("are not used up by other messages", async () => {
    for (const messageType of ["marketing", "transactional"] as const) {
      const one = async (): Promise<unknown> => acceptFor(organizationId, { messageType });
      expect(await acceptedOf(10, one)).toBe(10);
    }
    expect(await acceptedOf(7, send)).toBe(5);
  });

  it.each([
    ["transactional", environmentNames.transactionalMessagesPerNumber, 10 * minuteMs],
    ["marketing", environmentNames.marketingMessagesPerNumber, dayMs],
  ] as const)(
    "are counted apart from %s messages, which have a limit of their own",
    async (messageType, name, windowMs) => {
      vi.stubEnv(name, "3");
      const one = async (to: string = hello.to): Promise<unknown> =>
        acceptFor(organizationId, { to, messageType });
      expect(await sendAtOnce(10, async () => one())).toEqual({
        accepted: 3,
        rejected: { RECIPIENT_RATE_EXCEEDED: 7 },
        retryAfter: new Set([(windowMs - (Date.now() % windowMs)) / secondMs]),
      });
      expect(await acceptedOf(4, async () => one("15005550009"))).toBe(3);
      expect(await acceptedOf(7, send)).toBe(5);
      advance(windowMs);
      expect(await acceptedOf(7, async () => one())).toBe(3);
    },
  );

  it("are not used up by rejected messages, nor twice by a repeated one", async () => {
    organizationId = await openWallet(0);
    for (let rejected = 0; rejected < 6; rejected += 1) {
      await expect(send()).rejects.toMatchObject({ code: "INSUFFICIENT_BALANCE" });
    }
    await postToWallet({ organizationId, type: "top_up", amountMicros: 10_000_000 });
    const key = randomUUID();
    for (let repeat = 0; repeat < 6; repeat += 1) {
      await once({ organizationId, key, content: hello }, async (attempt) =>
        acceptMessage(organizationId, hello, { attempt }),
      );
    }
    expect(await acceptedOf(7, send)).toBe(4);
  });
});
