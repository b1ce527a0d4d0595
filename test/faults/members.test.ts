import { randomUUID } from "node:crypto";

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod/mini";

import type { LocalGateway } from "../../infra/local/gateway.ts";
import { errorResponse, type AwsRequest } from "../../infra/local/local-aws.ts";
import { createApiKey } from "../../shared/accounts/api-keys/create-and-rotate.ts";
import { inviteMember } from "../../shared/accounts/members/invite.ts";
import { noteVerifiedEmail } from "../../shared/accounts/organizations/verification.ts";
import { Account, Session } from "../../shared/api/contract/accounts.ts";
import { CreateApiKeyRequest, CreatedApiKey } from "../../shared/api/contract/api-keys.ts";
import { AcceptedInvitation, Member, RemovedMember } from "../../shared/api/contract/members.ts";
import { allScopes, type Role, type Scope } from "../../shared/api/contract/scopes.ts";
import { CreatedWebhook } from "../../shared/api/contract/webhooks.ts";
import type { Actor } from "../../shared/platform/auth/actor.ts";
import { dayMs } from "../../shared/platform/clock.ts";
import type { Changes } from "../../shared/platform/table/expressions.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { maxFurtherMembers } from "../../shared/tenancy/organizations/member-record.ts";
import { findOrganization, type OrganizationRecord } from "../../shared/tenancy/organizations/record.ts";
import { readRights, type Rights } from "../../shared/tenancy/organizations/rights-record.ts";
import { findUser } from "../../shared/tenancy/users/record.ts";
import {
  call,
  Customer,
  dataOf,
  errorOf,
  pageOf,
  password,
  statusesOf,
  type ApiResponse,
} from "../support/api.ts";
import { tokenIn, waitForEmail } from "../support/emails.ts";
import { Faults, isBy } from "../support/faults.ts";
import { startOwnGateway } from "../support/own-gateway.ts";

const faults = new Faults();
let gateway: LocalGateway;
let owner: Customer;
let ownerId: string;

beforeAll(async () => {
  gateway = await startOwnGateway(faults);
  process.env["TABLE_NAME"] = gateway.stack.table.name;
});
afterAll(async () => gateway.stop());
afterEach(() => faults.clear());
beforeEach(async () => {
  owner = await Customer.register({ baseUrl: gateway.url });
  ({ id: ownerId } = (await owner.client.getMe()).user);
  await noteVerifiedEmail(owner.organizationId);
});

const unauthorized = { status: 401, code: "UNAUTHORIZED" };
const insufficientScope = { status: 403, code: "INSUFFICIENT_SCOPE" };
const notFound = { status: 404, code: "NOT_FOUND" };
const conflict = { status: 409, code: "CONFLICT" };
const lastOwner = { status: 409, code: "LAST_OWNER" };
const badToken = { status: 400, code: "INVALID_EMAIL_TOKEN" };

interface Person {
  readonly id: string;
  readonly email: string;
  readonly token: string;
}

function newEmail(): string {
  return `${randomUUID()}@example.com`;
}

async function as(credential: string, method: string, path: string, json?: unknown): Promise<ApiResponse> {
  return call(path, { method, credential, baseUrl: gateway.url, ...(json === undefined ? {} : { json }) });
}

async function invite(email: string, role: Role, credential = owner.token): Promise<ApiResponse> {
  return as(credential, "POST", "/v1/members", { email, role });
}

async function accept(token: string): Promise<ApiResponse> {
  const json = { token, password, firstName: "Grace" };
  return call("/v1/auth/accept-invitation", { json, baseUrl: gateway.url });
}

async function logIn(email: string): Promise<ApiResponse> {
  return call("/v1/auth/login", { json: { email, password }, baseUrl: gateway.url });
}

async function setRole(credential: string, id: string, role: Role): Promise<ApiResponse> {
  return as(credential, "PATCH", `/v1/members/${id}`, { role });
}

async function remove(credential: string, id: string): Promise<ApiResponse> {
  return as(credential, "DELETE", `/v1/members/${id}`);
}

/** The token of the link in an invitation email. */
async function invitedToken(email: string, role: Role, count = 1): Promise<string> {
  expect((await invite(email, role)).status).toBe(201);
  return tokenIn(await waitForEmail(gateway, email, count));
}

