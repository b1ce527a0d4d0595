import { beforeEach, describe, expect, it, vi } from "vitest";

import { readWallet } from "../../shared/money/wallet/record.ts";
import { hourMs, minuteMs, secondMs } from "../../shared/platform/clock.ts";
import type { Attempt } from "../../shared/platform/http/event.ts";
import { once } from "../../shared/platform/http/idempotency.ts";
import { cancelVerification } from "../../shared/verifications/end.ts";
import { getVerification, listVerifications } from "../../shared/verifications/list.ts";
import { advance } from "../support/clock.ts";
import { takeJobs } from "../support/queues.ts";
import {
  apiKeyOf,
  checkFor,
  codeIn,
  completeLater,
  initialMicros,
  number,
  priceMicros,
  resendFor,
  sentTexts,
  setFee,
  spentBy,
  startFor,
} from "../support/verifications.ts";
import { ownerOf } from "../support/viewer.ts";
import { openOrganization, organizationOf } from "../support/wallets.ts";
import { openWebhook } from "../support/webhooks.ts";

let start = new Date("2030-06-01T12:00:00Z");
const feeMicros = 50_000;
const notPending = { code: "VERIFICATION_NOT_PENDING" };

let organizationId: string;

beforeEach(async () => {
  // The scheduler does not return to a minute.
  start = new Date(start.getTime() + hourMs);
  vi.setSystemTime(start);
  await setFee(0);
  organizationId = await openOrganization(initialMicros);
});

const check = async (fields: Parameters<typeof checkFor>[1]) => checkFor(organizationId, fields);

const resend = async (id: string, attempt?: Attempt) => resendFor(organizationId, id, attempt);

const spentMicros = async () => spentBy(organizationId);

it("a code is sent, checked once, and then no longer pending", async () => {
  const started = await startFor(organizationId);
  expect(started).toMatchObject({
    status: "pending",
    to: number,
    sends: 1,
    checksLeft: 5,
    nextSendAt: new Date(start.getTime() + 30 * secondMs).toISOString(),
    expiresAt: new Date(start.getTime() + 10 * minuteMs).toISOString(),
    pricing: { message: 0.0079, fee: 0 },
  });
  const code = codeIn((await sentTexts())[0]);
  expect(code).toMatch(/^\d{6}$/);
  const { id } = started;
  expect(await check({ id, code: "0" })).toEqual({ id, status: "pending", valid: false, checksLeft: 4 });
  expect(await check({ to: number, code })).toEqual({ id, status: "approved", valid: true, checksLeft: 3 });
  await expect(check({ id, code })).rejects.toMatchObject(notPending);
  await expect(check({ to: number, code })).rejects.toMatchObject(notPending);
  expect(await spentMicros()).toBe(priceMicros);
  // The next start is another verification, with another code.
  expect((await startFor(organizationId)).id).not.toBe(id);
  expect(codeIn((await sentTexts())[0])).not.toBe(code);
});

it("the sixth check fails the verification, whatever the code is", async () => {
  const { id } = await startFor(organizationId);
  const code = codeIn((await sentTexts())[0]);
  for (let left = 4; left >= 0; left -= 1) {
    expect(await check({ id, code: "wrong" })).toMatchObject({ valid: false, checksLeft: left });
  }
  await expect(check({ id, code })).rejects.toMatchObject({ code: "TOO_MANY_CHECKS" });
  await expect(check({ id, code })).rejects.toMatchObject(notPending);
  expect(await getVerification(ownerOf(organizationId), id)).toMatchObject({ status: "failed" });
});

it("eight checks at the same time have at most five guesses, and one approval or none", async () => {
  const { id } = await startFor(organizationId);
  const code = codeIn((await sentTexts())[0]);
  const results = await Promise.allSettled(
    Array.from({ length: 8 }, async (_, index) => check({ id, code: index % 2 === 0 ? code : "wrong" })),
  );
  const done = results.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  expect(done.length).toBeLessThanOrEqual(5);
  const { status } = await getVerification(ownerOf(organizationId), id);
  expect(done.filter(({ valid }) => valid)).toHaveLength(status === "approved" ? 1 : 0);
});

it("after its time, a code is expired without any job", async () => {
  const { id } = await startFor(organizationId);
  const code = codeIn((await sentTexts())[0]);
  advance(10 * minuteMs);
  await expect(check({ id, code })).rejects.toMatchObject(notPending);
  await expect(resend(id)).rejects.toMatchObject(notPending);
  expect(await getVerification(ownerOf(organizationId), id)).toMatchObject({ status: "expired" });
  expect((await startFor(organizationId)).id).not.toBe(id);
});

