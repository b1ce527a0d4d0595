import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, it, vi } from "vitest";

import type { LocalGateway } from "../../infra/local/gateway.ts";
import { outputNames } from "../../infra/stack/constructs/stack-outputs.ts";
import { findSuppression } from "../../shared/notices/emails/suppression-record.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { call, Customer, errorOf, type ApiResponse } from "../support/api.ts";
import { bringAgain, emailsTo, waitForEmail } from "../support/emails.ts";
import { Faults } from "../support/faults.ts";
import { operator } from "../support/operator.ts";
import { startOperatedGateway } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

/*
 * Events of SES about emails, in the form in which EventBridge puts them onto the queue of emails.
 */

const faults = new Faults();
let gateway: LocalGateway;
let stop: () => Promise<void>;

beforeAll(async () => {
  ({ gateway, stop } = await startOperatedGateway({ interceptor: faults.interceptor }));
});
afterAll(async () => stop());

async function register(): Promise<Customer> {
  const customer = await Customer.register({ baseUrl: gateway.url });
  await waitForEmail(gateway, customer.email);
  return customer;
}

const mailOf = (sentAt: Date, address: string) => ({
  timestamp: sentAt.toISOString(),
  source: '"SMS gateway" <sms@example.com>',
  messageId: "010001",
  destination: [address],
  tags: { "ses:configuration-set": ["transactional"] },
});

function bounce(address: string, { type = "Permanent", sentAt = new Date() } = {}): object {
  return {
    eventType: "Bounce",
    mail: mailOf(sentAt, address),
    bounce: {
      bounceType: type,
      bounceSubType: "General",
      bouncedRecipients: [{ emailAddress: address, action: "failed", status: "5.1.1" }],
      timestamp: new Date().toISOString(),
      feedbackId: "010001-1",
    },
  };
}

function complaint(address: string, type: string | undefined): object {
  return {
    eventType: "Complaint",
    mail: mailOf(new Date(), address),
    complaint: {
      complainedRecipients: [{ emailAddress: address }],
      timestamp: new Date().toISOString(),
      feedbackId: "010001-2",
      complaintFeedbackType: type,
    },
  };
}

async function requestLink(customer: Customer): Promise<ApiResponse> {
  return customer.call("/v1/auth/verify-email/request", { method: "POST" });
}

/** Requests a password reset link for a customer, and waits until the worker has processed its job. */
async function requestReset({ email }: Customer): Promise<void> {
  const json = { email };
  expect((await call("/v1/auth/password-reset/request", { json, baseUrl: gateway.url })).status).toBe(202);
  const isJob = ({ operation, body }: { operation: string; body: string }): boolean =>
    operation === "sqs:SendMessage" && body.includes("passwordReset") && body.includes(email);
  const queued = faults.seen.findLast(isJob);
  const { id } = JSON.parse(JSON.parse(queued?.body ?? "").MessageBody);
  await vi.waitFor(() => {
    const isNote = ({ body }: { body: string }): boolean =>
      body.includes(`SENT_EMAIL#${id}`) && body.includes("sentAt = ");
    expect(faults.seen.filter(isNote)).toHaveLength(1);
  }, patience);
}

it("an address with a bounce gets no more emails until an operator removes the suppression", async () => {
  const customer = await register();
  const { email, organizationId } = customer;
  await new SQSClient({ endpoint: gateway.sqsEndpoint, useQueueUrlAsEndpoint: false }).send(
    new SendMessageCommand({
      QueueUrl: gateway.stack.outputs.find(({ name }) => name === outputNames.queueUrl("emails"))?.value,
      MessageBody: JSON.stringify(bounce(`<${email.toUpperCase()}>`)),
    }),
  );
  await vi.waitFor(
    async () => expect(await findSuppression(email)).toMatchObject({ reason: "bounce" }),
    patience,
  );

  await requestReset(customer);
  expect(emailsTo(gateway, email)).toHaveLength(1);
  const rejected = await requestLink(customer);
  expect(errorOf(rejected)).toEqual({ status: 409, code: "CONFLICT" });
  expect(rejected.text).toContain("No emails are sent to this address");

  const shown = await operator(["organizations", "show", organizationId]);
  expect(shown.out).toMatch(/^Emails +suppressed since \S+ \(bounce\)$/m);
  expect((await operator(["suppressions", "show", email])).out).toMatch(/suppressed since \S+ \(bounce\)/);
  const allowed = await operator(["suppressions", "remove", email.toUpperCase()]);
  expect(allowed).toEqual({ code: 0, out: `${email}: not suppressed\n`, err: "" });
  expect((await operator(["suppressions", "show", email])).out).toBe(`${email}: not suppressed\n`);
  expect((await operator(["organizations", "show", organizationId])).out).not.toContain("suppressed since");
  const log = await operator(["audit-log", organizationId, "--json"]);
  expect(log.out).toMatch(/"action":"suppressions remove".*"outcome":"done"/);
  expect(log.out).not.toContain(email);

  // A late event about an earlier email does not change the state of the address.
  await bringAgain(gateway, bounce(email, { sentAt: new Date(Date.now() - minuteMs) }));
  expect((await requestLink(customer)).status).toBe(202);
  await waitForEmail(gateway, email, 2);
  await bringAgain(gateway, bounce(email));
  expect(errorOf(await requestLink(customer))).toEqual({ status: 409, code: "CONFLICT" });
});

it("a repeated or older event changes nothing", async () => {
  const { email } = await register();
  const sentAt = new Date();
  await bringAgain(gateway, bounce(email, { sentAt }));
  const noted = await findSuppression(email);
  expect(noted).toEqual({ reason: "bounce", since: sentAt.toISOString() });
  const older = bounce(email, { sentAt: new Date(sentAt.getTime() - minuteMs) });
  await bringAgain(gateway, bounce(email, { sentAt }), older);
  expect(await findSuppression(email)).toEqual(noted);
});

it.each([
  ["a complaint", (email: string) => complaint(email, "abuse"), "complaint"],
  ["a complaint without a type", (email: string) => complaint(email, undefined), "complaint"],
  ["a report that it is not spam", (email: string) => complaint(email, "not-spam"), undefined],
  ["a full mailbox", (email: string) => bounce(email, { type: "Transient" }), undefined],
])("of %s the address is held back as it should be", async (_, event, reason) => {
  const { email } = await register();
  expect(await bringAgain(gateway, event(email))).toEqual({ batchItemFailures: [] });
  expect((await findSuppression(email))?.reason).toBe(reason);
});

it("an unreadable event is retried, and ends in the dead-letter queue", async () => {
  const answer = await bringAgain(gateway, { eventType: "Bounce", bounce: {} });
  expect(answer).toMatchObject({ batchItemFailures: [expect.anything()] });
});
