import { expect, it } from "vitest";

import { noteVerifiedEmail } from "../../shared/accounts/organizations/verification.ts";
import { decideSenderId } from "../../shared/messages/sender-ids/review.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { decideKyc } from "../../shared/tenancy/kyc/review.ts";
import { Customer } from "../support/api.ts";
import { bringAgain, emailsTo, waitForSubject } from "../support/emails.ts";
import { runSchedule } from "../support/functions.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";

const { gateway } = await gatewayOfFile();

/** Lets the jobs of the table that are due in the next minutes start. */
async function pass(minutes: number): Promise<void> {
  await runSchedule(gateway, "ReleaseScheduledJobs");
  gateway.advanceClock(minutes * minuteMs);
  await runSchedule(gateway, "ReleaseScheduledJobs");
}

it("an owner gets an email about each decision of the operator, with the reason of a rejection", async () => {
  const owner = await Customer.register({ baseUrl: gateway.url });
  const { organizationId, client, email } = owner;
  await noteVerifiedEmail(organizationId);
  const body = {
    businessName: "Ada's shop",
    registrationNumber: "HRB 1",
    country: "DE",
    address: "Main Street 1",
    contactName: "Ada",
  };
  const { id: kycId } = await client.submitKyc({ body });
  const { id: senderIdId } = await client.createSenderId({
    body: { senderId: "ADASHOP", useCase: "Orders" },
  });
  await decideKyc(organizationId, kycId, { approved: false, reason: "The number\r\nis unknown" });
  await decideSenderId(organizationId, senderIdId, { approved: true });
  await pass(17);
  const rejected = await waitForSubject(gateway, email, "Your business details: rejected");
  expect(rejected.text).toContain("Reason: The number is unknown");
  expect(rejected.text).toContain("/console#/kyc");
  const approved = await waitForSubject(gateway, email, "Your sender ID ADASHOP: approved");
  expect(approved.text).not.toContain("Reason:");
  // Another submission is open, so the first decision is no news any more.
  await client.submitKyc({ body });
  await bringAgain(gateway, { kind: "reviewDecided", id: "eml_late", organizationId });
  expect(emailsTo(gateway, email).filter(({ subject }) => subject.includes("business details"))).toHaveLength(
    1,
  );
});
