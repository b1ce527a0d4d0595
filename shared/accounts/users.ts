import * as z from "zod";

import type { Account, LoginRequest, RegisterRequest, Session, User } from "../contract/accounts.ts";
import { ApiError } from "../contract/errors.ts";
import type { Actor } from "../platform/auth/authenticate.ts";
import { issueSessionToken } from "../platform/auth/session-token.ts";
import { minuteMs, now } from "../platform/clock.ts";
import { countTry, forgetTry, type Limit } from "../platform/http/rate-limit.ts";
import { newId } from "../platform/ids.ts";
import { keys } from "../platform/table/keys.ts";
import { readItem, transact } from "../platform/table/table.ts";
import { newWallet } from "../wallet/record.ts";
import { presentOrganization, findOrganization, type OrganizationRecord } from "./organization-record.ts";
import { hashPassword, passwordMatches } from "./passwords.ts";

const UserRecord = z.object({
  entity: z.literal("user"),
  id: z.string(),
  organizationId: z.string(),
  email: z.string(),
  passwordHash: z.string(),
  firstName: z.string().optional(),
  lastName: z.string().optional(),
  createdAt: z.string(),
});
type UserRecord = z.infer<typeof UserRecord>;

const EmailRecord = z.object({ entity: z.literal("email"), userId: z.string() });
type EmailRecord = z.infer<typeof EmailRecord>;

/** Wrong passwords that one account, or one address, may try in a quarter of an hour. */
const failuresPerAccount: Limit = { what: "login-account", max: 10, windowMs: 15 * minuteMs };
const failuresPerAddress: Limit = { what: "login-address", max: 100, windowMs: 15 * minuteMs };

/**
 * Creates a user with an organisation and an empty wallet, all or nothing, and logs the user in.
 * @throws ApiError EMAIL_TAKEN, VALIDATION_ERROR for a password that bcrypt cannot take whole
 */
export async function register(request: RegisterRequest): Promise<Session> {
  const createdAt = now();
  const user: UserRecord = {
    entity: "user",
    id: newId("usr"),
    organizationId: newId("org"),
    email: request.email,
    passwordHash: await hashPassword(request.password),
    firstName: request.firstName,
    lastName: request.lastName,
    createdAt: createdAt.toISOString(),
  };
  const organization: OrganizationRecord = {
    entity: "organization",
    id: user.organizationId,
    name: request.organizationName ?? request.email,
    createdAt: createdAt.toISOString(),
    ownerId: user.id,
    apiKeyCount: 0,
    campaignCount: 0,
    contactCount: 0,
    senderIdCount: 0,
    templateCount: 0,
    webhookCount: 0,
  };
  const email: EmailRecord = { entity: "email", userId: user.id };
  const condition = "attribute_not_exists(pk)";
  const created = await transact([
    { put: { ...keys.email(user.email), ...email }, condition },
    { put: { ...keys.user(user.id), ...user }, condition },
    { put: { ...keys.organization(organization.id), ...organization }, condition },
    ...newWallet(organization.id, createdAt),
  ]);
  if (!created.committed) throw new ApiError("EMAIL_TAKEN");
  return startSession(user, organization);
}

/**
 * Exchanges email and password for a session. An unknown email does the same work and gets the same answer as
 * a wrong password.
 * @throws ApiError INVALID_CREDENTIALS, RATE_LIMITED after too many wrong passwords
 */
export async function login(request: LoginRequest, sourceIp: string): Promise<Session> {
  // The try is counted before the password is looked at: parallel guesses cannot slip past the limit.
  await Promise.all([countTry(failuresPerAccount, request.email), countTry(failuresPerAddress, sourceIp)]);
  const user = await findUserByEmail(request.email);
  if (!(await passwordMatches(request.password, user?.passwordHash)) || user === undefined) {
    throw new ApiError("INVALID_CREDENTIALS");
  }
  const [organization] = await Promise.all([
    findOrganization(user.organizationId),
    forgetTry(failuresPerAccount, request.email),
    forgetTry(failuresPerAddress, sourceIp),
  ]);
  if (organization === undefined) throw new ApiError("INVALID_CREDENTIALS");
  return startSession(user, organization);
}

/**
 * The user and organisation behind a credential.
 * @throws ApiError UNAUTHORIZED when they no longer exist
 */
export async function getAccount(actor: Actor): Promise<Account> {
  const [user, organization] = await Promise.all([
    findUser(actor.userId),
    findOrganization(actor.organizationId),
  ]);
  if (user === undefined || organization === undefined) throw new ApiError("UNAUTHORIZED");
  return { user, organization: presentOrganization(organization) };
}

/** A user as customers see them. */
export async function findUser(userId: string): Promise<User | undefined> {
  const user = await readItem(UserRecord, keys.user(userId));
  return user === undefined ? undefined : presentUser(user);
}

/** The organisation of the user who owns an email. */
export async function findOrganizationIdOfEmail(email: string): Promise<string | undefined> {
  return (await findUserByEmail(email.toLowerCase()))?.organizationId;
}

async function findUserByEmail(email: string): Promise<UserRecord | undefined> {
  const owner = await readItem(EmailRecord, keys.email(email), { consistent: true });
  // An unknown email costs a read too, or the time would tell it apart.
  return readItem(UserRecord, keys.user(owner?.userId ?? "nobody"), { consistent: true });
}

async function startSession(user: UserRecord, organization: OrganizationRecord): Promise<Session> {
  const { token, expiresAt } = await issueSessionToken({
    userId: user.id,
    organizationId: organization.id,
  });
  return {
    token,
    tokenType: "Bearer",
    expiresAt: expiresAt.toISOString(),
    user: presentUser(user),
    organization: presentOrganization(organization),
  };
}

function presentUser({ id, email, firstName, lastName, createdAt }: UserRecord): User {
  return { id, email, firstName, lastName, createdAt };
}
