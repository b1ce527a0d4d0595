import { beforeEach, expect, it, vi } from "vitest";

import { dayMs, secondMs } from "../../shared/platform/clock.ts";
import { saveProfile } from "../../shared/verifications/change-profiles.ts";
import { checkVerification } from "../../shared/verifications/check.ts";
import { listVerifications } from "../../shared/verifications/list.ts";
import { advance } from "../support/clock.ts";
import {
  apiKeyOf,
  checkFor,
  codeIn,
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

const saved = { brand: "Shop", codeLength: 6, validitySeconds: 600, allow: [] };
const blocked = { code: "VERIFICATION_BLOCKED" };
const tooManyChecks = { code: "TOO_MANY_CHECKS" };
const midnight = new Date("2033-06-02T00:00:00Z");

let organizationId: string;

beforeEach(async () => {
  vi.setSystemTime("2033-06-01T12:00:00Z");
  await setFee(0);
  organizationId = await openOrganization(initialMicros);
});

/** Starts a verification and types wrong codes. @returns its id and its code */
async function guessed(times: number, profile = "default"): Promise<{ id: string; code: string }> {
  advance(31 * secondMs);
  const { id } = await startFor(organizationId, { profile });
  const code = codeIn((await sentTexts())[0]);
  for (let count = 0; count < times; count += 1) {
    expect(await checkFor(organizationId, { id, code: "wrong" })).toMatchObject({ valid: false });
  }
  return { id, code };
}

const spentMicros = async () => spentBy(organizationId);

it.each(["monitor", "block", "strict"] as const)(
  "a number has 25 wrong codes in a day over all profiles (%s), and is free on the next day",
  async (guard) => {
    for (const name of ["shop", "app"]) await saveProfile(organizationId, name, { ...saved, guard });
    for (const name of ["shop", "app", "shop", "app", "shop"]) await guessed(5, name);
    advance(31 * secondMs);
    for (const name of ["shop", "app"]) {
      const retryAfterSeconds = Math.ceil((midnight.getTime() - Date.now()) / secondMs);
      await expect(startFor(organizationId, { profile: name })).rejects.toMatchObject({
        ...blocked,
        ...(guard === "strict" ? {} : { facts: { retryAfterSeconds } }),
      });
    }
    expect(await spentMicros()).toBe(5 * priceMicros);
    const { rows } = await listVerifications(ownerOf(organizationId), {
      status: "blocked",
      page: 1,
      limit: 20,
    });
    expect(rows.map(({ guardRule }) => guardRule)).toEqual(["checks"]);
    // Neither another number nor another organization.
    await startFor(organizationId, { to: "15015550008", profile: "shop" });
    await startFor(await openOrganization(initialMicros));
    vi.setSystemTime(midnight.getTime() + (guard === "strict" ? dayMs : 0));
    await guessed(1, "shop");
  },
);

it("an approval ends the count, and a code that was sent before keeps its checks", async () => {
  await guessed(5);
  await guessed(5);
  await guessed(5);
  await guessed(5);
  const { id, code } = await guessed(4);
  expect(await checkFor(organizationId, { id, code })).toMatchObject({ valid: true });
  await guessed(5);
  await guessed(5);
});

it("checks at the same time have no more guesses, and a code that cannot be checked is not sent again", async () => {
  for (const name of ["shop", "app"]) await saveProfile(organizationId, name, { ...saved, guard: "monitor" });
  for (let count = 0; count < 3; count += 1) await guessed(5);
  const pending = [await guessed(0), await guessed(0, "shop"), await guessed(0, "app")];
  const together = [...pending, ...pending, ...pending, ...pending].map(async ({ id }) =>
    checkFor(organizationId, { id, code: "wrong" }).then(
      ({ valid }) => valid,
      (error: unknown) => error,
    ),
  );
  const guesses = await Promise.all(together);
  expect(guesses.filter((each) => each === false)).toHaveLength(10);
  const tooMany = guesses.filter((each) => each !== false);
  expect(tooMany).toMatchObject([tooManyChecks, tooManyChecks]);
  advance(31 * secondMs);
  const spent = await spentMicros();
  const [{ id, code } = { id: "", code: "" }] = pending;
  await expect(checkFor(organizationId, { id, code })).rejects.toMatchObject(tooManyChecks);
  await expect(resendFor(organizationId, pending[1]?.id ?? "")).rejects.toMatchObject(tooManyChecks);
  await expect(startFor(organizationId, { profile: "app" })).rejects.toMatchObject(tooManyChecks);
  expect(await spentMicros()).toBe(spent);
});

it("test keys and live keys do not count each other's checks", async () => {
  const actor = apiKeyOf(organizationId, { test: true });
  const organization = await organizationOf(organizationId);
  for (let count = 0; count < 6; count += 1) {
    advance(31 * secondMs);
    const { id } = await startFor(organizationId, {}, actor);
    for (let checks = 0; checks < 5; checks += 1) {
      await checkVerification(
        organization,
        { organizationId, isTest: true, hidesCodes: false },
        { id, profile: "default", code: "wrong" },
      );
    }
  }
  await guessed(5);
  expect(await spentMicros()).toBe(priceMicros);
  expect((await startFor(organizationId, { to: number }, actor)).test).toBe(true);
});
