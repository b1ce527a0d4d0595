import { randomUUID } from "node:crypto";

import { beforeEach, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { login } from "../../shared/accounts/authentication/login.ts";
import { register } from "../../shared/accounts/authentication/register.ts";
import { resetSecondFactor } from "../../shared/accounts/second-factor/reset.ts";
import { startTotp } from "../../shared/accounts/second-factor/second-factor.ts";
import { confirmTotp, deleteTotp } from "../../shared/accounts/second-factor/switch.ts";
import { ApiError } from "../../shared/api/contract/errors.ts";
import type { Actor } from "../../shared/platform/auth/actor.ts";
import { SealedWithAnotherKey, sealText } from "../../shared/platform/auth/sealed-text.ts";
import { totpCode, totpStepAt } from "../../shared/platform/auth/totp.ts";
import { dayMs, hourMs, minuteMs, secondMs } from "../../shared/platform/clock.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { findUserByEmail } from "../../shared/tenancy/users/record.ts";
import { advance } from "../support/clock.ts";
import { newNetwork } from "../support/networks.ts";
import { interceptTableRequests } from "../support/table-requests.ts";

// Hashing takes a tenth of a second and signing a session calls KMS. Neither is under test here.
vi.mock("../../shared/accounts/passwords/hash.ts", async () => import("../support/plain-passwords.ts"));
vi.mock("../../shared/accounts/sessions/session.ts", async () => import("../support/plain-sessions.ts"));

const password = "correct horse battery";
const home = "203.0.113.1";
let email: string;
let actor: Actor;
let secret: string;
let recoveryCodes: readonly string[];

beforeEach(async () => {
  vi.stubEnv("API_URL", "https://sms.example.com");
  vi.setSystemTime(new Date("2030-06-01T12:14:59Z"));
  email = `${randomUUID()}@example.com`;
  await register({ email, password }, home);
  const { id: userId = "", organizationId = "" } = (await findUserByEmail(email)) ?? {};
  actor = { organizationId, userId, credential: { type: "session", sessionId: "ses_1" }, scopes: [] };
  ({ secret } = await startTotp(actor, { password }, home));
  ({ recoveryCodes } = await confirmTotp(actor, { code: code() }, home));
  // The code of this step has been used.
  advance(30 * secondMs);
});

/** The code that the app shows, now or some steps from now. */
function code(steps = 0): string {
  return totpCode(secret, totpStepAt(new Date()) + steps);
}

async function reset(): Promise<boolean> {
  const user = await findUserByEmail(email);
  if (user === undefined) throw new Error("the user is gone");
  return resetSecondFactor(user);
}

/** @returns "in", or the code of the error */
async function logIn(given: string | undefined, address = home): Promise<string> {
  return login({ email, password, code: given }, address).then(
    () => "in",
    (error: unknown) => (error instanceof ApiError ? error.code : Promise.reject(error)),
  );
}

async function guess(times: number, address: string): Promise<string[]> {
  const results: string[] = [];
  for (let time = 0; time < times; time += 1) results.push(await logIn(`guess ${time}`, address));
  return results;
}

const wrong = "INVALID_SECOND_FACTOR";

it("a code logs in one of several callers at the same moment, and no one afterwards", async () => {
  const results = await Promise.all(Array.from({ length: 5 }, async () => logIn(code())));
  expect(results.toSorted()).toEqual([wrong, wrong, wrong, wrong, "in"]);
  advance(30 * secondMs);
  expect(await logIn(code(-1))).toBe(wrong);
});

it("codes of the adjacent steps count, and none of a step before a used one", async () => {
  advance(5 * minuteMs);
  expect(await logIn(code(2))).toBe(wrong);
  expect(await logIn(code(-2))).toBe(wrong);
  expect(await logIn(code(-1))).toBe("in");
  expect(await logIn(code(1))).toBe("in");
  expect(await logIn(code())).toBe(wrong);
});

it("the right password without a code does not count as a try", async () => {
  for (let time = 0; time < 25; time += 1) expect(await logIn(undefined)).toBe("SECOND_FACTOR_REQUIRED");
  expect(await logIn(code())).toBe("in");
});

it("one network may try ten wrong codes at an account in an hour, in log-ins and other requests", async () => {
  expect(await logIn(code())).toBe("in");
  expect(await guess(9, home)).toEqual(Array<string>(9).fill(wrong));
  await expect(deleteTotp(actor, {}, { password, code: "guess" }, home)).rejects.toMatchObject({
    code: wrong,
  });
  advance(30 * secondMs);
  expect(await logIn(code())).toBe("RATE_LIMITED");
  await expect(deleteTotp(actor, {}, { password, code: code() }, home)).rejects.toMatchObject({
    code: "RATE_LIMITED",
  });
  advance(hourMs);
  expect(await logIn(code())).toBe("in");
});

it("so may all networks together, and the owner still gets in from known networks", async () => {
  expect(await logIn(code())).toBe("in");
  expect(await guess(5, newNetwork())).toEqual(Array<string>(5).fill(wrong));
  expect(await guess(6, newNetwork())).toEqual([...Array<string>(5).fill(wrong), "RATE_LIMITED"]);
  advance(30 * secondMs);
  expect(await logIn(code(), newNetwork())).toBe("RATE_LIMITED");
  expect(await logIn(code())).toBe("in");
});

it("a valid recovery code logs in once, however many wrong codes there were", async () => {
  expect(await guess(10, home)).toEqual(Array<string>(10).fill(wrong));
  const [recoveryCode = ""] = recoveryCodes;
  expect(await logIn(recoveryCode)).toBe("in");
  expect(await logIn(recoveryCode)).toBe("RATE_LIMITED");
});

it("a recovery code still logs in after the stage's key was lost", async () => {
  const sealedSecret = sealText("another key than that of these tests", secret, "anywhere");
  const changed = updateOf(keys.secondFactor(actor.userId), { set: { sealedSecret } });
  expect((await updateItem(z.unknown(), changed)).applied).toBe(true);
  await expect(logIn(code())).rejects.toThrow(SealedWithAnotherKey);
  expect(await logIn(recoveryCodes[0])).toBe("in");
});

it("all recovery codes can be used, and then none is left", async () => {
  for (const each of recoveryCodes) expect(await logIn(each)).toBe("in");
  expect(await logIn(recoveryCodes[0])).toBe(wrong);
  expect(await logIn(code())).toBe("in");
});

it("an operator removes it, confirmed or not", async () => {
  expect(await reset()).toBe(true);
  expect(await logIn(undefined)).toBe("in");
  expect((await findUserByEmail(email))?.secondFactorAt).toBeUndefined();
  expect(await reset()).toBe(false);
  await startTotp(actor, { password }, home);
  expect(await reset()).toBe(false);
  await expect(confirmTotp(actor, { code: "123456" }, home)).rejects.toMatchObject({ code: "CONFLICT" });
});

it("can be switched on ten times in a day, because each time sends an email", async () => {
  const again = async (): Promise<unknown> => {
    await reset();
    ({ secret } = await startTotp(actor, { password }, home));
    return confirmTotp(actor, { code: code() }, home);
  };
  for (let time = 1; time < 10; time += 1) await again();
  await expect(again()).rejects.toMatchObject({ code: "RATE_LIMITED" });
  advance(dayMs);
  expect(await again()).toMatchObject({ enabled: true });
});

it("a second factor that is confirmed during its removal stays, unless the operator removes it", async () => {
  const confirmDuring = async (remove: () => Promise<unknown>): Promise<unknown> => {
    await reset();
    ({ secret } = await startTotp(actor, { password }, home));
    let isConfirmed = false;
    interceptTableRequests(async (command, send) => {
      const isRemoval = JSON.stringify(command).includes('"Delete":');
      if (isRemoval && !isConfirmed) {
        isConfirmed = true;
        await confirmTotp(actor, { code: code() }, home);
      }
      return send();
    });
    return remove().finally(() => vi.restoreAllMocks());
  };
  const removal = confirmDuring(async () => deleteTotp(actor, {}, { password, code: "" }, home));
  await expect(removal).rejects.toMatchObject({ code: "CONFLICT" });
  expect(await logIn(undefined)).toBe("SECOND_FACTOR_REQUIRED");
  expect(await confirmDuring(reset)).toBe(true);
  expect(await logIn(undefined)).toBe("in");
});