/** A person who was invited, has accepted and is logged in. */
async function join(role: Role): Promise<Person> {
  const email = newEmail();
  expect((await accept(await invitedToken(email, role))).status).toBe(201);
  const { token, user } = dataOf(await logIn(email), Session);
  return { id: user.id, email, token };
}

async function members(credential = owner.token): Promise<Member[]> {
  return pageOf(await as(credential, "GET", "/v1/members?limit=100"), Member).rows;
}

async function organization(): Promise<OrganizationRecord> {
  const found = await findOrganization(owner.organizationId, { consistent: true });
  if (found === undefined) throw new Error("the organization is gone");
  return found;
}

async function rights(): Promise<Rights> {
  return readRights(owner.organizationId, { consistent: true });
}

async function change(changes: Changes<"organization">): Promise<void> {
  const changed = await updateItem(z.unknown(), updateOf(keys.organization(owner.organizationId), changes));
  expect(changed.applied).toBe(true);
}

describe("an invitation", () => {
  it("comes by email, makes the person who accepts it a member in its role, and verifies their email", async () => {
    const email = newEmail();
    const invited = dataOf(await invite(email.toUpperCase(), "developer"), Member);
    expect(invited).toMatchObject({ email, role: "developer", status: "invited", invitedBy: ownerId });
    expect((await members()).map(({ id, status }) => [id, status])).toEqual([
      [ownerId, "active"],
      [invited.id, "invited"],
    ]);
    const sent = await waitForEmail(gateway, email);
    expect(sent.text).toContain(`${owner.email} has invited you`);
    const accepted = dataOf(await accept(tokenIn(sent)), AcceptedInvitation);
    expect(accepted).toMatchObject({
      user: { id: invited.id, email, firstName: "Grace" },
      organization: { id: owner.organizationId },
    });
    const { token } = dataOf(await logIn(email), Session);
    expect(dataOf(await as(token, "GET", "/v1/auth/me"), Account).organization.id).toBe(owner.organizationId);
    expect((await findUser(invited.id))?.emailVerifiedAt).toBeDefined();
    expect(await members(token)).toMatchObject([
      { id: ownerId, role: "owner", status: "active" },
      { id: invited.id, role: "developer", status: "active", firstName: "Grace", email },
    ]);
    const log = await owner.call("/v1/audit-log?limit=100");
    for (const action of ["POST /v1/members", "POST /v1/auth/accept-invitation"]) {
      expect(log.text).toContain(`"${action}"`);
    }
    expect(log.text).not.toContain(email);
  });

  it("is rejected from a member whose own email is not verified", async () => {
    const unverified = await Customer.register({ baseUrl: gateway.url });
    const email = newEmail();
    const rejected = await invite(email, "viewer", unverified.token);
    expect(errorOf(rejected)).toEqual({ status: 403, code: "EMAIL_NOT_VERIFIED" });
    await noteVerifiedEmail(unverified.organizationId);
    expect((await invite(email, "viewer", unverified.token)).status).toBe(201);
  });

  it("becomes invalid when the member who made it is removed", async () => {
    const admin = await join("admin");
    const email = newEmail();
    expect((await invite(email, "admin", admin.token)).status).toBe(201);
    const token = tokenIn(await waitForEmail(gateway, email));
    expect((await remove(owner.token, admin.id)).status).toBe(200);
    expect(errorOf(await accept(token))).toEqual(badToken);
    expect((await members()).map(({ status }) => status)).toEqual(["active", "expired"]);
    // Another manager may invite the same person.
    expect((await invite(email, "admin")).status).toBe(201);
    expect((await accept(tokenIn(await waitForEmail(gateway, email, 2)))).status).toBe(201);
  });

  it("becomes invalid when the member who made it may no longer assign its role, even at the same moment", async () => {
    const [coOwner, admin] = [await join("owner"), await join("admin")];
    const emails = [newEmail(), newEmail()] as const;
    expect((await invite(emails[0], "owner", coOwner.token)).status).toBe(201);
    expect((await invite(emails[1], "viewer", admin.token)).status).toBe(201);
    const [ofOwner, ofViewer] = await Promise.all(
      emails.map(async (email) => tokenIn(await waitForEmail(gateway, email))),
    );
    expect((await setRole(owner.token, coOwner.id, "admin")).status).toBe(200);
    expect(errorOf(await accept(ofOwner ?? ""))).toEqual(badToken);
    faults.next(isBy("AcceptInvitation", "dynamodb:TransactWriteItems"), async (request, next) => {
      expect((await setRole(owner.token, admin.id, "developer")).status).toBe(200);
      return next(request);
    });
    expect(errorOf(await accept(ofViewer ?? ""))).toEqual(badToken);
  });

  it("belongs to the member who changed its role last", async () => {
    const admin = await join("admin");
    const email = newEmail();
    const invited = dataOf(await invite(email, "viewer", admin.token), Member);
    const token = tokenIn(await waitForEmail(gateway, email));
    const changed = dataOf(await setRole(owner.token, invited.id, "owner"), Member);
    expect(changed).toMatchObject({ role: "owner", invitedBy: ownerId });
    expect((await accept(token)).status).toBe(201);
  });

  it("is accepted once, even by several simultaneous requests", async () => {
    const token = await invitedToken(newEmail(), "owner");
    const answers = await Promise.all([1, 2, 3].map(async () => accept(token)));
    expect(statusesOf(answers)).toEqual([201, 400, 400]);
    expect(errorOf(await accept(token))).toEqual(badToken);
    expect(await members()).toHaveLength(2);
    expect(await organization()).toMatchObject({ furtherMemberCount: 1 });
    expect((await rights()).ownerIds).toHaveLength(2);
  });

  it("of the same email replaces the one before, with the role of the newer one", async () => {
    const email = newEmail();
    const older = await invitedToken(email, "admin");
    const newer = await invitedToken(email, "viewer", 2);
    expect(await members()).toHaveLength(2);
    expect(errorOf(await accept(older))).toEqual(badToken);
    expect((await accept(newer)).status).toBe(201);
    expect((await members())[1]).toMatchObject({ email, role: "viewer", status: "active" });
    expect(errorOf(await invite(email, "viewer"))).toEqual(conflict);
  });

  it("can be changed and withdrawn until it is accepted", async () => {
    const email = newEmail();
    const token = await invitedToken(email, "admin");
    const [, invited] = await members();
    const id = invited?.id ?? "";
    expect(dataOf(await setRole(owner.token, id, "viewer"), Member)).toMatchObject({ id, role: "viewer" });
    expect((await remove(owner.token, id)).status).toBe(200);
    expect(errorOf(await accept(token))).toEqual(badToken);
    expect(errorOf(await remove(owner.token, id))).toEqual(notFound);
    expect(await members()).toHaveLength(1);
    expect((await organization()).furtherMemberCount).toBe(0);
  });

  it("expires after a week, and is shown as expired", async () => {
    const token = await invitedToken(newEmail(), "viewer");
    gateway.advanceClock(7 * dayMs);
    expect(errorOf(await accept(token))).toEqual(badToken);
    const { token: later } = dataOf(await logIn(owner.email), Session);
    expect((await members(later))[1]?.status).toBe("expired");
  });

  it("of an email with an account in another organization looks like any other, until it is accepted", async () => {
    const elsewhere = await Customer.register({ baseUrl: gateway.url });
    await waitForEmail(gateway, elsewhere.email);
    await noteVerifiedEmail(elsewhere.organizationId);
    const [known, unknown] = [await invite(elsewhere.email, "viewer"), await invite(newEmail(), "viewer")];
    const fieldsOf = (response: ApiResponse): string[] => Object.keys(dataOf(response, Member));
    expect(known.status).toBe(unknown.status);
    expect(fieldsOf(known)).toEqual(fieldsOf(unknown));
    // The first email was sent at the registration.
    const token = tokenIn(await waitForEmail(gateway, elsewhere.email, 2));
    expect(errorOf(await accept(token))).toEqual({ status: 409, code: "EMAIL_TAKEN" });
    expect((await elsewhere.client.getMe()).organization.id).toBe(elsewhere.organizationId);
    expect((await members()).map(({ status }) => status)).toEqual(["active", "invited", "invited"]);
  });

  it("is rejected when the organization has its maximum number of members", async () => {
    await change({ set: { furtherMemberCount: maxFurtherMembers } });
    expect(errorOf(await invite(newEmail(), "viewer"))).toEqual(conflict);
    expect(await members()).toHaveLength(1);
  });

  it("cannot be sent from a stage without email", async () => {
    const actor: Actor = {
      organizationId: owner.organizationId,
      userId: ownerId,
      credential: { type: "session", sessionId: "ses_1" },
      scopes: allScopes,
    };
    const request = { email: newEmail(), role: "viewer" } as const;
    await expect(inviteMember(actor, request)).rejects.toMatchObject({
      code: "EMAIL_DISABLED",
    });
  });
});

