import { beforeEach, describe, expect, it } from "vitest";
import * as z from "zod/mini";

import type { SentEmail } from "../../infra/local/mailbox.ts";
import { noteVerifiedEmail } from "../../shared/accounts/organizations/verification.ts";
import { CreatedApiKey } from "../../shared/api/contract/api-keys.ts";
import type { Role } from "../../shared/api/contract/scopes.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { accountCallsTo, type Joined } from "../support/account-calls.ts";
import { call, Customer, dataOf, errorOf, password, type ApiResponse } from "../support/api.ts";
import { bringAgain, emailsTo, waitForSubject } from "../support/emails.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";
import { enableSecondFactor } from "../support/second-factor.ts";

/*
 * A gateway that requires a recent password before members, keys, webhooks and payments change.
 */

const { gateway } = await gatewayOfFile({
  [environmentNames.policies.reauthentication]: "before-changes",
});
const { as, sessionOf, ...accounts } = accountCallsTo(gateway);
let owner: Customer;
let ownerId: string;

beforeEach(async () => {
  owner = await Customer.register({ baseUrl: gateway.url });
  ownerId = (await owner.client.getMe()).user.id;
  await noteVerifiedEmail(owner.organizationId);
});

const required = { status: 403, code: "REAUTHENTICATION_REQUIRED" };

async function invite(role: Role): Promise<ApiResponse> {
  return accounts.invite(owner.token, role);
}

async function join(role: Role): Promise<Joined> {
  return accounts.addMember(role, owner.token);
}

function subjectsOf(subject: string): SentEmail[] {
  return emailsTo(gateway, owner.email).filter((email) => email.subject === subject);
}

/** Waits until the emails that were queued before have come: those of an organization come in their order. */
async function waitForRest(): Promise<void> {
  const invitations = subjectsOf("An owner was invited").length;
  await invite("owner");
  await waitForSubject(gateway, owner.email, "An owner was invited", invitations + 1);
}

async function makeKey(credential: string, body: object): Promise<ApiResponse> {
  return as(credential, "POST", "/v1/auth/api-keys", body);
}

async function reauthenticate(credential: string, fields: object = {}): Promise<ApiResponse> {
  return as(credential, "POST", "/v1/auth/reauthenticate", { password, ...fields });
}

