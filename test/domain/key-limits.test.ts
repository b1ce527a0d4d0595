import { randomUUID } from "node:crypto";

import fc from "fast-check";
import { beforeEach, describe, expect, it, vi } from "vitest";

import { updateApiKey } from "../../shared/accounts/api-keys/limits.ts";
import { ApiError } from "../../shared/api/contract/errors.ts";
import { scopesOfRole } from "../../shared/api/contract/scopes.ts";
import { checkKeyLimits, reserveBudget } from "../../shared/messages/accept/key-limits.ts";
import { endBy } from "../../shared/messages/accept/reservations.ts";
import { microsOf } from "../../shared/money/wallet/money.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import type { Actor, KeyLimits } from "../../shared/platform/auth/actor.ts";
import { dayMs, hourMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { transact } from "../../shared/platform/table/transact.ts";
import { checkOf, putUnchecked, type Write } from "../../shared/platform/table/write.ts";
import {
  type ApiKeyRecord,
  changeSendLimits,
  countMadeKey,
  endApiKey,
  inheritedSendLimits,
  newApiKey,
  readApiKey,
} from "../../shared/tenancy/api-keys/record.ts";
import { acceptFor } from "../support/messages.ts";
import { isNightly } from "../support/second-opinions.ts";
import { chargeWallet, openWallet } from "../support/wallets.ts";

const start = new Date("2030-06-01T12:00:00Z");
const balanceMicros = 10_000_000;
const seed = 27;

beforeEach(() => void vi.setSystemTime(start));

/** Does something within the daily budget of a key, as the acceptance of a message does. */
async function within<Result>(limits: KeyLimits, accept: () => Promise<Result>): Promise<Result> {
  const reservations = await reserveBudget(limits, 7_900);
  return endBy(reservations, accept());
}

function limited(limits: Partial<KeyLimits>): KeyLimits {
  return { budgetKeyId: randomUUID(), ...limits };
}

function actorOf(organizationId: string, limits: KeyLimits): Actor {
  return {
    organizationId,
    userId: "usr_1",
    credential: { type: "apiKey", keyId: "key_1", limits },
    scopes: ["send"],
  };
}

describe("a daily budget", () => {
  it("is never exceeded by parallel sends of several keys, and only unused by less than a message", async () => {
    const texts = fc.array(fc.integer({ min: 1, max: 600 }), { minLength: 1, maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(texts, fc.integer({ min: 1, max: 30 }), async (lengths, cents) => {
        const organizationId = await openWallet(balanceMicros);
        const limits = limited({ dailyBudget: cents / 100 });
        const actor = actorOf(organizationId, limits);
        const sends = lengths.map(async (length) =>
          acceptFor(organizationId, { message: "x".repeat(length) }, { actor }).catch(
            (error: unknown) => error,
          ),
        );
        const results = await Promise.all(sends);
        const spentMicros = balanceMicros - (await readWallet(organizationId)).balanceMicros;
        const budgetMicros = microsOf(cents / 100);
        expect(spentMicros).toBeLessThanOrEqual(budgetMicros);
        const rejected = results.filter((result) => result instanceof ApiError);
        for (const { code } of rejected) expect(code).toBe("KEY_BUDGET_REACHED");
        // The longest text has four segments.
        const leastMicros = rejected.length > 0 ? budgetMicros - 4 * 7_900 : 0;
        expect(spentMicros).toBeGreaterThan(leastMicros);
        expect(results.every((result) => result instanceof ApiError || "messageId" in Object(result))).toBe(
          true,
        );
      }),
      { seed, numRuns: isNightly ? 25 : 10 },
    );
  });

  it("begins again with the next day (UTC)", async () => {
    const limits = limited({ dailyBudget: 0.01 });
    const spend = async (): Promise<string> => within(limits, async () => "sent");
    await expect(spend()).resolves.toBe("sent");
    await expect(spend()).rejects.toMatchObject({
      code: "KEY_BUDGET_REACHED",
      facts: { retryAfterSeconds: 12 * 3_600 },
    });
    vi.setSystemTime(start.getTime() + 12 * hourMs - 1);
    await expect(spend()).rejects.toMatchObject({ code: "KEY_BUDGET_REACHED" });
    vi.setSystemTime(start.getTime() + dayMs);
    await expect(spend()).resolves.toBe("sent");
  });

  it.each([
    ["is released when a send was certainly not charged", new ApiError("INSUFFICIENT_BALANCE"), "sent"],
    ["stays reserved when the outcome is unknown", new ApiError("UNAVAILABLE"), "KEY_BUDGET_REACHED"],
    ["stays reserved after a crash", new Error("crashed"), "KEY_BUDGET_REACHED"],
  ])("%s", async (_name, error, expected) => {
    const limits = limited({ dailyBudget: 0.01 });
    await expect(within(limits, async () => Promise.reject(error))).rejects.toBe(error);
    const next = await within(limits, async () => "sent").catch((later: unknown) =>
      later instanceof ApiError ? later.code : later,
    );
    expect(next).toBe(expected);
  });
});

it("a message over the limit of its number takes no part of the budget, and one over the budget no place", async () => {
  vi.stubEnv(environmentNames.oneTimeCodesPerNumber, "1");
  const organizationId = await openWallet(balanceMicros);
  const actor = actorOf(organizationId, limited({ dailyBudget: 0.016 }));
  const send = async (to: string): Promise<unknown> => acceptFor(organizationId, { to }, { actor });
  await send("15005550000");
  await expect(send("15005550000")).rejects.toMatchObject({ code: "RECIPIENT_RATE_EXCEEDED" });
  await send("15005550009");
  await expect(send("15005550010")).rejects.toMatchObject({ code: "KEY_BUDGET_REACHED" });
  await acceptFor(organizationId, { to: "15005550010" });
  expect((await readWallet(organizationId)).balanceMicros).toBe(balanceMicros - 3 * 7_900);
});

it.each<[string, Write]>([
  ["is invalid", putUnchecked({ pk: "", sk: "" }, {})],
  ["its caller rejects", checkOf(keys.campaign("other", "subject"), { present: ["pk"] })],
])("a daily budget is released when a debit whose record %s is returned", async (_name, write) => {
  const organizationId = await openWallet(balanceMicros);
  const limits = limited({ dailyBudget: 0.01 });
  const send = async (together: readonly Write[]): Promise<unknown> =>
    within(limits, async () => chargeWallet(organizationId, { micros: [7_900], together }));
  await expect(send([write])).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect((await readWallet(organizationId)).balanceMicros).toBe(balanceMicros);
  await expect(send([])).resolves.toBeUndefined();
  await expect(send([])).rejects.toMatchObject({ code: "KEY_BUDGET_REACHED" });
});

describe("the hours of a key", () => {
  const at = (time: string): Date => new Date(`2030-06-01T${time}:00Z`);
  const isAllowed = (from: string, to: string, time: string, timeZone = "UTC"): boolean => {
    try {
      checkKeyLimits(limited({ hours: { from, to, timeZone } }), "15005550000", at(time));
      return true;
    } catch {
      return false;
    }
  };

  it.each([
    ["08:00", "20:00", "08:00", "UTC", true],
    ["08:00", "20:00", "07:59", "UTC", false],
    ["08:00", "20:00", "19:59", "UTC", true],
    ["08:00", "20:00", "20:00", "UTC", false],
    ["22:00", "06:00", "23:00", "UTC", true],
    ["22:00", "06:00", "00:00", "UTC", true],
    ["22:00", "06:00", "06:00", "UTC", false],
    // In summer Paris is two hours ahead of UTC.
    ["08:00", "20:00", "06:00", "Europe/Paris", true],
    ["08:00", "20:00", "18:00", "Europe/Paris", false],
  ])("from %s to %s, at %s UTC in %s: %j", (from, to, time, timeZone, expected) => {
    expect(isAllowed(from, to, time, timeZone)).toBe(expected);
  });
});

it("a key makes or becomes another one only with the limits that it still has", async () => {
  const actor: Actor = {
    organizationId: `org_${randomUUID()}`,
    userId: "usr_1",
    credential: { type: "session", sessionId: "ses_1" },
    scopes: ["keys"],
  };
  const allowedRecipients = ["44", "1500555"];
  const { record, writes } = newApiKey(actor, undefined, { sendLimits: { allowedRecipients } });
  await transact({ writes });
  const making = async (maker: ApiKeyRecord): Promise<unknown> => transact({ maker: countMadeKey(maker) });
  expect(await making(record)).toMatchObject({ outcome: "committed" });
  await transact({ writes: changeSendLimits(record, { allowedRecipients: ["44"], budgetKeyId: record.id }) });
  expect(await making(record)).toMatchObject({ outcome: "rejected" });
  const end = { disabledAt: start.toISOString() };
  expect(await transact(endApiKey(record, end, { replacedBy: "key_2" }))).toMatchObject({
    outcome: "rejected",
  });
  expect(await making(await readApiKey(actor.organizationId, record.id))).toMatchObject({
    outcome: "committed",
  });
  // Ending it needs no limits.
  expect(await transact(endApiKey(record, end))).toMatchObject({ outcome: "committed" });
});

it("the limits of keys that share a budget are changed only by a person who may make each of them", async () => {
  const person = (role: "admin" | "developer"): Actor => ({
    organizationId,
    userId: "usr_1",
    credential: { type: "session", sessionId: "ses_1" },
    scopes: scopesOfRole[role],
  });
  const organizationId = `org_${randomUUID()}`;
  const sendLimits = { dailyBudget: 1 };
  const maker = newApiKey(person("admin"), undefined, { scopes: ["send", "billing", "keys"], sendLimits });
  const { record, writes } = newApiKey(person("admin"), maker.record, {
    scopes: ["send"],
    sendLimits: inheritedSendLimits(maker.record),
  });
  await transact({ maker: maker.writes, made: writes });
  const change = async (role: "admin" | "developer"): Promise<unknown> =>
    updateApiKey(person(role), record.id, { limits: { dailyBudget: 100 } });
  await expect(change("developer")).rejects.toMatchObject({ code: "INSUFFICIENT_SCOPE" });
  expect(await readApiKey(organizationId, maker.record.id)).toMatchObject({ sendLimits });
  expect(await change("admin")).toMatchObject({ limits: { dailyBudget: 100 } });
});