describe("a repeat", () => {
  it("is the same verification, and sends the same code again at the given times, five times in all", async () => {
    const first = await startFor(organizationId);
    const codes = [codeIn((await sentTexts())[0])];
    expect(await startFor(organizationId)).toEqual(first);
    await expect(resend(first.id)).rejects.toMatchObject({
      code: "TOO_MANY_SENDS",
      facts: { retryAfterSeconds: 30 },
    });
    expect(await sentTexts()).toEqual([]);
    for (const seconds of [30, 60, 120, 120]) {
      advance(seconds * secondMs);
      const again = seconds === 60 ? await resend(first.id) : await startFor(organizationId);
      expect(again).toMatchObject({ id: first.id, expiresAt: first.expiresAt });
      codes.push(codeIn((await sentTexts())[0]));
    }
    expect(new Set(codes).size).toBe(1);
    expect(codes).toHaveLength(5);
    const error = { code: "TOO_MANY_SENDS", facts: { retryAfterSeconds: 270 } };
    await expect(startFor(organizationId)).rejects.toMatchObject(error);
    const last = await getVerification(ownerOf(organizationId), first.id);
    expect(last).toMatchObject({ sends: 5, pricing: { message: 0.0395 } });
    expect(last.nextSendAt).toBeUndefined();
    expect(last.messageIds).toHaveLength(5);
    expect(await spentMicros()).toBe(5 * priceMicros);
  });

  it("at the same time makes one verification, and one message", async () => {
    const all = await Promise.all(Array.from({ length: 4 }, async () => startFor(organizationId)));
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    expect(await sentTexts()).toHaveLength(1);
    expect(await spentMicros()).toBe(priceMicros);
    const { rows } = await listVerifications(ownerOf(organizationId), { page: 1, limit: 20 });
    expect(rows).toHaveLength(1);
  });

  it("is in the language of its request, and stays in the language before without one", async () => {
    const first = await startFor(organizationId);
    expect([first.locale, (await sentTexts())[0]]).toEqual(["en", expect.stringContaining("is your")]);
    advance(30 * secondMs);
    expect((await startFor(organizationId, { locale: "de-AT" })).locale).toBe("de");
    const [german = ""] = await sentTexts();
    expect(german).toContain("Ihr Code");
    advance(60 * secondMs);
    expect((await startFor(organizationId)).locale).toBe("de");
    expect(await sentTexts()).toEqual([german]);
    expect(await check({ id: first.id, code: codeIn(german) })).toMatchObject({ valid: true });
    expect(await spentMicros()).toBe(3 * priceMicros);
  });

  it("of a resend at the same time sends once", async () => {
    const { id } = await startFor(organizationId);
    await sentTexts();
    advance(30 * secondMs);
    const results = await Promise.allSettled(Array.from({ length: 4 }, async () => resend(id)));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await sentTexts()).toHaveLength(1);
    expect(await spentMicros()).toBe(2 * priceMicros);
  });

  it("of a resend with the same Idempotency-Key gets its response again, also when another send is due", async () => {
    const { id } = await startFor(organizationId);
    advance(30 * secondMs);
    const resendOnce = async () =>
      once({ organizationId, key: "resend", content: id }, async (attempt) => resend(id, attempt));
    const first = await resendOnce();
    advance(120 * secondMs);
    expect(await resendOnce()).toEqual({ ...first, replayed: true });
    expect(await sentTexts()).toHaveLength(2);
    expect(await spentMicros()).toBe(2 * priceMicros);
  });
});

describe("the fee", () => {
  beforeEach(async () => setFee(feeMicros));

  it("is kept by an approved verification", async () => {
    const { id, pricing } = await startFor(organizationId);
    expect(pricing.fee).toBe(0.05);
    await check({ id, code: codeIn((await sentTexts())[0]) });
    await completeLater();
    expect(await spentMicros()).toBe(priceMicros + feeMicros);
    expect(await readWallet(organizationId)).toMatchObject({ messageCount: 2, feeCount: 1 });
    expect((await readWallet(organizationId)).acceptedTodayMicros).toBe(priceMicros);
  });

  it.each(["cancelled", "failed", "expired"] as const)("returns once if it is %s", async (status) => {
    const { id } = await startFor(organizationId);
    await sentTexts();
    expect(await spentMicros()).toBe(priceMicros + feeMicros);
    if (status === "cancelled")
      await cancelVerification(await organizationOf(organizationId), ownerOf(organizationId), id);
    const checks = status === "failed" ? 6 : 0;
    for (let count = 0; count < checks; count += 1) await check({ id, code: "wrong" }).catch(() => undefined);
    // The first job is lost. That of the start does the same.
    await takeJobs("refunds");
    expect(await getVerification(ownerOf(organizationId), id)).toMatchObject({
      pricing: { fee: status === "expired" ? 0.05 : 0 },
    });
    await completeLater();
    expect(await getVerification(ownerOf(organizationId), id)).toMatchObject({ status, pricing: { fee: 0 } });
    expect(await spentMicros()).toBe(priceMicros);
    await completeLater();
    expect(await spentMicros()).toBe(priceMicros);
  });
});

it("a webhook that is registered after the start gets the event of its expiry", async () => {
  const other = await openOrganization(initialMicros);
  await startFor(other);
  const { id } = await startFor(organizationId);
  await openWebhook("http://127.0.0.1:9/nobody", organizationId);
  await completeLater();
  const events = (await takeJobs("webhookDeliveries")).map((job) => Object(job).event);
  expect(events).toMatchObject([{ event: "verification.expired", data: { id } }]);
});

it("a test key's verification is free, apart from others, and shows its code in the message", async () => {
  const live = await startFor(organizationId);
  const key = apiKeyOf(organizationId, { test: true });
  const test = await startFor(organizationId, {}, key);
  expect(test).toMatchObject({ test: true, id: expect.stringMatching(/T$/) });
  expect(test.id).not.toBe(live.id);
  const viewer = { organizationId, isTest: true, hidesCodes: false };
  expect((await listVerifications(viewer, { page: 1, limit: 20 })).rows).toEqual([test]);
  await expect(getVerification(viewer, live.id)).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(await spentMicros()).toBe(priceMicros);
});