describe("a role", () => {
  it("applies from the next call on, to existing sessions", async () => {
    const { id, token } = await join("viewer");
    expect(errorOf(await invite(newEmail(), "viewer", token))).toEqual(insufficientScope);
    expect(errorOf(await as(token, "POST", "/v1/templates", { name: "a", body: "b" }))).toEqual(
      insufficientScope,
    );
    expect((await setRole(owner.token, id, "admin")).status).toBe(200);
    expect((await invite(newEmail(), "viewer", token)).status).toBe(201);
    expect((await as(token, "POST", "/v1/templates", { name: "a", body: "b" })).status).toBe(201);
    await setRole(owner.token, id, "viewer");
    expect(errorOf(await invite(newEmail(), "viewer", token))).toEqual(insufficientScope);
  });

  it.each<Role>(["billing", "developer", "viewer"])(
    "of %s manages no members, and can list them",
    async (role) => {
      const { id, token } = await join(role);
      for (const attempt of [
        invite(newEmail(), "viewer", token),
        setRole(token, id, "admin"),
        setRole(token, ownerId, "viewer"),
        remove(token, ownerId),
        remove(token, id),
      ]) {
        expect(errorOf(await attempt)).toEqual(insufficientScope);
      }
      await invite(newEmail(), "viewer");
      // A thief of the session must not learn who has no second factor.
      const factorsFor = async (credential: string) =>
        (await members(credential)).map(({ secondFactor }) => secondFactor);
      expect(await factorsFor(token)).toEqual([undefined, false, undefined]);
      const admin = await join("admin");
      for (const manager of [owner.token, admin.token])
        expect(await factorsFor(manager)).toEqual([false, false, false, false]);
    },
  );

  it("of admin makes, changes and removes no owner, and no invitation of one", async () => {
    const admin = await join("admin");
    const email = newEmail();
    const invited = dataOf(await invite(email, "owner"), Member);
    for (const attempt of [
      invite(newEmail(), "owner", admin.token),
      invite(email, "viewer", admin.token),
      setRole(admin.token, admin.id, "owner"),
      setRole(admin.token, ownerId, "viewer"),
      setRole(admin.token, invited.id, "viewer"),
      remove(admin.token, ownerId),
      remove(admin.token, invited.id),
    ]) {
      expect(errorOf(await attempt)).toEqual(insufficientScope);
    }
    const viewer = await join("viewer");
    expect((await setRole(admin.token, viewer.id, "developer")).status).toBe(200);
    expect((await remove(admin.token, viewer.id)).status).toBe(200);
  });

  it("of a member of another organization cannot be changed", async () => {
    const stranger = await Customer.register({ baseUrl: gateway.url });
    const invited = dataOf(await invite(newEmail(), "viewer"), Member);
    for (const id of [ownerId, invited.id]) {
      expect(errorOf(await setRole(stranger.token, id, "viewer"))).toEqual(notFound);
      expect(errorOf(await remove(stranger.token, id))).toEqual(notFound);
    }
    expect(await members()).toHaveLength(2);
  });
});