describe("all owners get an email", () => {
  it("about an owner who is invited, added, demoted or removed, and so does the removed owner", async () => {
    const first = await join("owner");
    for (const subject of ["An owner was invited", "There is a new owner"]) {
      expect((await waitForSubject(gateway, owner.email, subject)).text).toContain(first.email);
    }
    const thief = await sessionOf(first.email);
    expect((await as(thief, "DELETE", `/v1/members/${ownerId}`)).status).toBe(200);
    for (const email of [owner.email, first.email]) {
      expect((await waitForSubject(gateway, email, "An owner was removed")).text).toContain(owner.email);
    }
  });

  it("about an owner with another role", async () => {
    const { id, email } = await join("owner");
    const changed = await as(owner.token, "PATCH", `/v1/members/${id}`, { role: "viewer" });
    expect(changed.status).toBe(200);
    for (const each of [owner.email, email]) {
      expect((await waitForSubject(gateway, each, "An owner has another role")).text).toContain(email);
    }
  });

  it("about a new key that may make keys or move money, and about one without an end", async () => {
    const other = await join("owner");
    const expiresAt = new Date(Date.now() + 24 * 60 * minuteMs).toISOString();
    for (const limits of [{ scopes: ["billing"], expiresAt }, { scopes: ["send"] }]) {
      expect((await makeKey(owner.token, limits)).status).toBe(201);
    }
    expect((await makeKey(owner.token, { scopes: ["send"], expiresAt })).status).toBe(201);
    expect((await makeKey(owner.token, { test: true })).status).toBe(201);
    for (const email of [owner.email, other.email]) {
      await waitForSubject(gateway, email, "An API key was created", 2);
    }
    await waitForRest();
    expect(subjectsOf("An API key was created")).toHaveLength(2);
  });

  it("about a member whose role may make keys or add members, and about no other", async () => {
    const admin = await join("admin");
    const viewer = await join("viewer");
    const promoted = await as(owner.token, "PATCH", `/v1/members/${viewer.id}`, { role: "developer" });
    expect(promoted.status).toBe(200);
    const invited = await waitForSubject(gateway, owner.email, "A member was invited");
    expect(invited.text).toMatch(new RegExp(`${admin.email} was invited .* role admin`));
    const added = await waitForSubject(gateway, owner.email, "A member has a new role", 2);
    expect(added.text).toMatch(new RegExp(`${viewer.email} now has the role developer`));
    await waitForRest();
    expect(subjectsOf("A member was invited")).toHaveLength(1);
  });

  it("about changes of what costs money and of who gets to know of it, also by an API key", async () => {
    const scopes = ["billing", "charge", "webhooks"];
    const { secret } = dataOf(await makeKey(owner.token, { scopes }), CreatedApiKey);
    const { id } = await owner.client.createWebhook({
      body: { url: "https://example.com/hook", events: ["message.sent"] },
    });
    const profile = "/v1/verification-profiles/default";
    const recharge = { isEnabled: false, threshold: 5, amount: 10, monthlyCap: 10 };
    const changes = [
      ["PATCH", `/v1/webhooks/${id}`, { url: "https://example.com/other" }, secret],
      ["PATCH", `/v1/webhooks/${id}`, { events: ["message.sent", "message.received"] }, secret],
      // The same address, and fewer events.
      ["PATCH", `/v1/webhooks/${id}`, { url: "https://example.com/other", events: ["message.sent"] }, secret],
      ["PATCH", `/v1/webhooks/${id}`, { enabled: false }, owner.token],
      ["PATCH", `/v1/webhooks/${id}`, { enabled: true }, secret],
      // It is enabled.
      ["PATCH", `/v1/webhooks/${id}`, { enabled: true }, secret],
      ["POST", `/v1/webhooks/${id}/rotate-secret`, undefined, secret],
      ["POST", "/v1/webhooks/callbacks/rotate-secret", undefined, secret],
      // A stricter profile than before, then three that are weaker.
      ["PUT", profile, { brand: "Ada", guard: "strict", countries: ["GB"] }, secret],
      ["PUT", profile, { brand: "Ada", guard: "block", countries: ["GB"] }, secret],
      ["PUT", profile, { brand: "Ada", guard: "block", countries: ["GB", "US"], allow: ["44"] }, secret],
      ["DELETE", profile, undefined, secret],
      ["PUT", "/v1/billing", { name: "Ada", emails: { payments: [], warnings: [] } }, secret],
      ["PUT", "/v1/wallet/auto-recharge", recharge, secret],
      ["PATCH", "/v1/wallet", { dailySpendCap: 5 }, secret],
      // The cap stays the same.
      ["PATCH", "/v1/wallet", { dailySpendCap: 5 }, secret],
      // The recipients stay the same, and the buyer does not.
      ["PUT", "/v1/billing", { name: "Ada's shop", emails: { payments: [], warnings: [] } }, secret],
    ] as const;
    for (const [method, path, json, credential] of changes) {
      expect((await as(credential, method, path, json)).status, `${method} ${path}`).toBeLessThan(300);
    }
    const counts = {
      "A webhook was created": 1,
      "A webhook was changed": 3,
      "The secret of a webhook was replaced": 2,
      "The guard of verifications was weakened": 3,
      "The recipients of emails were changed": 1,
      "The billing details were changed": 1,
      "Auto-recharge was changed": 1,
      "The spending limit was changed": 1,
    };
    for (const [subject, count] of Object.entries(counts))
      await waitForSubject(gateway, owner.email, subject, count);
    await waitForRest();
    for (const [subject, count] of Object.entries(counts)) expect(subjectsOf(subject)).toHaveLength(count);
    // No list of recipients keeps owners from receipts and warnings.
    const { organizationId } = owner;
    const warning = { kind: "lowBalance", id: "eml_1", organizationId, balance: 1, lowBalanceThreshold: 2 };
    await bringAgain(gateway, warning);
    expect(emailsTo(gateway, owner.email)[0]?.subject).toContain("is low");
  });

  it("about a member who has switched their second factor off", async () => {
    const { email } = await join("developer");
    const token = await sessionOf(email);
    const { recoveryCodes } = await enableSecondFactor({
      call: async (path, options) => call(path, { credential: token, baseUrl: gateway.url, ...options }),
    });
    const json = { password, code: recoveryCodes[0] };
    expect((await as(token, "DELETE", "/v1/auth/totp", json)).status).toBe(200);
    const told = await waitForSubject(gateway, owner.email, "A second factor was switched off");
    expect(told.text).toContain(email);
    await waitForSubject(gateway, email, "Your second factor is switched off");
  });
});

