import { randomUUID } from "node:crypto";

import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";

import type { LocalGateway } from "../../infra/local/gateway.ts";
import type { AwsRequest } from "../../infra/local/local-aws.ts";
import { noteVerifiedEmail } from "../../shared/accounts/organizations/verification.ts";
import { rememberNetwork } from "../../shared/accounts/passwords/known-networks.ts";
import { Session } from "../../shared/api/contract/accounts.ts";
import { CreatedApiKey } from "../../shared/api/contract/api-keys.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { networkOf } from "../../shared/platform/source-network.ts";
import {
  call,
  Customer,
  dataOf,
  errorOf,
  invalidFields,
  password,
  type ApiResponse,
} from "../support/api.ts";
import { bringAgain, emailsTo, tokenIn, waitForEmail, waitForSubject } from "../support/emails.ts";
import { Faults, isBy } from "../support/faults.ts";
import { startOwnGateway } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

const faults = new Faults();
let gateway: LocalGateway;

beforeAll(async () => {
  gateway = await startOwnGateway(faults);
});
afterAll(async () => gateway.stop());
afterEach(() => faults.clear());

const newPassword = "staple battery horse";
const invalidToken = { status: 400, code: "INVALID_EMAIL_TOKEN" };
const unauthorized = { status: 401, code: "UNAUTHORIZED" };

async function post(path: string, json: object): Promise<ApiResponse> {
  return call(path, { json, baseUrl: gateway.url });
}

async function logIn(email: string, given: string): Promise<ApiResponse> {
  return post("/v1/auth/login", { email, password: given });
}

async function sessionOf(email: string, given = password): Promise<string> {
  return dataOf(await logIn(email, given), Session).token;
}

async function askForReset(email: string): Promise<ApiResponse> {
  return post("/v1/auth/password-reset/request", { email });
}

async function reset(token: string, fields: object = {}): Promise<ApiResponse> {
  return post("/v1/auth/password-reset", { token, password: newPassword, ...fields });
}

async function statusWith(credential: string): Promise<number> {
  return (await call("/v1/wallet", { credential, baseUrl: gateway.url })).status;
}

/** A new customer, after the first email has arrived. */
async function registerUnverified(): Promise<Customer> {
  const customer = await Customer.register({ baseUrl: gateway.url });
  await waitForEmail(gateway, customer.email);
  return customer;
}

/** A customer whose organization stays when they reset their password. */
async function register(): Promise<Customer> {
  const customer = await registerUnverified();
  await noteVerifiedEmail(customer.organizationId);
  return customer;
}

/** Requests a link, and returns its token. */
async function resetTokenFor({ email }: Customer): Promise<string> {
  const subject = "Set a new password";
  const before = emailsTo(gateway, email).filter((each) => each.subject === subject).length;
  expect((await askForReset(email)).status).toBe(202);
  const received = await waitForSubject(gateway, email, subject, before + 1);
  expect(received.text).toContain(`${gateway.url}/account#reset=usr_`);
  return tokenIn(received);
}

async function actionsOf(customer: Customer, credential: string): Promise<string[]> {
  const answer = await customer.call("/v1/audit-log", { credential });
  return [...answer.text.matchAll(/"action":"([^"]+)"/g)].map(([, action = ""]) => action);
}

