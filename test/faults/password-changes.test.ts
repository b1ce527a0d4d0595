import { describe, expect, it } from "vitest";

import type { AwsRequest } from "../../infra/local/local-aws.ts";
import { Session } from "../../shared/api/contract/accounts.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { accountCallsTo } from "../support/account-calls.ts";
import { type Customer, dataOf, errorOf, invalidFields, password, type ApiResponse } from "../support/api.ts";
import { waitForSubject } from "../support/emails.ts";
import { isBy } from "../support/faults.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";
import { actionsOf, newPassword, passwordResetsOn } from "../support/password-resets.ts";

const { gateway, faults } = await gatewayOfFile();
const { statusWith, logIn, sessionOf, register } = accountCallsTo(gateway);
const { reset, resetTokenFor } = passwordResetsOn(gateway);

const unauthorized = { status: 401, code: "UNAUTHORIZED" };

describe("a log-in in progress", () => {
  const readsPassword = ({ functionName, operation, body }: AwsRequest): boolean =>
    functionName.includes("Login") && operation === "dynamodb:GetItem" && body.includes("CREDENTIALS#");

  it.each<[name: string, replace: (customer: Customer) => Promise<ApiResponse>]>([
    ["a reset", async (customer) => reset(await resetTokenFor(customer))],
    [
      "a change",
      async (customer) =>
        customer.call("/v1/auth/password", { json: { currentPassword: password, newPassword } }),
    ],
  ])("with the old password is ended by %s that comes after it has read the hash", async (_, replace) => {
    // On a busy machine the read times out. Its repetition finds the new hash, or comes before the replacement ends.
    const attempt = async (): Promise<ApiResponse> => {
      const customer = await register();
      const replaced = Promise.withResolvers<number>();
      faults.next(readsPassword, async (request, next) => {
        const hash = await next(request);
        const { status } = await replace(customer);
        replaced.resolve(status);
        return hash;
      });
      const response = await logIn(customer.email);
      expect(await replaced.promise).toBe(200);
      return response;
    };
    let response = await attempt();
    for (let tries = 1; tries < 5 && response.status !== 200; tries += 1) response = await attempt();
    expect(response.status).toBe(200);
    expect(await statusWith(dataOf(response, Session).token)).toBe(401);
  });

  it("with the old password is ended by a reset that began before it and was written after it", async () => {
    const customer = await register();
    const token = await resetTokenFor(customer);
    let session = "";
    faults.next(isBy("ResetPassword", "dynamodb:TransactWriteItems"), async (request, next) => {
      session = await sessionOf(customer.email);
      return next(request);
    });
    expect((await reset(token)).status).toBe(200);
    expect(await statusWith(session)).toBe(401);
    expect(await statusWith(await sessionOf(customer.email, newPassword))).toBe(200);
  });
});

describe("a change of the password", () => {
  async function change(
    customer: Customer,
    fields: object = {},
    credential = customer.token,
  ): Promise<ApiResponse> {
    const json = { currentPassword: password, newPassword, ...fields };
    return customer.call("/v1/auth/password", { json, credential });
  }

  it("allows log-ins with the new password, ends all other sessions, and notifies the user", async () => {
    const customer = await register();
    const other = await sessionOf(customer.email);
    const { secret } = await customer.createApiKey();
    expect((await change(customer)).body).toEqual({ data: { changed: true } });
    expect(await statusWith(customer.token)).toBe(200);
    expect(await statusWith(other)).toBe(401);
    expect(await statusWith(secret)).toBe(200);
    expect(errorOf(await logIn(customer.email)).code).toBe("INVALID_CREDENTIALS");
    const later = await sessionOf(customer.email, newPassword);
    expect(await statusWith(later)).toBe(200);
    expect(await actionsOf(customer, later)).toContain("POST /v1/auth/password");
    await waitForSubject(gateway, customer.email, "Your password was changed");
  });

  it("leaves a session that ends like any other: by a log-out, a log-out everywhere, or the next change", async () => {
    const byItself = await register();
    expect((await change(byItself)).status).toBe(200);
    await byItself.client.logout();
    expect(await statusWith(byItself.token)).toBe(401);

    const withAll = await register();
    expect((await change(withAll)).status).toBe(200);
    const second = await sessionOf(withAll.email, newPassword);
    expect(
      (await withAll.call("/v1/auth/logout-everywhere", { method: "POST", credential: second })).status,
    ).toBe(200);
    for (const token of [withAll.token, second]) expect(await statusWith(token)).toBe(401);

    const byNext = await register();
    expect((await change(byNext)).status).toBe(200);
    const third = await sessionOf(byNext.email, newPassword);
    const back = { currentPassword: newPassword, newPassword: password };
    expect((await change(byNext, back, third)).status).toBe(200);
    expect(errorOf(await byNext.call("/v1/wallet"))).toEqual(unauthorized);
    expect(await statusWith(third)).toBe(200);
  });

  it("requires the present password, and counts wrong ones together with those of log-ins", async () => {
    const customer = await register();
    const wrong = { status: 401, code: "INVALID_CREDENTIALS" };
    for (let guess = 0; guess < 5; guess += 1) {
      expect(errorOf(await change(customer, { currentPassword: `guess ${guess}` }))).toEqual(wrong);
      expect(errorOf(await logIn(customer.email, `other guess ${guess}`))).toEqual(wrong);
    }
    expect(errorOf(await change(customer))).toEqual({ status: 429, code: "RATE_LIMITED" });
    gateway.advanceClock(16 * minuteMs);
    expect((await change(customer)).status).toBe(200);
  });

  it("reports an invalid new password, and requires a different one", async () => {
    const customer = await register();
    for (const each of ["short", "ü".repeat(40), password]) {
      expect(invalidFields(await change(customer, { newPassword: each })), each).toEqual(["newPassword"]);
    }
    expect((await change(customer)).status).toBe(200);
  });

  it("does not override a reset that came in between", async () => {
    const customer = await register();
    const token = await resetTokenFor(customer);
    const stolen = "what the thief wants";
    const isChange = ({ functionName, operation }: { functionName: string; operation: string }): boolean =>
      functionName.includes("ChangePassword") && operation === "dynamodb:TransactWriteItems";
    faults.next(isChange, async (request, next) => {
      expect((await reset(token)).status).toBe(200);
      return next(request);
    });
    expect(errorOf(await change(customer, { newPassword: stolen })).code).toBe("INVALID_CREDENTIALS");
    expect(errorOf(await logIn(customer.email, stolen)).code).toBe("INVALID_CREDENTIALS");
    expect((await logIn(customer.email, newPassword)).status).toBe(200);
  });

  it("is not available to API keys", async () => {
    const customer = await register();
    const { secret } = await customer.createApiKey();
    expect(errorOf(await change(customer, {}, secret))).toEqual({ status: 403, code: "INSUFFICIENT_SCOPE" });
  });
});
