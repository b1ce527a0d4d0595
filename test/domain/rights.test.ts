import { randomUUID } from "node:crypto";

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { findOrganization, type OrganizationRecord } from "../../shared/accounts/organization-record.ts";
import { register } from "../../shared/accounts/register.ts";
import {
  isEmailVerified,
  isOwnerVerified,
  readRights,
  readRightsToChange,
} from "../../shared/accounts/rights-record.ts";
import { findUserByEmail } from "../../shared/accounts/user-record.ts";
import { noteVerifiedEmail } from "../../shared/accounts/verification.ts";
import { getKyc, submitKyc } from "../../shared/kyc/kyc.ts";
import { decideKyc } from "../../shared/kyc/review.ts";
import { refusalOfSender } from "../../shared/messages/policies.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { findItem, putItem, updateItem } from "../../shared/platform/table/table.ts";
import { updateOf } from "../../shared/platform/table/update.ts";
import { asOlderRelease, writeOldRights } from "../support/older-rights.ts";
import { useOwnTable } from "../support/own-table.ts";
import { strictPolicies } from "../support/policies.ts";

// Hashing takes a tenth of a second, and the signature of a session takes KMS; neither is what is tested here.
vi.mock("../../shared/accounts/passwords.ts", () => ({
  hashPassword: vi.fn<(password: string) => Promise<string>>(async (password) => password),
}));
vi.mock("../../shared/accounts/session.ts", () => ({
  startSession: async () => ({ session: { token: "a token" }, sessionId: "ses_1" }),
}));

let organizationId: string;
let ownerId: string;

const stranger = "usr_01J00000000000000000000000";
const consistent = { consistent: true };
const approval = { approved: true } as const;
const rejection = { approved: false, reason: "forged" } as const;

beforeEach(async () => {
  await useOwnTable();
  for (const [name, value] of Object.entries(strictPolicies("US"))) vi.stubEnv(name, value);
  vi.stubEnv(environmentNames.policies.senderIds, "any");
  const email = `${randomUUID()}@example.com`;
  await register({ email, password: "correct horse battery" }, "203.0.113.1");
  const user = await findUserByEmail(email);
  if (user === undefined) throw new Error("the user is gone");
  ({ id: ownerId, organizationId } = user);
});
afterEach(() => vi.unstubAllEnvs());

async function organization(): Promise<OrganizationRecord> {
  const found = await findOrganization(organizationId, consistent);
  if (found === undefined) throw new Error("the organization is gone");
  return found;
}

async function refusal(): Promise<string | undefined> {
  return refusalOfSender(await organization(), { organizationId, senderId: "ACME" });
}

async function approve(): Promise<string> {
  await noteVerifiedEmail(organizationId);
  const { id } = await submitKyc(organizationId, { businessName: "Acme" });
  await decideKyc(organizationId, id, approval);
  return id;
}

async function stored(key = keys.rights(organizationId)): Promise<unknown> {
  return findItem(z.unknown(), key, consistent);
}

describe("what many functions may write never overrides the item of rights:", () => {
  it("neither a verified email nor an approval of KYC in the organization's item", async () => {
    const at = "2026-01-01T00:00:00.000Z";
    await writeOldRights(organizationId, {
      ownerId,
      emailVerifiedAt: at,
      verifiedUserIds: new Set([ownerId]),
      kycApprovedAt: at,
    });
    expect(await refusal()).toBe("EMAIL_NOT_VERIFIED");
    await noteVerifiedEmail(organizationId);
    expect(await refusal()).toBe("KYC_REQUIRED");
  });

  it("nor an approved submission beside it", async () => {
    await noteVerifiedEmail(organizationId);
    const { id } = await submitKyc(organizationId, { businessName: "Acme" });
    const forged = { entity: "kyc", id, organizationId, businessName: "Acme", submittedAt: "2026-01-01" };
    await putItem({
      put: { ...keys.oldKyc(organizationId), ...forged, status: "approved", decidedAt: "2026" },
    });
    expect(await refusal()).toBe("KYC_REQUIRED");
    expect(await getKyc(organizationId)).toMatchObject({ status: "pending" });
  });

  it("nor another owner", async () => {
    await writeOldRights(organizationId, { ownerId: stranger, ownerIds: [stranger] });
    for (const read of [readRights, readRightsToChange]) {
      expect(await read(await organization())).toMatchObject({ ownerId, ownerIds: [ownerId] });
    }
  });

  it("nor does a submission that its customer's function writes approve anything", async () => {
    await noteVerifiedEmail(organizationId);
    await submitKyc(organizationId, { businessName: "Acme" });
    const forged = { set: { status: "approved", decidedAt: "2026-01-01T00:00:00.000Z" } };
    await updateItem(z.unknown(), updateOf(keys.kyc(organizationId), forged));
    expect(await refusal()).toBe("KYC_REQUIRED");
  });
});