describe("a reset of the password", () => {
  it("allows log-ins with the new password, ends all sessions, and notifies the user", async () => {
    const customer = await register();
    const other = await sessionOf(customer.email);
    const answer = await reset(await resetTokenFor(customer));
    expect(answer.body).toEqual({ data: { changed: true } });
    for (const token of [customer.token, other]) expect(await statusWith(token)).toBe(401);
    expect(errorOf(await logIn(customer.email, password)).code).toBe("INVALID_CREDENTIALS");
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
    expect((await logIn(customer.email, password)).status).toBe(200);
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
    const ofUnknown = await askForReset(unknown);
    const asksOfUnknown = faults.seen.filter(isBy("RequestPasswordReset")).map(({ operation }) => operation);
    faults.clear();
    const ofKnown = await askForReset(customer.email.toUpperCase());
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

  it("can be requested five times an hour for each email, whether or not it has an account", async () => {
    // The tests before used up requests of this address in the last hour.
    gateway.advanceClock(61 * minuteMs);
    const customer = await register();
    for (const email of [customer.email, `${randomUUID()}@example.com`]) {
      for (let count = 0; count < 5; count += 1) expect((await askForReset(email)).status).toBe(202);
      expect(errorOf(await askForReset(email))).toEqual({ status: 429, code: "RATE_LIMITED" });
    }
    const others = Array.from({ length: 12 }, async () => askForReset(`${randomUUID()}@example.com`));
    expect((await Promise.all(others)).filter(({ status }) => status === 429).length).toBeGreaterThan(0);
    gateway.advanceClock(61 * minuteMs);
    expect((await askForReset(customer.email)).status).toBe(202);
  });

  it("can be requested from a network in which the owner logged in, whatever strangers request", async () => {
    gateway.advanceClock(61 * minuteMs);
    const customer = await register();
    for (let count = 0; count < 5; count += 1) expect((await askForReset(customer.email)).status).toBe(202);
    expect((await askForReset(customer.email)).status).toBe(429);
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
    expect((await askForReset(customer.email)).status).toBe(202);
    await waitForEmail(gateway, customer.email, before + 1);
  });

  it("ends the keys of a stranger who registered with the email, and those made with them", async () => {
    const customer = await registerUnverified();
    const { secret } = await customer.createApiKey();
    const child = await customer.call("/v1/auth/api-keys", { credential: secret, method: "POST" });
    const [, secretOfChild = ""] = /"secret":"([^"]+)"/.exec(child.text) ?? [];
    expect(await statusWith(secretOfChild)).toBe(200);
    expect((await reset(await resetTokenFor(customer))).status).toBe(200);
    for (const each of [secret, secretOfChild]) expect(await statusWith(each)).toBe(403);
    const told = await waitForSubject(gateway, customer.email, "Your password was changed");
    expect(told.text).toContain("an empty organization now. The earlier one is suspended.");
    // From now on the email is verified.
    const session = await sessionOf(customer.email, newPassword);
    const asked = await customer.call("/v1/auth/verify-email/request", {
      method: "POST",
      credential: session,
    });
    expect(errorOf(asked)).toEqual({ status: 409, code: "CONFLICT" });
    const own = await customer.call("/v1/auth/api-keys", { credential: session, method: "POST" });
    const [, ownSecret = ""] = /"secret":"([^"]+)"/.exec(own.text) ?? [];
    expect((await reset(await resetTokenFor(customer))).status).toBe(200);
    expect(await statusWith(ownSecret)).toBe(200);
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
    const credential = await sessionOf(customer.email);
    const made = await customer.call("/v1/auth/api-keys", { credential, method: "POST" });
    const { secret } = dataOf(made, CreatedApiKey);
    expect((await reset(await resetTokenFor(customer))).status).toBe(200);
    expect(await statusWith(secret)).toBe(200);
  });
});

describe("a log-in in progress", () => {
  const readsPassword = ({ functionName, operation, body }: AwsRequest): boolean =>
    functionName.includes("Login") && operation === "dynamodb:GetItem" && body.includes("CREDENTIALS#");

  it.each<[name: string, replace: (customer: Customer) => Promise<ApiResponse>]>([
    ["a reset", async (customer) => reset(await resetTokenFor(customer))],
    [
      "a change",
      async (customer) =>
        customer.call("/v1/auth/password", { json: { currentPassword: password, newPassword } }),
    ],
  ])("with the old password is ended by %s that comes after it has read the hash", async (_, replace) => {
    // On a busy machine the read times out, and its repetition finds the new hash.
    const attempt = async (): Promise<ApiResponse> => {
      const customer = await register();
      faults.next(readsPassword, async (request, next) => {
        const hash = await next(request);
        expect((await replace(customer)).status).toBe(200);
        return hash;
      });
      return logIn(customer.email, password);
    };
    let response = await attempt();
    for (let tries = 1; tries < 5 && response.status !== 200; tries += 1) response = await attempt();
    expect(response.status).toBe(200);
    expect(await statusWith(dataOf(response, Session).token)).toBe(401);
  });

  it("with the old password is ended by a reset that began before it and was written after it", async () => {
    const customer = await register();
    const token = await resetTokenFor(customer);
    let session = "";
    faults.next(isBy("ResetPassword", "dynamodb:TransactWriteItems"), async (request, next) => {
      session = await sessionOf(customer.email);
      return next(request);
    });
    expect((await reset(token)).status).toBe(200);
    expect(await statusWith(session)).toBe(401);
    expect(await statusWith(await sessionOf(customer.email, newPassword))).toBe(200);
  });
});

