import { randomUUID } from "node:crypto";

import { beforeEach, describe, expect, it, vi } from "vitest";

import { login } from "../../shared/accounts/authentication/login.ts";
import { register } from "../../shared/accounts/authentication/register.ts";
import { acceptInvitation } from "../../shared/accounts/members/accept-invitation.ts";
import { inviteMember } from "../../shared/accounts/members/invite.ts";
import { noteVerifiedEmail } from "../../shared/accounts/organizations/verification.ts";
import { passwordMatches } from "../../shared/accounts/passwords/hash.ts";
import { findPasswordHash } from "../../shared/accounts/passwords/record.ts";
import { resetPassword } from "../../shared/accounts/proofs/reset-password.ts";
import { verifyEmail } from "../../shared/accounts/proofs/verify-email.ts";
import { startSession } from "../../shared/accounts/sessions/session.ts";
import { ApiError } from "../../shared/api/contract/errors.ts";
import { dayMs, minuteMs, secondMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { newEmailToken } from "../../shared/tenancy/users/email-tokens.ts";
import { findUserByEmail } from "../../shared/tenancy/users/record.ts";
import { advance } from "../support/clock.ts";
import { newNetwork } from "../support/networks.ts";

// Hashing takes a tenth of a second and signing a session calls KMS. Neither is under test here.
vi.mock("../../shared/accounts/passwords/hash.ts", async () => import("../support/plain-passwords.ts"));
vi.mock("../../shared/accounts/sessions/session.ts", async () => import("../support/plain-sessions.ts"));
vi.mock(import("../../shared/accounts/passwords/record.ts"), async (original) => {
  const actual = await original();
  return { ...actual, findPasswordHash: vi.fn<typeof actual.findPasswordHash>(actual.findPasswordHash) };
});

const password = "correct horse battery";
const home = "203.0.113.1";
let email: string;

beforeEach(async () => {
  vi.setSystemTime(new Date("2030-06-01T12:14:59Z"));
  email = `${randomUUID()}@example.com`;
  await register({ email, password }, home);
});

/** Lets strangers at several networks each use up their tries at an account. */
async function attack(networks = 3, account = email): Promise<void> {
  for (let count = 0; count < networks; count += 1) await guess(10, newNetwork(), account);
}

/** @returns "in", or the code of the error with its Retry-After, in seconds */
async function logIn(given: string, address: string, account = email): Promise<string> {
  try {
    await login({ email: account, password: given }, address);
    return "in";
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, facts } = error;
    return code === "RATE_LIMITED" ? `${code} ${facts.retryAfterSeconds}` : code;
  }
}

async function guess(times: number, address: string, account = email): Promise<string[]> {
  const results: string[] = [];
  for (let time = 0; time < times; time += 1) results.push(await logIn(`guess ${time}`, address, account));
  return results;
}

const wrong = "INVALID_CREDENTIALS";

it("one network may try ten wrong passwords at an account in any quarter of an hour, also over its edges", async () => {
  const stranger = newNetwork();
  expect(await guess(10, stranger)).toEqual(Array<string>(10).fill(wrong));
  advance(2 * secondMs);
  expect(await guess(1, stranger)).toEqual([`RATE_LIMITED ${15 * 60 - 2}`]);
  const calls = vi.mocked(passwordMatches).mock.calls.length;
  expect(await logIn(password, stranger)).toMatch(/^RATE_LIMITED/);
  expect(vi.mocked(passwordMatches).mock.calls).toHaveLength(calls);
});

it("a session counts from before its password was read, so that a password change meanwhile ends it", async () => {
  const before = new Date();
  const read = vi.mocked(findPasswordHash).getMockImplementation();
  vi.mocked(findPasswordHash).mockImplementationOnce(async (user) => {
    const hash = await read?.(user);
    advance(secondMs);
    return hash;
  });
  expect(await logIn(password, home)).toBe("in");
  expect(vi.mocked(startSession).mock.lastCall?.[2]).toEqual(before);
});

it("addresses of one /64 of IPv6 are one network", async () => {
  const network = newNetwork();
  for (let host = 1; host <= 10; host += 1) {
    expect(await guess(1, network.replace(/1$/, String(host)))).toEqual([wrong]);
  }
  expect(await guess(1, network.replace(/1$/, "ffff:1"))).toEqual([expect.stringMatching(/^RATE_LIMITED/)]);
});

