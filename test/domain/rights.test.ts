import { randomUUID } from "node:crypto";

import { beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { register } from "../../shared/accounts/authentication/register.ts";
import { noteVerifiedEmail } from "../../shared/accounts/organizations/verification.ts";
import { senderRejection } from "../../shared/messages/accept/policies.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { submitKyc } from "../../shared/tenancy/kyc/kyc.ts";
import { findUserByEmail } from "../../shared/tenancy/users/record.ts";
import { useOwnTable } from "../support/own-table.ts";
import { strictPolicies } from "../support/policies.ts";

// Hashing takes a tenth of a second and signing a session calls KMS. Neither is under test here.
vi.mock("../../shared/accounts/passwords/hash.ts", async () => import("../support/plain-passwords.ts"));
vi.mock("../../shared/accounts/sessions/session.ts", async () => import("../support/plain-sessions.ts"));

let organizationId: string;
let ownerId: string;

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

async function rejection(): Promise<string | undefined> {
  return senderRejection({ organizationId, senderId: "ACME" });
}

/** Writes rights into the organization's own item, which many functions may write. */
async function writeToOrganization(rights: Readonly<Record<string, unknown>>): Promise<void> {
  await updateItem(z.unknown(), updateOf(keys.organization(organizationId), { set: rights }));
}

describe("items that many functions may write never override the item of rights:", () => {
  it("not by a verified email or an approved KYC in the organization's item", async () => {
    const at = "2026-01-01T00:00:00.000Z";
    await writeToOrganization({
      ownerId,
      emailVerifiedAt: at,
      verifiedUserIds: new Set([ownerId]),
      kycApprovedAt: at,
    });
    expect(await rejection()).toBe("EMAIL_NOT_VERIFIED");
    await noteVerifiedEmail(organizationId);
    expect(await rejection()).toBe("KYC_REQUIRED");
  });

  it("and not by a KYC submission, which its customer's function writes", async () => {
    await noteVerifiedEmail(organizationId);
    await submitKyc(organizationId, { businessName: "Acme" });
    const forged = { set: { status: "approved", decidedAt: "2026-01-01T00:00:00.000Z" } } as const;
    await updateItem(z.unknown(), updateOf(keys.kyc(organizationId), forged));
    expect(await rejection()).toBe("KYC_REQUIRED");
  });
});