describe("a change of the password", () => {
  async function change(
    customer: Customer,
    fields: object = {},
    credential = customer.token,
  ): Promise<ApiResponse> {
    const json = { currentPassword: password, newPassword, ...fields };
    return customer.call("/v1/auth/password", { json, credential });
  }

  it("allows log-ins with the new password, ends all other sessions, and notifies the user", async () => {
    const customer = await register();
    await noteVerifiedEmail(customer.organizationId);
    const other = await sessionOf(customer.email);
    const { secret } = await customer.createApiKey();
    expect((await change(customer)).body).toEqual({ data: { changed: true } });
    expect(await statusWith(customer.token)).toBe(200);
    expect(await statusWith(other)).toBe(401);
    expect(await statusWith(secret)).toBe(200);
    expect(errorOf(await logIn(customer.email, password)).code).toBe("INVALID_CREDENTIALS");
    const later = await sessionOf(customer.email, newPassword);
    expect(await statusWith(later)).toBe(200);
    expect(await actionsOf(customer, later)).toContain("POST /v1/auth/password");
    await waitForSubject(gateway, customer.email, "Your password was changed");
  });

  it("leaves a session that ends like any other: by a log-out, a log-out everywhere, or the next change", async () => {
    const byItself = await register();
    expect((await change(byItself)).status).toBe(200);
    await byItself.client.logout();
    expect(await statusWith(byItself.token)).toBe(401);

    const withAll = await register();
    expect((await change(withAll)).status).toBe(200);
    const second = await sessionOf(withAll.email, newPassword);
    expect(
      (await withAll.call("/v1/auth/logout-everywhere", { method: "POST", credential: second })).status,
    ).toBe(200);
    for (const token of [withAll.token, second]) expect(await statusWith(token)).toBe(401);

    const byNext = await register();
    expect((await change(byNext)).status).toBe(200);
    const third = await sessionOf(byNext.email, newPassword);
    const back = { currentPassword: newPassword, newPassword: password };
    expect((await change(byNext, back, third)).status).toBe(200);
    expect(errorOf(await byNext.call("/v1/wallet"))).toEqual(unauthorized);
    expect(await statusWith(third)).toBe(200);
  });

  it("requires the present password, and counts wrong ones together with those of log-ins", async () => {
    const customer = await register();
    const wrong = { status: 401, code: "INVALID_CREDENTIALS" };
    for (let guess = 0; guess < 5; guess += 1) {
      expect(errorOf(await change(customer, { currentPassword: `guess ${guess}` }))).toEqual(wrong);
      expect(errorOf(await logIn(customer.email, `other guess ${guess}`))).toEqual(wrong);
    }
    expect(errorOf(await change(customer))).toEqual({ status: 429, code: "RATE_LIMITED" });
    gateway.advanceClock(16 * minuteMs);
    expect((await change(customer)).status).toBe(200);
  });

  it("reports an invalid new password, and requires a different one", async () => {
    const customer = await register();
    for (const each of ["short", "ü".repeat(40), password]) {
      expect(invalidFields(await change(customer, { newPassword: each })), each).toEqual(["newPassword"]);
    }
    expect((await change(customer)).status).toBe(200);
  });

  it("does not override a reset that came in between", async () => {
    const customer = await register();
    const token = await resetTokenFor(customer);
    const stolen = "what the thief wants";
    const isChange = ({ functionName, operation }: { functionName: string; operation: string }): boolean =>
      functionName.includes("ChangePassword") && operation === "dynamodb:TransactWriteItems";
    faults.next(isChange, async (request, next) => {
      expect((await reset(token)).status).toBe(200);
      return next(request);
    });
    expect(errorOf(await change(customer, { newPassword: stolen })).code).toBe("INVALID_CREDENTIALS");
    expect(errorOf(await logIn(customer.email, stolen)).code).toBe("INVALID_CREDENTIALS");
    expect((await logIn(customer.email, newPassword)).status).toBe(200);
  });

  it("is not available to API keys", async () => {
    const customer = await register();
    const { secret } = await customer.createApiKey();
    expect(errorOf(await change(customer, {}, secret))).toEqual({ status: 403, code: "INSUFFICIENT_SCOPE" });
  });
});
