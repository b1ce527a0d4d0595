import { randomUUID } from "node:crypto";

import { describe, expect, it } from "vitest";

import { errorResponse } from "../../infra/local/local-aws.ts";
import { noteVerifiedEmail } from "../../shared/accounts/organizations/verification.ts";
import { resetSecondFactor } from "../../shared/accounts/second-factor/reset.ts";
import { VerifiedEmail } from "../../shared/api/contract/accounts.ts";
import { CreatedWebhook } from "../../shared/api/contract/webhooks.ts";
import type { Email } from "../../shared/notices/emails/email-kinds.ts";
import { hourMs, minuteMs } from "../../shared/platform/clock.ts";
import { findInvitationOf } from "../../shared/tenancy/organizations/member-record.ts";
import { readRights } from "../../shared/tenancy/organizations/rights-record.ts";
import { findUser, findUserByEmail } from "../../shared/tenancy/users/record.ts";
import { call, Customer, dataOf, errorOf, password, statusesOf, type ApiResponse } from "../support/api.ts";
import { bringAgain, emailsTo, tokenIn, waitForEmail, waitForSubject } from "../support/emails.ts";
import { isBy, loseRequest } from "../support/faults.ts";
import { runSchedule } from "../support/functions.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";
import { enableSecondFactor } from "../support/second-factor.ts";

const { gateway, faults } = await gatewayOfFile();

async function register(): Promise<Customer> {
  return Customer.register({ baseUrl: gateway.url });
}

async function verify(token: string): Promise<ApiResponse> {
  return call("/v1/auth/verify-email", { json: { token, password }, baseUrl: gateway.url });
}

async function askForLink(customer: Customer): Promise<ApiResponse> {
  return customer.call("/v1/auth/verify-email/request", { method: "POST" });
}

/** The jobs that were queued for emails, the newest last. */
function queuedJobs(): unknown[] {
  return faults.seen
    .filter(({ operation, body }) => operation === "sqs:SendMessage" && body.includes('\\"kind\\":\\"'))
    .map(({ body }) => JSON.parse(JSON.parse(body).MessageBody));
}

it("a newcomer gets a link, which opens the gateway's page and verifies their email", async () => {
  const customer = await register();
  const email = await waitForEmail(gateway, customer.email);
  expect(email).toMatchObject({ from: '"SMS gateway" <sms@example.com>', subject: "Verify your email" });
  expect(email.text).toContain(`${gateway.url}/account#verify=usr_`);
  expect(email.html).toContain(tokenIn(email));
  const verified = await verify(tokenIn(email));
  expect(dataOf(verified, VerifiedEmail)).toEqual({ email: customer.email, verified: true });
  const rights = await readRights(customer.organizationId, { consistent: true });
  const user = await findUser(rights.ownerId ?? "", { consistent: true });
  expect(user?.emailVerifiedAt).toEqual(expect.any(String));
  expect(rights.verifiedUserIds).toEqual(new Set([user?.id]));
  const log = await customer.call("/v1/audit-log");
  expect(log.text).toContain("POST /v1/auth/verify-email");
  const again = await customer.call("/v1/auth/verify-email/request", { method: "POST" });
  expect(errorOf(again)).toEqual({ status: 409, code: "CONFLICT" });
});

it("of many simultaneous uses of one link exactly one counts", async () => {
  const token = tokenIn(await waitForEmail(gateway, (await register()).email));
  const responses = await Promise.all(Array.from({ length: 8 }, async () => verify(token)));
  expect(statusesOf(responses)).toEqual([200, 400, 400, 400, 400, 400, 400, 400]);
  const rejected = responses.filter(({ status }) => status === 400).map((each) => errorOf(each).code);
  expect(new Set(rejected)).toEqual(new Set(["INVALID_EMAIL_TOKEN"]));
});

it("a newer link invalidates the older one, and the secret of another user's link does not work", async () => {
  const customer = await register();
  const older = tokenIn(await waitForEmail(gateway, customer.email));
  expect((await askForLink(customer)).status).toBe(202);
  const newer = tokenIn(await waitForEmail(gateway, customer.email, 2));
  const stranger = tokenIn(await waitForEmail(gateway, (await register()).email));
  const [, secretOfStranger = ""] = stranger.split(".");
  const invalid = { status: 400, code: "INVALID_EMAIL_TOKEN" };
  expect(errorOf(await verify(older))).toEqual(invalid);
  expect(errorOf(await verify(newer.replace(/\..*/, `.${secretOfStranger}`)))).toEqual(invalid);
  for (const none of ["", "x", newer.slice(0, -1), `${newer}x`, newer.toLowerCase(), "usr_1.2"]) {
    expect(errorOf(await verify(none)), none).toEqual(invalid);
  }
  // A program that passed the email on has appended a parameter.
  expect((await verify(`${newer}&utm_source=mail`)).status).toBe(200);
});

