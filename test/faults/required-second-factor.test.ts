import { beforeEach, describe, expect, it } from "vitest";

import { noteVerifiedEmail } from "../../shared/accounts/organizations/verification.ts";
import { resetSecondFactor } from "../../shared/accounts/second-factor/reset.ts";
import { Account } from "../../shared/api/contract/accounts.ts";
import { AuditEntry } from "../../shared/api/contract/audit-log.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { findOrganization } from "../../shared/tenancy/organizations/record.ts";
import { findUser, findUserByEmail } from "../../shared/tenancy/users/record.ts";
import { accountCallsTo } from "../support/account-calls.ts";
import { call, Customer, dataOf, errorOf, pageOf, password, type ApiResponse } from "../support/api.ts";
import { emailsTo, waitForSubject } from "../support/emails.ts";
import { dropAnswer, isBy } from "../support/faults.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";
import { enableSecondFactor, type SecondFactor } from "../support/second-factor.ts";

const { gateway, faults } = await gatewayOfFile({
  [environmentNames.policies.reauthentication]: "before-changes",
});
const { as, sessionOf, join, addMember, createKey } = accountCallsTo(gateway);

let owner: Customer;
let ofOwner: SecondFactor;
beforeEach(async () => {
  owner = await Customer.register({ baseUrl: gateway.url });
  await noteVerifiedEmail(owner.organizationId);
  ofOwner = await enableSecondFactor(owner);
});

const notSetUp = { status: 403, code: "SECOND_FACTOR_NOT_SET_UP" };
const conflict = { status: 409, code: "CONFLICT" };
const insufficientScope = { status: 403, code: "INSUFFICIENT_SCOPE" };
const unproven = { status: 403, code: "REAUTHENTICATION_REQUIRED" };
const isOnText = "A second factor is required";
const isOffText = "A second factor is optional";

async function require(secondFactorRequired: boolean, credential = owner.token): Promise<ApiResponse> {
  return as(credential, "PATCH", "/v1/organization", { secondFactorRequired });
}

async function remove(credential: string, code: string | undefined): Promise<ApiResponse> {
  return as(credential, "DELETE", "/v1/auth/totp", { password, code });
}

async function setUp(token: string): Promise<SecondFactor> {
  return enableSecondFactor({
    call: async (path, options) => call(path, { credential: token, baseUrl: gateway.url, ...options }),
  });
}

async function isRequired(): Promise<boolean> {
  const found = await findOrganization(owner.organizationId, { consistent: true });
  return found?.secondFactorRequiredAt !== undefined;
}

describe("while an organization requires a second factor", () => {
  it("a session from before only sets one up, and continues then", async () => {
    const { token } = await join("admin", owner.token);
    expect((await as(token, "GET", "/v1/members")).status).toBe(200);
    expect((await require(true)).status).toBe(200);
    const closed = [
      ["GET", "/v1/wallet", undefined],
      ["GET", "/v1/members", undefined],
      ["POST", "/v1/sms/send", { to: "15005550000", message: "hello", senderId: "ACME" }],
      ["POST", "/v1/auth/api-keys", {}],
      ["POST", "/v1/auth/password", { currentPassword: password, newPassword: `${password} staple` }],
      ["DELETE", "/v1/auth/totp", { password, code: "123456" }],
      ["PATCH", "/v1/organization", { secondFactorRequired: false }],
      ["POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/list" }],
    ] as const;
    for (const [method, path, json] of closed) {
      const response = await as(token, method, path, json);
      expect(errorOf(response), path).toEqual(notSetUp);
      expect(response.text).toContain("/docs/errors/SECOND_FACTOR_NOT_SET_UP");
    }
    expect((await as(token, "GET", "/v1/auth/sessions")).status).toBe(200);
    expect((await as(token, "POST", "/v1/auth/reauthenticate", { password })).status).toBe(200);
    const { user, organization } = dataOf(await as(token, "GET", "/v1/auth/me"), Account);
    expect([user.secondFactor, organization.secondFactorRequired]).toEqual([false, true]);
    const { recoveryCodes } = await setUp(token);
    expect((await as(token, "GET", "/v1/members")).status).toBe(200);
    // It cannot be removed and stays valid, and so does the code.
    expect(errorOf(await remove(token, recoveryCodes[0]))).toEqual(conflict);
    expect((await as(token, "GET", "/v1/members")).status).toBe(200);
    expect((await require(false)).status).toBe(200);
    expect((await remove(token, recoveryCodes[0])).status).toBe(200);
    expect((await as(token, "GET", "/v1/members")).status).toBe(200);
  });

  it("an invited person joins, logs in and only sets one up", async () => {
    await require(true);
    const { email } = await addMember("developer", owner.token);
    const token = await sessionOf(email);
    expect(errorOf(await as(token, "GET", "/v1/wallet"))).toEqual(notSetUp);
    await setUp(token);
    expect((await as(token, "GET", "/v1/wallet")).status).toBe(200);
  });

  it("API keys work as before, also those of members without one", async () => {
    const { token } = await join("developer", owner.token);
    const { secret } = await createKey(token);
    await require(true);
    expect((await as(secret, "GET", "/v1/wallet")).status).toBe(200);
  });

  it("a person whose second factor the operator removed sets up another one", async () => {
    await require(true);
    const user = await findUserByEmail(owner.email);
    expect(user && (await resetSecondFactor(user))).toBe(true);
    const token = await sessionOf(owner.email);
    expect(errorOf(await require(false, token))).toEqual(notSetUp);
    await setUp(token);
    expect((await require(false, token)).status).toBe(200);
  });
});

