import { describe, expect, it } from "vitest";
import * as z from "zod/mini";

import { noteVerifiedEmail } from "../../shared/accounts/organizations/verification.ts";
import { Account } from "../../shared/api/contract/accounts.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import type { EntityName } from "../../shared/platform/table/entities.ts";
import type { Changes } from "../../shared/platform/table/expressions.ts";
import { keys, type Key } from "../../shared/platform/table/keys.ts";
import { updateItem, updateOf } from "../../shared/platform/table/write.ts";
import {
  isEmailVerified,
  isOwnerVerified,
  readRights,
  type Rights,
} from "../../shared/tenancy/organizations/rights-record.ts";
import { accountCallsTo, newEmail, type Joined } from "../support/account-calls.ts";
import { Customer, dataOf, errorOf, password, type ApiResponse } from "../support/api.ts";
import { emailsTo, tokenIn, waitForSubject } from "../support/emails.ts";
import { isBy, loseRequest } from "../support/faults.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";
import { enableSecondFactor } from "../support/second-factor.ts";
import { organizationOf } from "../support/wallets.ts";

/*
 * An unverified address may be a stranger's: the squatter has registered with it, and its rightful owner reads its
 * emails.
 */

const { gateway, faults } = await gatewayOfFile();
const { post, statusWith, sessionOf, createKey, addMember, invite } = accountCallsTo(gateway);

const newPassword = "staple battery horse";

async function rightsIn(customer: Customer): Promise<Rights> {
  return readRights(customer.organizationId, { consistent: true });
}

/** The token of the newest email to an address with a subject. */
async function tokenOf(email: string, subject: string): Promise<string> {
  return tokenIn(await waitForSubject(gateway, email, subject));
}

async function resetTokenOf(email: string): Promise<string> {
  expect((await post("/v1/auth/password-reset/request", { email })).status).toBe(202);
  return tokenOf(email, "Set a new password");
}

async function change<Name extends EntityName>(key: Key<Name>, changes: Changes<Name>): Promise<void> {
  await updateItem(z.unknown(), updateOf(key, changes));
}

/** Removes all proof that an email belongs to a customer. */
async function forgetProof(customer: Customer): Promise<string> {
  const { ownerId = "" } = await rightsIn(customer);
  await change(keys.user(ownerId), { remove: ["emailVerifiedAt"] });
  await change(keys.rights(customer.organizationId), { take: { verifiedUserIds: new Set([ownerId]) } });
  return ownerId;
}

describe("a verified email", () => {
  it("belongs to its user: another owner's proof does not verify the first owner's email", async () => {
    const owner = await Customer.register({ baseUrl: gateway.url });
    await noteVerifiedEmail(owner.organizationId);
    const { id, email } = await addMember("owner", owner.token);
    const ownerId = await forgetProof(owner);
    // The other owner proves their own address.
    const json = { token: await resetTokenOf(email), password: newPassword };
    expect((await post("/v1/auth/password-reset", json)).status).toBe(200);
    const rights = await rightsIn(owner);
    expect(rights.ownerId).toBe(ownerId);
    expect(isOwnerVerified(rights)).toBe(false);
    expect(isEmailVerified(ownerId, rights)).toBe(false);
    expect(isEmailVerified(id, rights)).toBe(true);
  });

  it("of the organization is that of its current owner", async () => {
    const owner = await Customer.register({ baseUrl: gateway.url });
    await noteVerifiedEmail(owner.organizationId);
    const { id } = await addMember("owner", owner.token);
    await owner.call(`/v1/members/${(await owner.client.getMe()).user.id}`, {
      method: "PATCH",
      json: { role: "viewer" },
    });
    const rights = await rightsIn(owner);
    expect(rights.ownerId).toBe(id);
    // The email of an invitation is verified by its link.
    expect(isOwnerVerified(rights)).toBe(true);
  });
});

/** A squatter's account with all kinds of credentials. */
async function squat(balance: number): Promise<{
  squatter: Customer;
  member: Joined;
  invited: string;
  secrets: string[];
}> {
  const squatter = await Customer.register({ baseUrl: gateway.url, ...(balance > 0 && { balance }) });
  // This email is sent only before the address counts as verified.
  await tokenOf(squatter.email, "Verify your email");
  await noteVerifiedEmail(squatter.organizationId);
  const member = await addMember("owner", squatter.token);
  const email = newEmail();
  await invite(squatter.token, "owner", email);
  const invited = await tokenOf(email, "You are invited");
  const { secret } = await squatter.createApiKey();
  const ofMember = await createKey(await sessionOf(member.email));
  await squatter.client.createWebhook({ body: { url: "https://example.com/hook" } });
  await forgetProof(squatter);
  return { squatter, member, invited, secrets: [secret, ofMember.secret] };
}