it("a user can request at most five links", async () => {
  const customer = await register();
  for (let count = 0; count < 5; count += 1) expect((await askForLink(customer)).status).toBe(202);
  expect(errorOf(await askForLink(customer))).toEqual({ status: 429, code: "RATE_LIMITED" });
});

it("a user gets an email when their second factor is switched on or off, and none for rejected requests", async () => {
  const customer = await register();
  await waitForEmail(gateway, customer.email);
  await noteVerifiedEmail(customer.organizationId);
  const { recoveryCodes } = await enableSecondFactor(customer);
  expect((await waitForEmail(gateway, customer.email, 2)).subject).toBe("Your second factor is switched on");
  const remove = async (code: string) =>
    customer.call("/v1/auth/totp", { method: "DELETE", json: { password, code } });
  expect((await remove("wrong")).status).toBe(401);
  expect((await remove(recoveryCodes[0] ?? "")).status).toBe(200);
  const told = await waitForEmail(gateway, customer.email, 3);
  expect(told.subject).toBe("Your second factor is switched off");
  expect(told.html).not.toContain("<a ");
  // A second factor that no log-in required.
  expect((await customer.call("/v1/auth/totp", { json: { password } })).status).toBe(201);
  expect((await remove("000000")).status).toBe(200);
  expect(queuedJobs()).toHaveLength(3);
});

it("a user gets an email about a second factor that the operator removed, and about one whose job was lost", async () => {
  const customer = await register();
  await waitForEmail(gateway, customer.email);
  await noteVerifiedEmail(customer.organizationId);
  faults.next(isBy("ConfirmTotp", "sqs:SendMessage"), loseRequest, 3);
  await enableSecondFactor(customer);
  const user = await findUserByEmail(customer.email);
  expect(user && (await resetSecondFactor(user))).toBe(true);
  await runSchedule(gateway, "ReleaseScheduledJobs");
  gateway.advanceClock(17 * minuteMs);
  await runSchedule(gateway, "ReleaseScheduledJobs");
  await waitForEmail(gateway, customer.email, 3);
  const subjects = emailsTo(gateway, customer.email).map(({ subject }) => subject);
  expect(subjects.toSorted()).toEqual([
    "Verify your email",
    "Your second factor is switched on",
    "Your second factor was removed",
  ]);
});

it("a link is valid for a day", async () => {
  const [early, late] = [await register(), await register()];
  const [first, second] = [await waitForEmail(gateway, early.email), await waitForEmail(gateway, late.email)];
  gateway.advanceClock(23 * hourMs + 50 * minuteMs);
  expect((await verify(tokenIn(first))).status).toBe(200);
  gateway.advanceClock(11 * minuteMs);
  expect(errorOf(await verify(tokenIn(second)))).toEqual({ status: 400, code: "INVALID_EMAIL_TOKEN" });
});