describe("a session whose password was given more than ten minutes ago", () => {
  it("needs the right password, and a code of a second factor", async () => {
    const { recoveryCodes } = await enableSecondFactor(owner);
    gateway.advanceClock(10 * minuteMs);
    const wrong = await reauthenticate(owner.token, { password: "wrong horse" });
    expect(errorOf(wrong)).toEqual({ status: 401, code: "INVALID_CREDENTIALS" });
    const without = await reauthenticate(owner.token);
    expect(errorOf(without)).toEqual({ status: 401, code: "SECOND_FACTOR_REQUIRED" });
    const bad = await reauthenticate(owner.token, { code: "000000" });
    expect(errorOf(bad)).toEqual({ status: 401, code: "INVALID_SECOND_FACTOR" });
    expect(errorOf(await makeKey(owner.token, {}))).toEqual(required);
    expect((await reauthenticate(owner.token, { code: recoveryCodes[0] })).status).toBe(200);
    expect((await makeKey(owner.token, {})).status).toBe(201);
  });

  it("changes no members, keys, webhooks and payments, until the password is given again", async () => {
    const other = await join("owner");
    const viewer = await join("viewer");
    const colleague = await join("developer");
    const key = dataOf(await makeKey(owner.token, { scopes: ["billing"] }), CreatedApiKey);
    const lesser = dataOf(await makeKey(owner.token, { scopes: ["send"] }), CreatedApiKey);
    const webhook = await owner.client.createWebhook({ body: { url: "https://example.com/hook" } });
    const recharge = { isEnabled: false, threshold: 5, amount: 10, monthlyCap: 10 };
    const charge = { amount: 10, paymentMethodId: "pm_unknown" };
    gateway.advanceClock(10 * minuteMs);
    const attempts = [
      async () => invite("owner"),
      async () => as(owner.token, "PATCH", `/v1/members/${viewer.id}`, { role: "owner" }),
      async () => as(owner.token, "PATCH", `/v1/members/${other.id}`, { role: "admin" }),
      async () => makeKey(owner.token, {}),
      async () => makeKey(owner.token, { scopes: ["keys", "read"] }),
      async () => makeKey(owner.token, { scopes: ["billing"] }),
      // Each of these outlives the session.
      async () => makeKey(owner.token, { scopes: ["send"] }),
      async () => makeKey(owner.token, { scopes: ["send"], expiresAt: "2999-01-01T00:00:00Z" }),
      async () => as(owner.token, "POST", `/v1/auth/api-keys/${lesser.id}/rotate`, {}),
      ...(["admin", "developer", "viewer"] as const).map((role) => async () => invite(role)),
      async () => as(owner.token, "PATCH", `/v1/members/${colleague.id}`, { role: "admin" }),
      async () => as(owner.token, "DELETE", `/v1/members/${colleague.id}`),
      async () => as(owner.token, "POST", "/v1/webhooks", { url: "https://example.com/thief" }),
      async () =>
        as(owner.token, "PATCH", `/v1/webhooks/${webhook.id}`, { url: "https://example.com/thief" }),
      async () => as(owner.token, "POST", `/v1/webhooks/${webhook.id}/rotate-secret`),
      // The next ones decide about money, and about its notices.
      async () => as(owner.token, "PUT", "/v1/billing", { name: "Ada", emails: { payments: [] } }),
      async () => as(owner.token, "PATCH", "/v1/wallet", { dailySpendCap: null }),
      async () => as(owner.token, "PUT", "/v1/wallet/auto-recharge", recharge),
      async () => as(owner.token, "POST", `/v1/auth/api-keys/${key.id}/rotate`, {}),
      async () => as(owner.token, "DELETE", `/v1/members/${viewer.id}`),
    ];
    // The last attempt is an owner's, after the second one has made an owner.
    for (const attempt of attempts.slice(0, -1)) expect(errorOf(await attempt())).toEqual(required);
    expect(errorOf(await as(owner.token, "POST", "/v1/payments", charge))).toEqual(required);
    const removal = await as(owner.token, "DELETE", `/v1/members/${other.id}`);
    expect(errorOf(removal)).toEqual(required);
    // Other requests and API keys need no recent password.
    expect((await as(owner.token, "GET", "/v1/members")).status).toBe(200);
    const threshold = async (credential: string, lowBalanceThreshold: number | null): Promise<ApiResponse> =>
      as(credential, "PATCH", "/v1/wallet", { lowBalanceThreshold });
    for (const credential of [key.secret, owner.token])
      expect((await threshold(credential, 1)).status).toBe(200);
    // Each other threshold may silence the warning.
    for (const credential of [key.secret, owner.token])
      for (const changed of [null, 0.01, 1_000_000])
        expect(errorOf(await threshold(credential, changed))).toEqual(required);
    expect((await reauthenticate(owner.token)).status).toBe(200);
    expect((await threshold(owner.token, null)).status).toBe(200);
    for (const attempt of attempts) expect([200, 201]).toContain((await attempt()).status);
    expect((await as(owner.token, "POST", "/v1/payments", charge)).status).toBe(400);
    gateway.advanceClock(10 * minuteMs);
    expect(errorOf(await makeKey(owner.token, {}))).toEqual(required);
  });

  it("pauses sending, and resumes it only when the password is given again", async () => {
    const key = dataOf(await makeKey(owner.token, { scopes: ["billing"] }), CreatedApiKey);
    gateway.advanceClock(10 * minuteMs);
    const pause = async (token: string, sendingPaused: boolean): Promise<ApiResponse> =>
      as(token, "PATCH", "/v1/wallet", { sendingPaused });
    expect((await pause(owner.token, true)).status).toBe(200);
    expect((await pause(key.secret, true)).status).toBe(200);
    expect(errorOf(await pause(owner.token, false))).toEqual(required);
    expect(errorOf(await pause(key.secret, false))).toEqual({ status: 403, code: "INSUFFICIENT_SCOPE" });
    expect((await owner.client.getWallet()).sendingPausedAt).toBeDefined();
    expect((await reauthenticate(owner.token)).status).toBe(200);
    expect((await pause(owner.token, false)).status).toBe(200);
  });

  it("does not profit from another session of its user", async () => {
    const stolen = await sessionOf(owner.email);
    gateway.advanceClock(10 * minuteMs);
    expect((await reauthenticate(owner.token)).status).toBe(200);
    expect(errorOf(await makeKey(stolen, {}))).toEqual(required);
  });
});

