import { describe, expect, it } from "vitest";
import * as z from "zod/mini";

import { KycSubmission } from "../../shared/api/contract/kyc.ts";
import { findKyc } from "../../shared/tenancy/kyc/record.ts";
import { decideKyc, listPendingKyc } from "../../shared/tenancy/kyc/review.ts";
import { readRights } from "../../shared/tenancy/organizations/rights-record.ts";
import { Customer, dataOf, errorOf, statusesOf, type ApiResponse } from "../support/api.ts";

const conflict = { status: 409, code: "CONFLICT" };
const particulars = {
  businessName: "Bäckerei Müller",
  registrationNumber: "HRB 12345",
  country: "DE",
  address: "Hauptstraße 1\n10115 Berlin",
  contactName: "Anna Müller",
  website: "https://example.com/shop?lang=de",
};

async function submit(customer: Customer, json: Record<string, unknown>): Promise<ApiResponse> {
  return customer.call("/v1/kyc", { json });
}

async function submitted(customer: Customer, json: Record<string, unknown> = particulars) {
  const response = await submit(customer, json);
  expect(response.status).toBe(201);
  return dataOf(response, KycSubmission);
}

async function current(customer: Customer): Promise<KycSubmission | null> {
  return dataOf(await customer.call("/v1/kyc"), z.nullable(KycSubmission));
}

/** The ids of this organization in the list of all pending submissions. */
async function pendingIds({ organizationId }: Customer): Promise<string[]> {
  const ids: string[] = [];
  for await (const record of listPendingKyc()) {
    if (record.organizationId === organizationId) ids.push(record.id);
  }
  return ids;
}

describe("a KYC submission", () => {
  it("is null at first, then pending with its fields, and invisible to others", async () => {
    const [customer, stranger] = await Promise.all([Customer.register(), Customer.register()]);
    expect(await current(customer)).toBeNull();
    const submission = await submitted(customer, { ...particulars, status: "approved", unknown: 1 });
    expect(submission).toEqual({
      ...particulars,
      id: submission.id,
      status: "pending",
      submittedAt: submission.submittedAt,
    });
    expect(await current(customer)).toEqual(submission);
    expect(await current(stranger)).toBeNull();
    expect(await pendingIds(customer)).toEqual([submission.id]);
  });

  it("may have a website under a domain in letters of any script", async () => {
    const website = "https://пример.рф/магазин";
    expect(await submitted(await Customer.register(), { ...particulars, website })).toMatchObject({
      website,
    });
  });

  it("is replaced while it is pending, and waits for its decision once", async () => {
    const customer = await Customer.register();
    const first = await submitted(customer);
    const second = await submitted(customer, { businessName: "Another" });
    expect(second.id).not.toBe(first.id);
    expect(second).not.toHaveProperty("country");
    expect(await current(customer)).toEqual(second);
    expect(await pendingIds(customer)).toEqual([second.id]);
  });

  it("is rejected with a reason, may be sent again, and is final once it is approved", async () => {
    const customer = await Customer.register();
    const { organizationId } = customer;
    const first = await submitted(customer);
    const rejected = await decideKyc(organizationId, first.id, {
      approved: false,
      reason: "no such register",
    });
    expect(rejected.status).toBe("rejected");
    expect(await current(customer)).toMatchObject({
      ...particulars,
      status: "rejected",
      rejectionReason: "no such register",
      decidedAt: rejected.decidedAt,
    });
    expect(await pendingIds(customer)).toEqual([]);
    const approval = { approved: true } as const;
    const isRejected = { code: "CONFLICT" };
    await expect(decideKyc(organizationId, first.id, approval)).rejects.toMatchObject(isRejected);

    const again = await submitted(customer);
    expect(again).not.toHaveProperty("rejectionReason");
    expect(again).not.toHaveProperty("decidedAt");
    expect(await pendingIds(customer)).toEqual([again.id]);
    // The operator has seen the first one, and not its replacement.
    await expect(decideKyc(organizationId, first.id, approval)).rejects.toMatchObject(isRejected);
    await decideKyc(organizationId, again.id, approval);
    expect(await findKyc(organizationId)).toMatchObject({ id: again.id, status: "approved" });
    expect(await current(customer)).toMatchObject({ id: again.id, status: "approved" });
    expect(await pendingIds(customer)).toEqual([]);
    expect(errorOf(await submit(customer, particulars))).toEqual(conflict);
  });

  it("may still be rejected after its approval, and then be replaced", async () => {
    const customer = await Customer.register();
    const { organizationId } = customer;
    const approvedAt = async (): Promise<string | undefined> =>
      (await readRights(organizationId, { consistent: true })).kycApprovedAt;
    const { id } = await submitted(customer);
    expect(await approvedAt()).toBeUndefined();
    const { decidedAt } = await decideKyc(organizationId, id, { approved: true });
    expect(await approvedAt()).toBe(decidedAt);
    const rejection = { approved: false, reason: "forged" } as const;
    await decideKyc(organizationId, id, rejection);
    expect(await approvedAt()).toBeUndefined();
    expect(await current(customer)).toMatchObject({ status: "rejected", rejectionReason: "forged" });
    await expect(decideKyc(organizationId, id, rejection)).rejects.toMatchObject({ code: "CONFLICT" });
    expect((await submitted(customer)).status).toBe("pending");
  });

  it("cannot be decided on where there is none", async () => {
    const { organizationId } = await Customer.register();
    expect(await findKyc(organizationId)).toBeUndefined();
    await expect(
      decideKyc(organizationId, "kyc_01J00000000000000000000000", { approved: true }),
    ).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("exists and is decided once, although several are sent at the same time", async () => {
    const customer = await Customer.register();
    const responses = await Promise.all(
      Array.from({ length: 4 }, async (_, index) => submit(customer, { businessName: `Business ${index}` })),
    );
    expect(statusesOf(responses)).toEqual([201, 201, 201, 201]);
    const survivor = await current(customer);
    expect(await pendingIds(customer)).toEqual([survivor?.id]);

    const decisions = await Promise.allSettled([
      decideKyc(customer.organizationId, survivor?.id ?? "", { approved: true }),
      decideKyc(customer.organizationId, survivor?.id ?? "", { approved: true }),
    ]);
    expect(decisions.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(await pendingIds(customer)).toEqual([]);
  });
});