describe("what an older release wrote", () => {
  it("counts as it did, and is moved by the first change of rights, which takes nothing away", async () => {
    await approve();
    const before = await readRights(await organization(), consistent);
    await asOlderRelease(organizationId);
    expect(await stored()).toBeUndefined();
    expect(await readRights(await organization(), consistent)).toEqual(before);
    expect(await refusal()).toBeUndefined();
    // Two at the same moment.
    const moved = await Promise.all([
      readRightsToChange(await organization()),
      readRightsToChange(await organization()),
    ]);
    expect(moved).toEqual([before, before]);
    expect(await stored()).toMatchObject({ ownerId, ownerIds: [ownerId] });
    expect(await refusal()).toBeUndefined();
  });

  it("of KYC stands in the submission alone, counts, and is withdrawn where it was moved to", async () => {
    const id = await approve();
    await asOlderRelease(organizationId);
    const remove = ["kycApprovedAt", "ownerIds"];
    await updateItem(z.unknown(), updateOf(keys.organization(organizationId), { remove }));
    expect(await refusal()).toBeUndefined();
    expect(await getKyc(organizationId)).toMatchObject({ id, status: "approved" });
    await expect(submitKyc(organizationId, { businessName: "Acme" })).rejects.toMatchObject({
      code: "CONFLICT",
    });
    await decideKyc(organizationId, id, rejection);
    expect(await refusal()).toBe("KYC_REQUIRED");
    expect(await stored(keys.oldKyc(organizationId))).toBeUndefined();
    expect(await getKyc(organizationId)).toMatchObject({ id, status: "rejected" });
  });

  it("and is submitted again is in one place, and decided on there", async () => {
    const first = await submitKyc(organizationId, { businessName: "Acme" });
    await asOlderRelease(organizationId);
    await noteVerifiedEmail(organizationId);
    const again = await submitKyc(organizationId, { businessName: "Acme Ltd" });
    expect(await stored(keys.oldKyc(organizationId))).toBeUndefined();
    await expect(decideKyc(organizationId, first.id, approval)).rejects.toMatchObject({ code: "CONFLICT" });
    expect(await refusal()).toBe("KYC_REQUIRED");
    await decideKyc(organizationId, again.id, approval);
    expect(await refusal()).toBeUndefined();
  });

  it("of an organization's verified email counts for its owner only where it never had another", async () => {
    const at = "2026-01-01T00:00:00.000Z";
    const old = { id: "org_01J00000000000000000000000", ownerId: "usr_1", emailVerifiedAt: at };
    const both = ["usr_1", "usr_2"];
    expect(isOwnerVerified(await readRights(old))).toBe(true);
    expect(isOwnerVerified(await readRights({ ...old, ownerIds: both }))).toBe(false);
    const { emailVerifiedAt: _at, ...unflagged } = old;
    const other = await readRights({ ...unflagged, verifiedUserIds: new Set(["usr_2"]) });
    expect(isOwnerVerified(other)).toBe(false);
    expect(isEmailVerified("usr_2", other)).toBe(true);
  });
});