describe("an API key", () => {
  it("makes no key that makes keys or moves money, and leaves these scopes out by default", async () => {
    const { secret } = dataOf(await makeKey(owner.token, {}), CreatedApiKey);
    for (const scope of ["keys", "billing"]) {
      expect(errorOf(await makeKey(secret, { scopes: [scope] }))).toEqual(required);
    }
    const { scopes } = dataOf(await makeKey(secret, {}), CreatedApiKey);
    expect(scopes).toEqual(["send", "read", "contacts", "campaigns", "webhooks", "personal"]);
    expect(errorOf(await reauthenticate(secret))).toEqual({ status: 403, code: "INSUFFICIENT_SCOPE" });
  });

  it("may charge a saved card, which the release before can read as a key without that right", async () => {
    const { id, scopes } = dataOf(
      await makeKey(owner.token, { scopes: ["billing", "charge"] }),
      CreatedApiKey,
    );
    expect(scopes).toEqual(["billing", "charge"]);
    const stored = await findItem(z.looseObject({}), keys.apiKeyOfOrganization(owner.organizationId, id));
    expect(stored).toMatchObject({ scopes: ["billing"], mayCharge: true });
    const listed = await owner.client.listApiKeys();
    expect(listed.rows.find((key) => key.id === id)?.scopes).toEqual(["billing", "charge"]);
  });

  it("rotates itself and the keys made with it, but no sibling", async () => {
    const first = dataOf(await makeKey(owner.token, {}), CreatedApiKey);
    const sibling = dataOf(await makeKey(owner.token, {}), CreatedApiKey);
    const child = dataOf(await makeKey(first.secret, { scopes: ["send"] }), CreatedApiKey);
    const rotate = async (id: string): Promise<ApiResponse> =>
      as(first.secret, "POST", `/v1/auth/api-keys/${id}/rotate`, {});
    expect(errorOf(await rotate(sibling.id))).toEqual({ status: 403, code: "INSUFFICIENT_SCOPE" });
    expect((await rotate(child.id)).status).toBe(201);
    expect((await rotate(first.id)).status).toBe(201);
  });
});