describe("an address", () => {
  /** Runs jobs of emails, one after another, and returns the subjects of all emails to an address. */
  async function subjectsAfter(address: string, ...jobs: readonly Email[]): Promise<string[]> {
    for (const [index, job] of jobs.entries()) {
      await bringAgain(gateway, { ...job, id: `eml_${address}${index}` });
    }
    return emailsTo(gateway, address).map(({ subject }) => subject);
  }

  it("that is not verified gets no notices, whatever happens in the account", async () => {
    const customer = await register();
    await waitForEmail(gateway, customer.email);
    const { user } = await customer.client.getMe();
    await customer.client.createApiKey({ body: { scopes: ["billing"] } });
    const subjects = await subjectsAfter(
      customer.email,
      { kind: "passwordChanged", userId: user.id, wasUnverified: false },
      { kind: "secondFactorChanged", userId: user.id, change: "enabled" },
      { kind: "lowBalance", organizationId: customer.organizationId, balance: 1, lowBalanceThreshold: 2 },
    );
    expect(subjects).toEqual(["Verify your email"]);
    expect(queuedJobs()).toHaveLength(1);
  });

  it("gets at most 50 notices in a day, of all kinds and organizations together, and links nevertheless", async () => {
    const to = `${randomUUID()}@example.com`;
    const notices = (["ownerAdded", "ownerInvited", "ownerRemoved"] as const).flatMap((what) =>
      Array.from({ length: 18 }, (): Email => ({ kind: "ownerNotice", to, notice: { what, email: to } })),
    );
    expect(await subjectsAfter(to, ...notices)).toHaveLength(50);
    const json = { email: to, password };
    expect((await call("/v1/auth/register", { json, baseUrl: gateway.url })).status).toBe(201);
    await waitForSubject(gateway, to, "Verify your email");
    gateway.advanceClock(24 * hourMs);
    const other: Email = { kind: "ownerNotice", to, notice: { what: "recipientsChanged" } };
    await bringAgain(gateway, { ...other, id: "eml_on_the_next_day" });
    expect(emailsTo(gateway, to)).toHaveLength(52);
  });

  it("gets at most five notices of a kind that keys cause, so that a leaked key hides no other notice", async () => {
    const customer = await register();
    await waitForEmail(gateway, customer.email);
    await noteVerifiedEmail(customer.organizationId);
    const { secret } = await customer.client.createApiKey({ body: { scopes: ["webhooks"] } });
    for (let count = 0; count < 7; count += 1) {
      const json = { url: "https://example.com/hook" };
      const made = await call("/v1/webhooks", { credential: secret, json, baseUrl: gateway.url });
      const { id } = dataOf(made, CreatedWebhook);
      await call(`/v1/webhooks/${id}`, { method: "DELETE", credential: secret, baseUrl: gateway.url });
    }
    const newPassword = `${password}!`;
    await customer.call("/v1/auth/password", { json: { currentPassword: password, newPassword } });
    await waitForSubject(gateway, customer.email, "Your password was changed");
    const subjects = emailsTo(gateway, customer.email).map(({ subject }) => subject);
    expect(subjects.filter((subject) => subject.includes("webhook"))).toHaveLength(5);
  });

  it("keeps its newest link when a further one is beyond the limit", async () => {
    const customer = await register();
    await waitForEmail(gateway, customer.email);
    const { user } = await customer.client.getMe();
    const link: Email = { kind: "verification", userId: user.id };
    await subjectsAfter(customer.email, ...Array.from({ length: 12 }, () => link));
    expect((await verify(tokenIn(await waitForEmail(gateway, customer.email)))).status).toBe(200);
  });

  it("gets at most three invitations of one organization in a day, and those of others", async () => {
    const to = `${randomUUID()}@example.com`;
    const invite = async (customer: Customer): Promise<string> => {
      await noteVerifiedEmail(customer.organizationId);
      const options = { json: { email: to, role: "developer" }, headers: { "Idempotency-Key": "invite" } };
      const invited = await customer.call("/v1/members", options);
      expect(invited.status).toBe(201);
      expect((await customer.call("/v1/members", options)).body).toEqual(invited.body);
      const { userId } = (await findInvitationOf(customer.organizationId, to)) ?? {};
      return userId ?? "";
    };
    const userId = await invite(await register());
    await waitForEmail(gateway, to);
    const jobs = Array.from({ length: 5 }, (): Email => ({ kind: "invitation", userId }));
    expect(await subjectsAfter(to, ...jobs)).toHaveLength(3);
    await invite(await register());
    await waitForEmail(gateway, to, 4);
  });

  it("gets at most ten links of a kind in a day, and an email that SES rejects does not count", async () => {
    const customer = await register();
    await waitForEmail(gateway, customer.email);
    const { user } = await customer.client.getMe();
    const link: Email = { kind: "verification", userId: user.id };
    const unavailable = async () => errorResponse("InternalServiceErrorException", "no", 503);
    faults.next(isBy("SendEmail", "ses:SendEmail"), unavailable, 3);
    await bringAgain(gateway, { ...link, id: "eml_that_fails" });
    expect(await subjectsAfter(customer.email, ...Array.from({ length: 12 }, () => link))).toHaveLength(10);
    const reset: Email = { kind: "passwordReset", email: customer.email };
    await bringAgain(gateway, { ...reset, id: "eml_of_another_kind" });
    expect(emailsTo(gateway, customer.email)).toHaveLength(11);
  });
});
