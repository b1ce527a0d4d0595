import { describe, expect, it } from "vitest";

import { Account, Session } from "../../shared/api/contract/accounts.ts";
import { StartedTotp } from "../../shared/api/contract/second-factor.ts";
import { totpCode, totpStepAt } from "../../shared/platform/auth/totp.ts";
import { call, Customer, dataOf, errorOf, password, type ApiResponse } from "../support/api.ts";
import { enableSecondFactor } from "../support/second-factor.ts";

const required = { status: 401, code: "SECOND_FACTOR_REQUIRED" };
const invalid = { status: 401, code: "INVALID_SECOND_FACTOR" };
const wrongPassword = { status: 401, code: "INVALID_CREDENTIALS" };
const conflict = { status: 409, code: "CONFLICT" };

async function logIn({ email }: Customer, fields: Record<string, unknown> = {}): Promise<ApiResponse> {
  return call("/v1/auth/login", { json: { email, password, ...fields } });
}

async function start(customer: Customer, typed = password): Promise<ApiResponse> {
  return customer.call("/v1/auth/totp", { json: { password: typed } });
}

async function confirm(customer: Customer, code: string): Promise<ApiResponse> {
  return customer.call("/v1/auth/totp/confirm", { json: { code } });
}

async function remove(customer: Customer, json: Record<string, unknown>): Promise<ApiResponse> {
  return customer.call("/v1/auth/totp", { method: "DELETE", json });
}

async function hasSecondFactor(customer: Customer): Promise<boolean> {
  return dataOf(await customer.call("/v1/auth/me"), Account).user.secondFactor;
}

describe("a second factor", () => {
  it("is requested once it is confirmed, only after the right password", async () => {
    const customer = await Customer.register();
    const { secret } = dataOf(await start(customer), StartedTotp);
    expect((await logIn(customer)).status).toBe(200);
    expect(await hasSecondFactor(customer)).toBe(false);
    const code = totpCode(secret, totpStepAt(new Date()));
    const confirmed = await confirm(customer, code);
    expect(confirmed).toMatchObject({ status: 200, body: { data: { enabled: true } } });
    expect(await hasSecondFactor(customer)).toBe(true);
    expect(errorOf(await logIn(customer))).toEqual(required);
    expect(errorOf(await logIn(customer, { password: "wrong" }))).toEqual(wrongPassword);
    expect(errorOf(await logIn(customer, { code: "000" }))).toEqual(invalid);
    // The confirmation has used the code.
    expect(errorOf(await logIn(customer, { code }))).toEqual(invalid);
    // One step ahead is within the permitted difference of clocks.
    const next = totpCode(secret, totpStepAt(new Date()) + 1);
    const session = dataOf(
      await logIn(customer, { code: ` ${next.slice(0, 3)} ${next.slice(3)} ` }),
      Session,
    );
    expect(session.user.secondFactor).toBe(true);
    expect(errorOf(await logIn(customer, { code: next }))).toEqual(invalid);
  });

  it("has ten recovery codes, each of which logs in once, also of two at the same moment", async () => {
    const customer = await Customer.register();
    const { recoveryCodes } = await enableSecondFactor(customer);
    expect(new Set(recoveryCodes).size).toBe(10);
    const [first = "", second = ""] = recoveryCodes;
    const both = await Promise.all([1, 2].map(async () => logIn(customer, { code: first })));
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401]);
    expect(errorOf(await logIn(customer, { code: first }))).toEqual(invalid);
    const typed = second.toLowerCase().replaceAll("-", " ");
    expect((await logIn(customer, { code: typed })).status).toBe(200);
    const other = await Customer.register();
    await enableSecondFactor(other);
    expect(errorOf(await logIn(other, { code: recoveryCodes[2] }))).toEqual(invalid);
  });

  it("is removed with the password and a code, and not with one of them", async () => {
    const customer = await Customer.register();
    const { recoveryCodes } = await enableSecondFactor(customer);
    const [code] = recoveryCodes;
    expect(errorOf(await remove(customer, { password: "wrong", code }))).toEqual(wrongPassword);
    expect(errorOf(await remove(customer, { password, code: "no code" }))).toEqual(invalid);
    expect(errorOf(await logIn(customer))).toEqual(required);
    const removed = await remove(customer, { password, code });
    expect(removed).toMatchObject({ status: 200, body: { data: { enabled: false } } });
    expect(await hasSecondFactor(customer)).toBe(false);
    expect((await logIn(customer)).status).toBe(200);
    expect(errorOf(await remove(customer, { password, code: recoveryCodes[1] }))).toEqual(conflict);
  });

  it("is required for a change of the password, and an invalid new password uses up no code", async () => {
    const customer = await Customer.register();
    const newPassword = "staple battery horse";
    const change = async (fields: Record<string, unknown>): Promise<ApiResponse> =>
      customer.call("/v1/auth/password", { json: { currentPassword: password, newPassword, ...fields } });
    const { recoveryCodes } = await enableSecondFactor(customer);
    const [code, other] = recoveryCodes;
    expect(errorOf(await change({}))).toEqual(required);
    expect(errorOf(await change({ currentPassword: "wrong", code }))).toEqual(wrongPassword);
    expect(errorOf(await change({ code: "000000" }))).toEqual(invalid);
    expect((await change({ newPassword: password, code })).status).toBe(400);
    expect((await change({ code })).status).toBe(200);
    const back = { currentPassword: newPassword, newPassword: password };
    expect(errorOf(await change({ ...back, code }))).toEqual(invalid);
    expect((await change({ ...back, code: other })).status).toBe(200);
  });

  it("requires the password to begin, and cannot be begun or confirmed while one exists", async () => {
    const customer = await Customer.register();
    expect(errorOf(await start(customer, "wrong"))).toEqual(wrongPassword);
    expect(errorOf(await confirm(customer, "123456"))).toEqual(conflict);
    const { secret: replaced } = dataOf(await start(customer), StartedTotp);
    const { secret } = await enableSecondFactor(customer);
    expect(secret).not.toBe(replaced);
    expect(errorOf(await start(customer))).toEqual(conflict);
    const next = totpCode(secret, totpStepAt(new Date()) + 1);
    expect(errorOf(await confirm(customer, next))).toEqual(conflict);
  });

  it("is confirmed only by its own codes, and then returns the recovery codes once", async () => {
    const customer = await Customer.register();
    const { secret: replaced } = dataOf(await start(customer), StartedTotp);
    const { secret } = dataOf(await start(customer), StartedTotp);
    const step = totpStepAt(new Date());
    expect(errorOf(await confirm(customer, totpCode(replaced, step)))).toEqual(invalid);
    const code = totpCode(secret, step);
    const both = await Promise.all([confirm(customer, code), confirm(customer, code)]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  });

  it("leaves no secret in the audit log", async () => {
    const customer = await Customer.register();
    const { secret, recoveryCodes } = await enableSecondFactor(customer);
    const [code = ""] = recoveryCodes;
    await remove(customer, { password, code });
    const { text } = await customer.call("/v1/audit-log?limit=100");
    for (const action of ["POST /v1/auth/totp", "POST /v1/auth/totp/confirm", "DELETE /v1/auth/totp"]) {
      expect(text).toContain(`"${action}"`);
    }
    for (const word of [secret, code, password]) expect(text).not.toContain(word);
  });
});