describe("the first proof of an address", () => {
  it.each([
    ["that never had money", 0],
    ["with money", 1],
  ])("by a password reset gives an empty organization, and suspends one %s", async (_, balance) => {
    const { squatter, secrets, member, invited } = await squat(balance);
    const { client, email } = squatter;
    await client.submitKyc({ body: { businessName: "Stranger" } });
    await client.createSenderId({ body: { senderId: "STRANGER" } });
    await client.createTemplate({ body: { name: "t", body: "stranger text" } });
    await client.createContact({ body: { phoneNumber: "15005550000" } });
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
    const campaign = {
      name: "c",
      message: "m",
      senderId: "ACME",
      audience: { all: true },
      scheduledAt,
    } as const;
    await client.createCampaign({ body: campaign });
    await client.updateBilling({ body: { name: "Stranger Ltd" } });
    await enableSecondFactor(squatter);
    const token = await resetTokenOf(email);
    const requested = emailsTo(gateway, email).find(({ subject }) => subject === "Set a new password");
    expect(requested?.text).toContain(
      "With a new password, the account is yours. Its organization is empty then",
    );
    expect((await post("/v1/auth/password-reset", { token, password: newPassword })).status).toBe(200);
    await waitForSubject(gateway, email, "Your password was changed");
    const changed = emailsTo(gateway, email).find(({ subject }) => subject === "Your password was changed");
    expect(changed?.text).toContain("The earlier one is suspended.");
    // The second factor is gone: no code of the squatter's app is needed.
    const credential = await sessionOf(email, newPassword);
    const read = async (path: string) => (await squatter.call(path, { credential })).body;
    for (const path of ["sender-ids", "templates", "campaigns", "contacts", "webhooks", "auth/api-keys"]) {
      expect(await read(`/v1/${path}`), path).toMatchObject({ data: [] });
    }
    expect(await read("/v1/kyc")).toMatchObject({ data: null });
    expect(await read("/v1/members")).toMatchObject({
      data: [{ email, role: "owner", secondFactor: false }],
    });
    expect(await read("/v1/wallet")).toMatchObject({ data: { balance: 0 } });
    expect(JSON.stringify(await read("/v1/billing"))).not.toContain("Stranger");
    const { organization } = dataOf(await squatter.call("/v1/auth/me", { credential }), Account);
    expect(isOwnerVerified(await readRights(organization.id, { consistent: true }))).toBe(true);
    // The earlier organization is closed to all who had access to it.
    expect(await statusWith(squatter.token)).toBe(401);
    for (const secret of secrets) expect(await statusWith(secret)).toBe(403);
    const login = await post("/v1/auth/login", { email: member.email, password });
    expect(errorOf(login).code).toBe("ORGANIZATION_SUSPENDED");
    const login2 = await post("/v1/auth/login", { email, password });
    expect(errorOf(login2).code).toBe("INVALID_CREDENTIALS");
    const accepted = await post("/v1/auth/accept-invitation", { token: invited, password });
    expect(errorOf(accepted).code).toBe("ORGANIZATION_SUSPENDED");
    // The money stays in the books of the squatter, for the operator. Nothing is charged or sent.
    const wallet = await readWallet(squatter.organizationId);
    expect(wallet).toMatchObject({ balanceMicros: balance * 1_000_000 });
    expect(wallet).toHaveProperty("suspendedAt");
  });

  it("by an invitation replaces an account, also one with money", async () => {
    const boss = await Customer.register({ baseUrl: gateway.url });
    await noteVerifiedEmail(boss.organizationId);
    const accept = async (email: string): Promise<ApiResponse> => {
      await boss.client.inviteMember({ body: { email, role: "developer" } });
      const token = await tokenOf(email, "You are invited");
      return post("/v1/auth/accept-invitation", { token, password: newPassword });
    };
    for (const options of [{}, { balance: 1 }]) {
      const squatter = await Customer.register({ baseUrl: gateway.url, ...options });
      expect((await accept(squatter.email)).status).toBe(201);
      const credential = await sessionOf(squatter.email, newPassword);
      const { organization } = dataOf(await squatter.call("/v1/auth/me", { credential }), Account);
      expect(organization.id).toBe(boss.organizationId);
      expect(await statusWith(squatter.token)).toBe(401);
      expect(await organizationOf(squatter.organizationId)).toHaveProperty("suspendedAt");
      expect(await readWallet(squatter.organizationId)).toHaveProperty("suspendedAt");
    }
    // An account that proved the email.
    const verified = await Customer.register({ baseUrl: gateway.url });
    await noteVerifiedEmail(verified.organizationId);
    expect(errorOf(await accept(verified.email))).toEqual({ status: 409, code: "EMAIL_TAKEN" });
    expect(await statusWith(verified.token)).toBe(200);
  });

  it("by the link requires the password, and keeps all that the person made", async () => {
    const squatted = await squat(1);
    const { squatter } = squatted;
    const token = await tokenOf(squatter.email, "Verify your email");
    const ofStranger = await post("/v1/auth/verify-email", { token, password: newPassword });
    expect(errorOf(ofStranger)).toEqual({ status: 401, code: "INVALID_CREDENTIALS" });
    expect(await statusWith(squatter.token)).toBe(200);
    expect((await post("/v1/auth/verify-email", { token, password })).status).toBe(200);
    for (const secret of [...squatted.secrets, squatter.token]) expect(await statusWith(secret)).toBe(200);
    expect((await squatter.client.listWebhooks()).rows).toHaveLength(1);
    expect((await squatter.client.listMembers()).rows).toHaveLength(3);
    expect(isOwnerVerified(await rightsIn(squatter))).toBe(true);
  });

  it("that failed before its end leaves the link valid for another try", async () => {
    const { squatter, secrets } = await squat(1);
    const token = await resetTokenOf(squatter.email);
    faults.next(isBy("ResetPassword", "dynamodb:TransactWriteItems"), loseRequest, 4);
    expect((await post("/v1/auth/password-reset", { token, password: newPassword })).status).toBe(500);
    faults.clear();
    for (const secret of secrets) expect(await statusWith(secret)).toBe(200);
    expect((await post("/v1/auth/password-reset", { token, password: newPassword })).status).toBe(200);
    for (const secret of secrets) expect(await statusWith(secret)).toBe(403);
  });

  it("of a member who is not an owner removes only what that member made", async () => {
    const owner = await Customer.register({ baseUrl: gateway.url });
    await noteVerifiedEmail(owner.organizationId);
    const { id, email } = await addMember("admin", owner.token);
    const own = await owner.createApiKey();
    const credential = await sessionOf(email);
    const made = await createKey(credential);
    expect((await invite(credential, "viewer")).status).toBe(201);
    await change(keys.user(id), { remove: ["emailVerifiedAt"] });
    await change(keys.rights(owner.organizationId), { take: { verifiedUserIds: new Set([id]) } });
    const json = { token: await resetTokenOf(email), password: newPassword };
    const isOfKey = isBy("ResetPassword", "dynamodb:TransactWriteItems");
    faults.next((request) => isOfKey(request) && request.body.includes("KEY#"), loseRequest, 4);
    expect((await post("/v1/auth/password-reset", json)).status).toBe(500);
    faults.clear();
    // The link is valid for another try.
    expect(await statusWith(credential)).toBe(200);
    expect((await post("/v1/auth/password-reset", json)).status).toBe(200);
    expect(await statusWith(made.secret)).toBe(401);
    expect(await statusWith(own.secret)).toBe(200);
    const { rows } = await owner.client.listMembers();
    expect(rows.map((member) => member.email)).toEqual([owner.email, email]);
  });

  it("removes nothing when the operator had verified the address before", async () => {
    const owner = await Customer.register({ baseUrl: gateway.url });
    const { secret } = await owner.createApiKey();
    const token = await tokenOf(owner.email, "Verify your email");
    await noteVerifiedEmail(owner.organizationId);
    expect((await post("/v1/auth/verify-email", { token, password })).status).toBe(200);
    for (const credential of [secret, owner.token]) expect(await statusWith(credential)).toBe(200);
    expect(dataOf(await owner.call("/v1/auth/me"), Account).user.email).toBe(owner.email);
  });
});
