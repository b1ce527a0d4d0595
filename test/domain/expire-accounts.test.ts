import { randomUUID } from "node:crypto";

import { beforeEach, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { register } from "../../shared/accounts/authentication/register.ts";
import { expireAccounts } from "../../shared/accounts/erasure/expire.ts";
import { noteVerifiedEmail } from "../../shared/accounts/organizations/verification.ts";
import { resetPassword } from "../../shared/accounts/proofs/reset-password.ts";
import { createContact } from "../../shared/audience/contacts/contacts.ts";
import { refundMessage } from "../../shared/messages/outcome/refund.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { postToWallet } from "../../shared/money/wallet/post.ts";
import { readWallet, WalletRecord } from "../../shared/money/wallet/record.ts";
import { dayMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { deleteItem, putItem, putUnchecked } from "../../shared/platform/table/write.ts";
import { findOrganization } from "../../shared/tenancy/organizations/record.ts";
import { newEmailToken } from "../../shared/tenancy/users/email-tokens.ts";
import { findUserByEmail } from "../../shared/tenancy/users/record.ts";
import { accept, only, ScriptedCarrier } from "../support/carriers.ts";
import { advance } from "../support/clock.ts";
import { acceptFor } from "../support/messages.ts";

// Hashing takes a tenth of a second and signing a session calls KMS. Neither is under test here.
vi.mock("../../shared/accounts/passwords/hash.ts", async () => import("../support/plain-passwords.ts"));
vi.mock("../../shared/accounts/sessions/session.ts", async () => import("../support/plain-sessions.ts"));

const contact = { phoneNumber: "15005550009", tags: [], attributes: {}, optedOut: false };
let email: string;

beforeEach(() => {
  vi.setSystemTime(new Date("2031-06-01T12:00:00Z"));
  email = `${randomUUID()}@example.com`;
});

/** Registers on a stage that requires verification, or on one that does not. @returns the organization's id */
async function registered(policy: "before-sending" | "none" = "before-sending"): Promise<string> {
  vi.stubEnv(environmentNames.policies.verifiedEmail, policy);
  await register({ email, password: "correct horse battery" }, "203.0.113.1");
  return (await findUserByEmail(email))?.organizationId ?? "";
}

async function isThere(organizationId: string): Promise<boolean> {
  return (await findOrganization(organizationId, { consistent: true })) !== undefined;
}

it("an unverified account is deleted with all its data after seven days, and its address is free", async () => {
  const id = await registered();
  await createContact(id, contact);
  advance(6.9 * dayMs);
  await expireAccounts();
  expect(await isThere(id)).toBe(true);
  advance(0.2 * dayMs);
  expect(await expireAccounts()).toBe(1);
  expect(await isThere(id)).toBe(false);
  expect(await findUserByEmail(email)).toBeUndefined();
  expect(await findItem(z.unknown(), keys.wallet(id), { consistent: true })).toBeUndefined();
  expect(await registered()).not.toBe(id);
  expect(await expireAccounts()).toBe(0);
});

it("an account with an open checkout stays as it is until the payment has ended", async () => {
  const id = await registered();
  const key = keys.payment(id, "pay_1");
  await putItem(putUnchecked(key, { entity: "payment", status: "pending", pendingWork: "PAYMENT#0" }));
  advance(8 * dayMs);
  expect(await expireAccounts()).toBe(0);
  expect(await findItem(WalletRecord, keys.wallet(id), { consistent: true })).not.toHaveProperty("closedAt");
  await deleteItem(key);
  expect(await expireAccounts()).toBe(1);
});

it("an account whose email is verified stays", async () => {
  const id = await registered();
  await noteVerifiedEmail(id);
  advance(8 * dayMs);
  await expireAccounts();
  expect(await isThere(id)).toBe(true);
});

it("an account that has received money stays, and is not checked again", async () => {
  const id = await registered();
  await postToWallet({ organizationId: id, type: "top_up", amountMicros: 1_000_000 });
  advance(8 * dayMs);
  await expireAccounts();
  const organization = await findItem(z.looseObject({}), keys.organization(id), { consistent: true });
  expect(organization).toMatchObject({ id });
  expect(organization).not.toHaveProperty("pendingWork");
  expect(organization).not.toHaveProperty("suspendedAt");
});

it("a stage that does not require verification keeps accounts", async () => {
  const id = await registered("none");
  advance(30 * dayMs);
  await expireAccounts();
  expect(await isThere(id)).toBe(true);
});

it.each(["before-sending", "none"] as const)(
  "an account that another person takes over by a reset is deleted, and theirs stays (verification %s)",
  async (policy) => {
    const id = await registered(policy);
    const strangerId = (await findUserByEmail(email))?.id ?? "";
    await createContact(id, contact);
    const [token, other] = [await newEmailToken("reset", strangerId), "staple battery horse"];
    const resets = [other, other].map(async (password) => resetPassword({ token, password }, "203.0.113.2"));
    const results = await Promise.allSettled(resets);
    expect(results.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    const person = await findUserByEmail(email);
    expect(person?.organizationId).not.toBe(id);
    expect(await findOrganization(id, { consistent: true })).toHaveProperty("suspendedAt");
    advance(7.1 * dayMs);
    expect(await expireAccounts()).toBe(1);
    expect(await isThere(id)).toBe(false);
    expect(await findUserByEmail(email)).toEqual(person);
    expect(await isThere(person?.organizationId ?? "")).toBe(true);
    expect((await readWallet(person?.organizationId ?? "")).seq).toBe(0);
  },
);

it.each(["before", "after"])("a payment that comes %s the takeover stays in the books", async (moment) => {
  const id = await registered("none");
  const strangerId = (await findUserByEmail(email))?.id ?? "";
  const pay = async () => postToWallet({ organizationId: id, type: "payment", amountMicros: 5_000_000 });
  if (moment === "before") await pay();
  const scheduledAt = new Date(Date.now() + dayMs).toISOString();
  const job = moment === "before" ? await acceptFor(id, { scheduledAt }) : undefined;
  const token = await newEmailToken("reset", strangerId);
  await resetPassword({ token, password: "staple battery horse" }, "203.0.113.2");
  if (moment === "after") await pay();
  await expect(acceptFor(id)).rejects.toMatchObject({ code: "ORGANIZATION_SUSPENDED" });
  advance(8 * dayMs);
  const carrier = new ScriptedCarrier(accept);
  if (job !== undefined) {
    await submitMessage(job, only(carrier));
    await refundMessage(job);
  }
  expect(carrier.received).toEqual([]);
  expect(await expireAccounts()).toBe(0);
  expect((await findUserByEmail(email))?.organizationId).not.toBe(id);
  const organization = await findItem(z.looseObject({}), keys.organization(id), { consistent: true });
  expect(organization).toHaveProperty("suspendedAt");
  expect(organization).not.toHaveProperty("pendingWork");
  const wallet = await readWallet(id);
  expect(wallet).toMatchObject({ balanceMicros: 5_000_000 });
  expect(wallet).not.toHaveProperty("closedAt");
});
