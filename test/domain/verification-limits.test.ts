import { beforeEach, describe, expect, it, vi } from "vitest";

import { hourMs, minuteMs, secondMs } from "../../shared/platform/clock.ts";
import { cancelVerification, reportOutcome } from "../../shared/verifications/end.ts";
import { advance } from "../support/clock.ts";
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

const notPending = { code: "VERIFICATION_NOT_PENDING" };
const tooManySends = { code: "TOO_MANY_SENDS" };
let start = new Date("2031-06-01T12:00:00Z");
let organizationId: string;

beforeEach(async () => {
  start = new Date(start.getTime() + hourMs);
  vi.setSystemTime(start);
  await setFee(0);
  organizationId = await openOrganization(initialMicros);
});

const check = async (fields: Parameters<typeof checkFor>[1]) => checkFor(organizationId, fields);

async function cancel(id: string) {
  return cancelVerification(await organizationOf(organizationId), ownerOf(organizationId), id);
}

const spentMicros = async () => spentBy(organizationId);

describe("a code of the caller's own", () => {
  it("is replaced with its send, and is as long valid as a new one", async () => {
    const { id } = await startFor(organizationId, { code: "K7WX" });
    expect((await sentTexts())[0]).toContain("K7WX");
    advance(9 * minuteMs);
    const again = await startFor(organizationId, { code: "912345" });
    expect(again).toMatchObject({
      id,
      sends: 2,
      expiresAt: new Date(Date.now() + 10 * minuteMs).toISOString(),
    });
    expect((await sentTexts())[0]).toContain("912345");
    advance(8 * minuteMs);
    expect(await check({ id, code: "K7WX" })).toMatchObject({ valid: false });
    expect(await check({ id, code: "912345" })).toMatchObject({ valid: true });
  });

  it("that is replaced returns its fee once, when the last one has expired", async () => {
    await setFee(50_000);
    await startFor(organizationId, { code: "K7WX" });
    advance(9 * minuteMs);
    await startFor(organizationId, { code: "912345" });
    // The job of the first code comes while the second one is valid, and does not wait for that.
    await completeLater(8 * minuteMs);
    expect(await spentMicros()).toBe(2 * priceMicros + 50_000);
    for (const _ of [1, 2]) {
      await completeLater();
      expect(await spentMicros()).toBe(2 * priceMicros);
    }
  });

  it("is neither confirmed by a repeat, nor takes the place of a code that the gateway made", async () => {
    const made = await startFor(organizationId);
    const code = codeIn((await sentTexts())[0]);
    const own = await startFor(organizationId, { code });
    expect(own.id).not.toBe(made.id);
    await expect(startFor(organizationId, { code })).rejects.toMatchObject(tooManySends);
    await expect(startFor(organizationId, { code: "912345" })).rejects.toMatchObject(tooManySends);
    const other = await startFor(organizationId, { to: "15005550008", code: "912345" });
    await expect(check({ to: "15005550008", code: "912345" })).rejects.toMatchObject(notPending);
    expect(await check({ id: other.id, code: "912345" })).toMatchObject({ valid: true });
    expect(await check({ to: number, code })).toMatchObject({ id: made.id, valid: true });
  });

  it("can be reported as approved or failed, once", async () => {
    const organization = await organizationOf(organizationId);
    const viewer = ownerOf(organizationId);
    const { id } = await startFor(organizationId, { code: "912345" });
    const report = async (outcome: "approved" | "failed") =>
      reportOutcome(organization, viewer, id, { outcome });
    expect(await report("failed")).toMatchObject({ status: "failed" });
    await expect(report("approved")).rejects.toMatchObject(notPending);
    const made = await startFor(organizationId);
    const outcome = reportOutcome(organization, viewer, made.id, { outcome: "approved" });
    await expect(outcome).rejects.toMatchObject({ code: "CONFLICT" });
  });
});

it("a live key changes no verification of a test key", async () => {
  const { id } = await startFor(organizationId, {}, apiKeyOf(organizationId, { test: true }));
  const code = codeIn((await sentTexts())[0]);
  advance(minuteMs);
  await expect(check({ id, code })).rejects.toMatchObject(notPending);
  await expect(cancel(id)).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(resendFor(organizationId, id)).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(await spentMicros()).toBe(0);
});

it("neither wrong codes nor a cancellation shorten the time to the next code, which is another one", async () => {
  const { id } = await startFor(organizationId);
  for (let count = 0; count < 5; count += 1) await check({ id, code: "wrong" });
  await expect(startFor(organizationId)).rejects.toMatchObject(tooManySends);
  advance(30 * secondMs);
  const next = await startFor(organizationId);
  expect(next).toMatchObject({ sends: 1, checksLeft: 5 });
  expect(next.id).not.toBe(id);
  await cancel(next.id);
  await expect(startFor(organizationId)).rejects.toMatchObject(tooManySends);
  expect(await spentMicros()).toBe(2 * priceMicros);
});

it("a person may type spaces and small letters", async () => {
  const { id } = await startFor(organizationId, { code: "K7WX" });
  expect(await check({ id, code: " k7wx " })).toMatchObject({ valid: true });
});

it("a key with limits gets no verification of a number beyond them", async () => {
  const { to } = await startFor(organizationId, { metadata: { account: "1" } });
  const limits = { budgetKeyId: "key_1", allowedRecipients: ["44"] };
  const started = startFor(organizationId, { to }, apiKeyOf(organizationId, { limits }));
  await expect(started).rejects.toMatchObject({ code: "RECIPIENT_NOT_ALLOWED_FOR_KEY" });
});