describe("while a stranger guesses, the owner", () => {
  it("gets in from anywhere else with the right password", async () => {
    const stranger = newNetwork();
    await guess(12, stranger);
    expect(await logIn(password, stranger)).toMatch(/^RATE_LIMITED/);
    expect(await logIn(password, home)).toBe("in");
    expect(await logIn(password, newNetwork())).toBe("in");
  });

  it("gets in from known networks, also when many guess from many places", async () => {
    expect(await logIn(password, home)).toBe("in");
    await attack();
    expect(await logIn(password, newNetwork())).toMatch(/^RATE_LIMITED/);
    expect(await logIn(password, home)).toBe("in");
    expect(await guess(10, home)).toEqual(Array<string>(10).fill(wrong));
    expect(await guess(1, home)).toEqual([expect.stringMatching(/^RATE_LIMITED/)]);
  });

  it("gets the advice at a new place to use the newest link in the mailbox", async () => {
    await attack();
    const tried = login({ email, password }, newNetwork());
    await expect(tried).rejects.toThrow("newest link in your mailbox");
  });

  it.each<[purpose: "reset" | "verify", open: (token: string) => Promise<unknown>]>([
    ["verify", async (token) => verifyEmail({ token, password }, home)],
    ["reset", async (token) => resetPassword({ token, password }, home)],
  ])(
    "gets in from where they opened a link to %s, and not from where someone registered",
    async (purpose, open) => {
      await attack();
      expect(await logIn(password, home)).toMatch(/^RATE_LIMITED/);
      advance(2 * minuteMs);
      const user = await findUserByEmail(email);
      await open(await newEmailToken(purpose, user?.id ?? ""));
      await attack();
      expect(await logIn(password, newNetwork())).toMatch(/^RATE_LIMITED/);
      expect(await logIn(password, home)).toBe("in");
    },
  );

  it("gets in from where they accepted an invitation", async () => {
    vi.stubEnv(environmentNames.emailFrom, "gateway@example.com");
    const inviter = await findUserByEmail(email);
    if (inviter === undefined) throw new Error("there is no inviter");
    const { id: userId, organizationId } = inviter;
    await noteVerifiedEmail(organizationId);
    const credential = { type: "session", sessionId: "ses_1" } as const;
    const invited = `${randomUUID()}@example.com`;
    const { id } = await inviteMember(
      { organizationId, userId, credential, scopes: [] },
      { email: invited, role: "viewer" },
    );
    await acceptInvitation({ token: await newEmailToken("invitation", id), password }, home);
    await attack(3, invited);
    expect(await logIn(password, newNetwork(), invited)).toMatch(/^RATE_LIMITED/);
    expect(await logIn(password, home, invited)).toBe("in");
  });

  it("waits for at most two minutes at a new place when many guess from many places", async () => {
    await attack();
    const rejected = await logIn(password, newNetwork());
    expect(Number(rejected.replace("RATE_LIMITED ", ""))).toBeLessThanOrEqual(120);
    advance(2 * minuteMs);
    expect(await logIn(password, newNetwork())).toBe("in");
  });
});

it("one network may try a hundred wrong passwords at all accounts, and known people there still get in", async () => {
  const office = newNetwork();
  expect(await logIn(password, office)).toBe("in");
  const accounts = Array.from({ length: 11 }, () => `${randomUUID()}@example.com`);
  const results: string[] = [];
  for (const account of accounts) results.push(...(await guess(10, office, account)));
  expect(results.filter((result) => result === wrong)).toHaveLength(100);
  const colleague = `${randomUUID()}@example.com`;
  await register({ email: colleague, password }, office);
  expect(await logIn(password, office, colleague)).toMatch(/^RATE_LIMITED/);
  expect(await logIn(password, office)).toBe("in");
});

it("a network expires after three months without a log-in", async () => {
  expect(await logIn(password, home)).toBe("in");
  advance(89 * dayMs);
  await attack(2);
  expect(await logIn(password, home)).toBe("in");
  advance(91 * dayMs);
  await attack(2);
  expect(await logIn(password, home)).toMatch(/^RATE_LIMITED/);
});

describe("registration", () => {
  const registerFrom = async (address: string, account = `${randomUUID()}@example.com`): Promise<string> =>
    register({ email: account, password }, address).then(
      () => "in",
      (error: unknown) => (error instanceof ApiError ? error.code : Promise.reject(error)),
    );

  it("is limited by network where the stage sets that, for all attempts, before any work is done", async () => {
    vi.stubEnv(environmentNames.registrationsPerAddress, "3");
    const network = newNetwork();
    expect(await registerFrom(network)).toBe("in");
    expect(await registerFrom(network, email)).toBe("EMAIL_TAKEN");
    expect(await registerFrom(network.replace(/1$/, "2"))).toBe("in");
    const { hashPassword } = await import("../../shared/accounts/passwords/hash.ts");
    const calls = vi.mocked(hashPassword).mock.calls.length;
    expect(await registerFrom(network)).toBe("RATE_LIMITED");
    expect(vi.mocked(hashPassword).mock.calls).toHaveLength(calls);
    expect(await registerFrom(newNetwork())).toBe("in");
    advance(60 * minuteMs);
    expect(await registerFrom(network)).toBe("in");
  });

  it("accepts a password that is easy to guess, unless the stage is strict", async () => {
    const weak = async (): Promise<unknown> =>
      register({ email: `${randomUUID()}@example.com`, password: "password1" }, newNetwork());
    await expect(weak()).resolves.toBeDefined();
    vi.stubEnv(environmentNames.policies.passwords, "uncommon");
    await expect(weak()).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      details: [{ path: "password" }],
    });
    expect(await registerFrom(newNetwork())).toBe("in");
  });
});