describe("the requirement", () => {
  it("is changed by owners who have a second factor, and by no one else", async () => {
    const admin = await join("admin", owner.token);
    await setUp(admin.token);
    const other = await join("owner", owner.token);
    const { secret } = await createKey(owner.token, { scopes: ["billing", "keys"] });
    expect(errorOf(await require(true, admin.token))).toEqual(insufficientScope);
    expect(errorOf(await require(true, secret))).toEqual(insufficientScope);
    expect(errorOf(await require(true, other.token))).toEqual(conflict);
    expect(await isRequired()).toBe(false);
    expect((await require(true)).status).toBe(200);
    expect(errorOf(await require(false, admin.token))).toEqual(insufficientScope);
    expect(errorOf(await require(false, secret))).toEqual(insufficientScope);
    expect(await isRequired()).toBe(true);
  });

  it("is in the audit log, and owners get one email about each change, also after a lost response", async () => {
    const other = await join("owner", owner.token);
    faults.next(isBy("UpdateOrganization", "dynamodb:TransactWriteItems"), dropAnswer);
    for (const isOn of [true, true, false, false, true]) expect((await require(isOn)).status).toBe(200);
    for (const email of [owner.email, other.email]) {
      // The emails of an organization come in their order.
      await waitForSubject(gateway, email, isOnText, 2);
      const subjects = emailsTo(gateway, email).map(({ subject }) => subject);
      expect(subjects.filter((each) => [isOnText, isOffText].includes(each))).toEqual([
        isOnText,
        isOffText,
        isOnText,
      ]);
    }
    const { rows } = pageOf(await owner.call("/v1/audit-log?limit=100"), AuditEntry);
    const changes = rows.filter(({ action }) => action === "PATCH /v1/organization");
    expect(changes.map(({ after }) => after?.["secondFactorRequired"])).toEqual([
      true,
      false,
      false,
      true,
      true,
    ]);
  });

  it.each(["UpdateOrganization", "DeleteTotp"])(
    "and the removal of the last second factor exclude each other, when %s is late",
    async (late) => {
      const actions = {
        UpdateOrganization: async () => require(true),
        DeleteTotp: async () => remove(owner.token, ofOwner.recoveryCodes[0]),
      };
      const { [late === "DeleteTotp" ? "UpdateOrganization" : "DeleteTotp"]: early } = actions;
      faults.next(isBy(late, "dynamodb:TransactWriteItems"), async (request, next) => {
        expect((await early()).status).toBe(200);
        return next(request);
      });
      const { [late === "DeleteTotp" ? "DeleteTotp" : "UpdateOrganization"]: act } = actions;
      expect(errorOf(await act())).toEqual(conflict);
      const user = await findUser((await findUserByEmail(owner.email))?.id ?? "", { consistent: true });
      expect(await isRequired()).toBe(user?.secondFactorAt !== undefined);
    },
  );

  // The last test, because the codes of an app do not follow the clock of the gateway.
  it("changes only after a recent password and code", async () => {
    const reauthenticate = async (code?: string): Promise<ApiResponse> =>
      as(owner.token, "POST", "/v1/auth/reauthenticate", { password, code });
    for (const [index, isOn] of [true, false].entries()) {
      gateway.advanceClock(10 * minuteMs);
      expect(errorOf(await require(isOn))).toEqual(unproven);
      expect(errorOf(await reauthenticate())).toEqual({ status: 401, code: "SECOND_FACTOR_REQUIRED" });
      expect(errorOf(await require(isOn))).toEqual(unproven);
      expect((await reauthenticate(ofOwner.recoveryCodes[index])).status).toBe(200);
      expect((await require(isOn)).status).toBe(200);
    }
  });
});