describe("the last owner", () => {
  it("cannot be removed or demoted by any member", async () => {
    await join("admin");
    expect(errorOf(await remove(owner.token, ownerId))).toEqual(lastOwner);
    expect(errorOf(await setRole(owner.token, ownerId, "viewer"))).toEqual(lastOwner);
    expect((await owner.call("/v1/wallet")).status).toBe(200);
  });

  it("is one of two owners who remove each other at the same moment", async () => {
    const other = await join("owner");
    const answers = await Promise.all([remove(owner.token, other.id), remove(other.token, ownerId)]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const left = answers[0].status === 200 ? owner.token : other.token;
    const [stays, ...others] = await members(left);
    expect(others).toEqual([]);
    expect(stays?.role).toBe("owner");
    expect(await rights()).toMatchObject({ ownerId: stays?.id, ownerIds: [stays?.id] });
    expect(await organization()).toMatchObject({ furtherMemberCount: 0 });
    expect(errorOf(await remove(left, stays?.id ?? ""))).toEqual(lastOwner);
  });

  it("is one of several owners who all demote themselves at the same moment", async () => {
    const others = [await join("owner"), await join("owner")];
    const people = [{ id: ownerId, token: owner.token }, ...others];
    await Promise.all(people.map(async ({ id, token }) => setRole(token, id, "viewer")));
    const owners = (await members()).filter(({ role }) => role === "owner").map(({ id }) => id);
    expect(owners.length).toBeGreaterThanOrEqual(1);
    const { ownerIds, ownerId: contact = "" } = await rights();
    expect(ownerIds.toSorted()).toEqual(owners.toSorted());
    expect(owners).toContain(contact);
  });
});

async function wallet(credential: string): Promise<number> {
  return (await as(credential, "GET", "/v1/wallet")).status;
}

async function newKey(credential: string, scopes: readonly Scope[] = allScopes): Promise<CreatedApiKey> {
  return dataOf(await as(credential, "POST", "/v1/auth/api-keys", { scopes }), CreatedApiKey);
}

describe("a member whose role was reduced", () => {
  it("keeps the keys that their role may have, and loses the others and the keys made with them", async () => {
    const member = await join("admin");
    const own = await newKey(owner.token);
    const reads = await newKey(member.token, ["read"]);
    const sends = await newKey(member.token, ["send", "read", "keys"]);
    const child = await newKey(sends.secret, ["send", "read"]);
    expect((await setRole(owner.token, member.id, "viewer")).status).toBe(200);
    expect(await Promise.all([own, reads, sends, child].map(({ secret }) => wallet(secret)))).toEqual([
      200, 200, 401, 401,
    ]);
  });

  it("loses them when the same call is repeated after a failure", async () => {
    const member = await join("admin");
    const { secret } = await newKey(member.token);
    const isOfKeys = (request: AwsRequest): boolean =>
      isBy("ApiUpdateMember", "dynamodb:Query")(request) && request.body.includes('"ORG#');
    faults.next(isOfKeys, async () => errorResponse("ValidationException", "no"), Number.POSITIVE_INFINITY);
    expect((await setRole(owner.token, member.id, "developer")).status).toBe(500);
    expect(await wallet(secret)).toBe(200);
    faults.clear();
    expect((await setRole(owner.token, member.id, "developer")).status).toBe(200);
    expect(await wallet(secret)).toBe(401);
  });

  it("makes no key in a call that was authorized before, unless the new role may have it too", async () => {
    const member = await join("admin");
    const setNow = async (role: Role): Promise<unknown> =>
      updateItem(z.unknown(), updateOf(keys.member(owner.organizationId, member.id), { set: { role } }));
    const makeSending = async (): Promise<CreatedApiKey> =>
      createApiKey(actorOf(member), CreateApiKeyRequest.parse({ scopes: ["send"] }));
    await setNow("viewer");
    await expect(makeSending()).rejects.toMatchObject({ code: "UNAUTHORIZED" });
    await setNow("developer");
    await expect(makeSending()).resolves.toMatchObject({ scopes: ["send"] });
  });
});

describe("a key that is deleted", () => {
  it("takes along the keys that it made when the same call is repeated after a failure", async () => {
    const leaked = await newKey(owner.token);
    const child = await newKey(leaked.secret);
    const isOfKeys = isBy("ApiDeleteApiKey", "dynamodb:Query");
    faults.next(isOfKeys, async () => errorResponse("ValidationException", "no"), Number.POSITIVE_INFINITY);
    const deleteKey = async (): Promise<number> =>
      (await as(owner.token, "DELETE", `/v1/auth/api-keys/${leaked.id}`)).status;
    expect(await deleteKey()).toBe(500);
    expect([await wallet(leaked.secret), await wallet(child.secret)]).toEqual([401, 200]);
    faults.clear();
    expect(await deleteKey()).toBe(200);
    expect(await wallet(child.secret)).toBe(401);
  });
});

/** A member as a function sees them after it authorized them with all scopes. */
function actorOf({ id }: Person): Actor {
  const credential = { type: "session", sessionId: "ses_1" } as const;
  return { organizationId: owner.organizationId, userId: id, credential, scopes: allScopes };
}

describe("a member who is removed", () => {
  it("loses sessions, keys and what they made immediately, and other members keep theirs", async () => {
    const member = await join("admin");
    const own = await newKey(owner.token);
    const [first, second] = [await newKey(member.token), await newKey(member.token)];
    const child = await newKey(first.secret);
    // A key that a deleted key has made still belongs to the member who made the deleted one.
    expect((await as(member.token, "DELETE", `/v1/auth/api-keys/${first.id}`)).status).toBe(200);
    const hook = async (credential: string): Promise<{ id: string; url: string }> => {
      const url = `https://example.com/${randomUUID()}`;
      const { id } = dataOf(await as(credential, "POST", "/v1/webhooks", { url }), CreatedWebhook);
      return { id, url };
    };
    await hook(owner.token);
    const [ofKey, ofPerson, disabled] = [
      await hook(second.secret),
      await hook(member.token),
      await hook(member.token),
    ];
    await as(owner.token, "PATCH", `/v1/webhooks/${disabled.id}`, { enabled: false });
    const adopted = dataOf(
      await as(owner.token, "POST", `/v1/auth/api-keys/${second.id}/rotate`, {}),
      CreatedApiKey,
    );
    const removed = dataOf(await remove(owner.token, member.id), RemovedMember);
    // Integrations keep working: the response names the webhooks that the owner may want to delete.
    expect(removed).toMatchObject({ id: member.id, deleted: true });
    expect(removed.webhooks).toMatchObject([ofPerson, ofKey]);
    expect(errorOf(await as(member.token, "GET", "/v1/wallet"))).toEqual(unauthorized);
    for (const { secret } of [second, child]) {
      expect(errorOf(await as(secret, "GET", "/v1/wallet"))).toEqual(unauthorized);
    }
    expect(await wallet(own.secret)).toBe(200);
    expect(await wallet(adopted.secret)).toBe(200);
    expect(errorOf(await logIn(member.email))).toEqual({ status: 401, code: "INVALID_CREDENTIALS" });
    expect(errorOf(await remove(owner.token, member.id))).toEqual(notFound);
    // Nothing is left of the member, so their email is free.
    expect(await findUser(member.id)).toBeUndefined();
    const json = { email: member.email, password };
    expect((await call("/v1/auth/register", { json, baseUrl: gateway.url })).status).toBe(201);
  });

  it("makes no more keys in a call that was authorized before", async () => {
    const member = await join("developer");
    const removedAt = new Date().toISOString();
    await updateItem(z.unknown(), updateOf(keys.user(member.id), { set: { removedAt } }));
    const made = createApiKey(actorOf(member), CreateApiKeyRequest.parse({}));
    await expect(made).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  });

  it("is locked out although the rest fails, and a repeated call completes it", async () => {
    const member = await join("admin");
    const { secret } = await newKey(member.token);
    const isOfKeys = (request: AwsRequest): boolean =>
      isBy("ApiDeleteMember", "dynamodb:Query")(request) && request.body.includes('"ORG#');
    faults.next(isOfKeys, async () => errorResponse("ValidationException", "no"), Number.POSITIVE_INFINITY);
    expect((await remove(owner.token, member.id)).status).toBe(500);
    expect(errorOf(await as(member.token, "GET", "/v1/wallet"))).toEqual(unauthorized);
    expect(await members()).toHaveLength(1);
    faults.clear();
    expect((await remove(owner.token, member.id)).status).toBe(200);
    expect(errorOf(await as(secret, "GET", "/v1/wallet"))).toEqual(unauthorized);
    expect(await findUser(member.id)).toBeUndefined();
  });
});
