import { randomUUID } from "node:crypto";

import { describe, expect, it, vi } from "vitest";

import { noteVerifiedEmail } from "../../shared/accounts/organizations/verification.ts";
import { rememberNetwork } from "../../shared/accounts/passwords/known-networks.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { networkOf } from "../../shared/platform/source-network.ts";
import { accountCallsTo } from "../support/account-calls.ts";
import { type Customer, errorOf, invalidFields, password } from "../support/api.ts";
import { bringAgain, emailsTo, tokenIn, waitForEmail, waitForSubject } from "../support/emails.ts";
import { isBy } from "../support/faults.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";
import { actionsOf, newPassword, passwordResetsOn } from "../support/password-resets.ts";
import { patience } from "../support/patience.ts";

const { gateway, faults } = await gatewayOfFile();
const { post, statusWith, logIn, sessionOf, createKey, registerUnverified, register } =
  accountCallsTo(gateway);
const { requestReset, reset, resetTokenFor } = passwordResetsOn(gateway);

const invalidToken = { status: 400, code: "INVALID_EMAIL_TOKEN" };

describe("a reset of the password", () => {
  it("allows log-ins with the new password, ends all sessions, and notifies the user", async () => {
    const customer = await register();
    const other = await sessionOf(customer.email);
    const answer = await reset(await resetTokenFor(customer));
    expect(answer.body).toEqual({ data: { changed: true } });
    for (const token of [customer.token, other]) expect(await statusWith(token)).toBe(401);
    expect(errorOf(await logIn(customer.email)).code).toBe("INVALID_CREDENTIALS");
    const session = await sessionOf(customer.email, newPassword);
    expect(await actionsOf(customer, session)).toContain("POST /v1/auth/password-reset");
    const told = await waitForEmail(gateway, customer.email, 3);
    expect(told.subject).toBe("Your password was changed");
    expect(told.html).not.toContain("<a ");
  });

  it("happens once, however often its link is used at the same time", async () => {
    const customer = await register();
    const token = await resetTokenFor(customer);
    const passwords = ["first", "second", "third"].map((each) => `${each} ${newPassword}`);
    const answers = await Promise.all(passwords.map(async (each) => reset(token, { password: each })));
    const won = passwords.filter((_, index) => answers[index]?.status === 200);
    expect(won).toHaveLength(1);
    for (const each of answers.filter(({ status }) => status !== 200))
      expect(errorOf(each)).toEqual(invalidToken);
    expect((await logIn(customer.email, won[0] ?? "")).status).toBe(200);
  });

  it("rejects an older link, a link for another purpose and an expired one", async () => {
    const customer = await register();
    const verification = tokenIn(await waitForEmail(gateway, customer.email));
    const older = await resetTokenFor(customer);
    const newer = await resetTokenFor(customer);
    for (const token of [older, verification]) expect(errorOf(await reset(token))).toEqual(invalidToken);
    expect(errorOf(await post("/v1/auth/verify-email", { token: newer, password }))).toEqual(invalidToken);
    gateway.advanceClock(31 * minuteMs);
    expect(errorOf(await reset(newer))).toEqual(invalidToken);
    expect((await logIn(customer.email)).status).toBe(200);
  });

  it("rejects a password that is too short or too long, and its link stays valid", async () => {
    const token = await resetTokenFor(await register());
    expect(invalidFields(await reset(token, { password: "short" }))).toEqual(["password"]);
    expect(invalidFields(await reset(token, { password: "ü".repeat(40) }))).toEqual(["password"]);
    expect((await reset(token)).status).toBe(200);
  });

  it("returns the same response for an unknown email, and sends no email to it", async () => {
    const customer = await register();
    const unknown = `${randomUUID()}@example.com`;
    faults.clear();
    const ofUnknown = await requestReset(unknown);
    const asksOfUnknown = faults.seen.filter(isBy("RequestPasswordReset")).map(({ operation }) => operation);
    faults.clear();
    const ofKnown = await requestReset(customer.email.toUpperCase());
    const asksOfKnown = faults.seen.filter(isBy("RequestPasswordReset")).map(({ operation }) => operation);
    expect([ofUnknown.status, ofUnknown.body]).toEqual([ofKnown.status, ofKnown.body]);
    expect(ofKnown.status).toBe(202);
    // Neither request reads whether there is an account.
    expect(asksOfUnknown).toEqual(asksOfKnown);
    const [count, read] = ["dynamodb:UpdateItem", "dynamodb:GetItem"];
    expect(asksOfKnown).toEqual([count, read, count, "sqs:SendMessage"]);
    // The known email's job was queued after the other one.
    await waitForEmail(gateway, customer.email, 2);
    await vi.waitFor(() => {
      const noted = faults.seen.filter(
        ({ body }) => body.includes("SENT_EMAIL#") && body.includes("sentAt = :sentAt"),
      );
      expect(noted.length).toBeGreaterThan(0);
    }, patience);
    expect(emailsTo(gateway, unknown)).toEqual([]);
  });

  it("sends five links for an email while one of them is valid, whether or not it has an account", async () => {
    // The tests before used up requests of this address in the last hour.
    gateway.advanceClock(61 * minuteMs);
    const customer = await register();
    for (const email of [customer.email, `${randomUUID()}@example.com`]) {
      faults.clear();
      for (let count = 0; count < 7; count += 1) expect((await requestReset(email)).status).toBe(202);
      const queued = faults.seen.filter(isBy("RequestPasswordReset", "sqs:SendMessage"));
      expect(queued).toHaveLength(5);
    }
    const others = Array.from({ length: 12 }, async () => requestReset(`${randomUUID()}@example.com`));
    const limited = (await Promise.all(others)).filter(({ status }) => status === 429);
    expect(limited.length).toBeGreaterThan(0);
    for (const { text } of limited) expect(text).toContain("Use the newest link in your mailbox");
    gateway.advanceClock(61 * minuteMs);
    expect((await requestReset(customer.email)).status).toBe(202);
  });

  it("can be requested from a network in which the owner logged in, whatever strangers request", async () => {
    gateway.advanceClock(61 * minuteMs);
    const customer = await register();
    for (let count = 0; count < 5; count += 1) expect((await requestReset(customer.email)).status).toBe(202);
    // Each is beyond the limit of the address in a day.
    for (let count = 0; count < 10; count += 1) {
      await bringAgain(gateway, {
        kind: "passwordReset",
        email: customer.email,
        id: `eml_of_strangers${count}`,
      });
    }
    await rememberNetwork(customer.email, networkOf("127.0.0.1"));
    const before = emailsTo(gateway, customer.email).length;
    expect((await requestReset(customer.email)).status).toBe(202);
    await waitForEmail(gateway, customer.email, before + 1);
  });

  it("ends the keys of a stranger who registered with the email, and those made with them", async () => {
    const customer = await registerUnverified();
    const { secret } = await customer.createApiKey();
    const child = await createKey(secret);
    expect(await statusWith(child.secret)).toBe(200);
    expect((await reset(await resetTokenFor(customer))).status).toBe(200);
    for (const each of [secret, child.secret]) expect(await statusWith(each)).toBe(403);
    const told = await waitForSubject(gateway, customer.email, "Your password was changed");
    expect(told.text).toContain("an empty organization now. The earlier one is suspended.");
    // From now on the email is verified.
    const session = await sessionOf(customer.email, newPassword);
    const asked = await customer.call("/v1/auth/verify-email/request", {
      method: "POST",
      credential: session,
    });
    expect(errorOf(asked)).toEqual({ status: 409, code: "CONFLICT" });
    const own = await createKey(session);
    expect((await reset(await resetTokenFor(customer))).status).toBe(200);
    expect(await statusWith(own.secret)).toBe(200);
  });

  it.each([
    [
      "the link was opened",
      async ({ email }: Customer) => {
        const token = tokenIn(await waitForEmail(gateway, email));
        expect((await post("/v1/auth/verify-email", { token, password })).status).toBe(200);
      },
    ],
    [
      "the operator verified the email",
      async ({ organizationId }: Customer) => noteVerifiedEmail(organizationId),
    ],
  ])("leaves keys alone where %s before", async (_, verify) => {
    const customer = await registerUnverified();
    await verify(customer);
    const { secret } = await createKey(await sessionOf(customer.email));
    expect((await reset(await resetTokenFor(customer))).status).toBe(200);
    expect(await statusWith(secret)).toBe(200);
  });
});
