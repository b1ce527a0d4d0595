import { beforeAll, describe, expect, it } from "vitest";
import * as z from "zod/mini";

import { KycSubmission } from "../../shared/api/contract/kyc.ts";
import { dataOf, errorOf, type Customer } from "../support/api.ts";
import { auditLog, jsonOf, operator, outputOf, rejectionOf } from "../support/operator.ts";
import { useOperatedGateway } from "../support/own-gateway.ts";

const { register } = useOperatedGateway();

/** Requests a sender ID, for a new customer unless one is given. @returns the command that approves it */
async function request(senderId: string, of?: Customer) {
  const { client, email, organizationId } = of ?? (await register());
  const { id } = await client.createSenderId({ body: { senderId } });
  const status = async () => (await client.listSenderIds({})).rows.find((each) => each.id === id)?.status;
  return { email, organizationId, status, approve: `sender-ids approve ${email} ${id}` };
}

it("a KYC submission is listed, shown, rejected with a reason that the customer reads, and approved", async () => {
  const customer = await register();
  const { email, organizationId } = customer;
  expect(await rejectionOf(`kyc show ${email}`)).toBe(`${organizationId} has no KYC submission.`);
  const submit = async (json: Record<string, unknown>) =>
    dataOf(await customer.call("/v1/kyc", { json: { businessName: "Ada's Shop", ...json } }), KycSubmission);
  const first = await submit({ country: "GB" });
  expect(await outputOf("kyc list")).toMatch(
    new RegExp(`^\\S+Z {2}${organizationId} {2}${first.id} {2}GB +Ada's Shop\\n(?:.+\\n)*\\d pending$`, "m"),
  );

  const rejected = await outputOf(`kyc reject ${email} ${first.id} --reason 'No number'`);
  expect(rejected).toBe(`${organizationId} is rejected\n`);
  expect((await customer.call("/v1/kyc")).body).toMatchObject({ data: { rejectionReason: "No number" } });
  expect(await outputOf("kyc list")).not.toContain(organizationId);

  const second = await submit({ registrationNumber: "7" });
  expect(await rejectionOf(`kyc approve ${email} ${first.id}`)).toBe(
    "The submission has been replaced by another one.",
  );
  await outputOf(`kyc approve ${email} ${second.id}`);
  expect(await outputOf(`kyc show ${organizationId}`)).toMatch(
    /^Status {8}approved\nBusiness {6}Ada's Shop\nRegistration {2}7$/m,
  );
});

it("a sender ID is listed, approved so that messages carry it, and rejected again", async () => {
  const customer = await register({ balance: 1 });
  const { email, organizationId } = customer;
  await customer.call("/v1/sender-ids", { json: { senderId: "ADASHOP", useCase: "Orders" } });
  const pending = await jsonOf("sender-ids list", z.object({ id: z.string(), organizationId: z.string() }));
  const { id = "" } = pending.find((each) => each.organizationId === organizationId) ?? {};

  const approved = await outputOf(`sender-ids approve ${email} ${id}`);
  expect(approved).toBe(`ADASHOP of ${organizationId} is approved\n`);
  expect((await customer.trySend({ senderId: undefined })).status).toBe(202);
  expect(await outputOf(`organizations show ${email}`)).toMatch(
    /^Sender IDs {4}ADASHOP approved \(default\)$/m,
  );

  // The name is the request of this organization, in upper or lower case.
  await outputOf(`sender-ids reject ${email} adashop --reason 'Another company'`);
  expect(errorOf(await customer.trySend({ senderId: undefined })).code).toBe("MISSING_SENDER_ID");
  expect(await rejectionOf(`sender-ids approve ${email} sid_1`)).toBe(
    `${organizationId} has not requested sid_1.`,
  );
  expect(await rejectionOf(`sender-ids approve ${email} ADA`)).toBe(
    `${organizationId} has not requested ADA.`,
  );
});

it("a sender ID belongs to one customer, in upper or lower case, unless it is shared", async () => {
  const first = await request("ONEBANK");
  await outputOf(first.approve);
  const { approve } = await request("OneBank");
  const taken = `The sender ID OneBank is approved for another organization: ${first.organizationId}.`;
  expect(await rejectionOf(approve)).toBe(taken);
  await outputOf(`${approve} --shared`);
});

it("an email is noted as verified, once", async () => {
  const { email, organizationId } = await register();
  expect(await outputOf(`organizations show ${email}`)).toMatch(/^Email {9}not verified$/m);
  const verify = `organizations verify-email ${email} --json`;
  const noted = await outputOf(verify);
  expect(JSON.parse(noted)).toEqual({ organizationId, emailVerifiedAt: expect.any(String) });
  expect(await outputOf(`organizations show ${email}`)).toMatch(/^Email {9}verified$/m);
  expect(await outputOf(verify)).toBe(noted);
});

describe("a sender ID that resembles another", () => {
  let holder: Customer;
  beforeAll(async () => {
    holder = await register();
    await outputOf((await request("HARBOURBK", holder)).approve);
  });

  it("one that resembles another organization's is shown with it, and approved when that is accepted", async () => {
    const { approve, email, status } = await request("HARB0URBK");
    const rejected = await operator(approve);
    expect(rejected).toMatchObject({
      code: 1,
      err: "Nothing was changed: HARB0URBK resembles 1 name. Use --allow-look-alikes to approve it.\n",
    });
    expect(rejected.out).toMatch(new RegExp(`^HARBOURBK +looks the same +${holder.organizationId} +`, "m"));
    expect(await status()).toBe("pending");

    const approved = await operator(`${approve} --allow-look-alikes`);
    expect(approved).toMatchObject({ code: 0, err: "Warning: HARB0URBK resembles 1 name.\n" });
    expect(await status()).toBe("approved");
    const entries = await auditLog("sender-ids approve", email);
    expect(entries).toMatchObject([{ subject: { allowLookAlikes: true } }]);
  });

  it("one that resembles a well-known name is shown with it", async () => {
    const { approve } = await request("PAYPA1");
    const rejected = await operator(`${approve} --json`);
    expect(rejected.code).toBe(1);
    expect(JSON.parse(rejected.out)).toEqual({ senderId: "PAYPAL", resemblance: "looks the same" });
    expect(await operator(`${approve} --allow-look-alikes`)).toMatchObject({ code: 0 });
  });

  it("an organization's own, an unapproved one, and a number do not prevent an approval", async () => {
    await request("MEADOW");
    for (const [senderId, of] of [
      ["RIVERBANK", holder],
      ["RIVERBANKS", holder],
      ["MEAD0W"],
      ["4478901"],
      ["4478907"],
    ] as const) {
      const { approve, email } = await request(senderId, of);
      expect(await outputOf(approve), email).toContain(`${senderId} of `);
    }
  });
});
