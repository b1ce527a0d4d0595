import { beforeEach, describe, expect, it } from "vitest";
import * as z from "zod/mini";

import { inviteMember } from "../../shared/accounts/members/invite.ts";
import { noteVerifiedEmail } from "../../shared/accounts/organizations/verification.ts";
import { Account, Session } from "../../shared/api/contract/accounts.ts";
import { AcceptedInvitation, Member } from "../../shared/api/contract/members.ts";
import { allScopes, type Role } from "../../shared/api/contract/scopes.ts";
import type { Actor } from "../../shared/platform/auth/actor.ts";
import { dayMs } from "../../shared/platform/clock.ts";
import type { Changes } from "../../shared/platform/table/expressions.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { maxFurtherMembers } from "../../shared/tenancy/organizations/member-record.ts";
import { readRights, type Rights } from "../../shared/tenancy/organizations/rights-record.ts";
import { findUser } from "../../shared/tenancy/users/record.ts";
import { accountCallsTo, newEmail, type Person } from "../support/account-calls.ts";
import { Customer, dataOf, errorOf, statusesOf, type ApiResponse } from "../support/api.ts";
import { tokenIn, waitForEmail } from "../support/emails.ts";
import { isBy } from "../support/faults.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";
import { organizationOf } from "../support/wallets.ts";

const { gateway, faults } = await gatewayOfFile();
const accounts = accountCallsTo(gateway);
const { accept, as, logIn, removeMember, setRole } = accounts;
let owner: Customer;
let ownerId: string;

beforeEach(async () => {
  owner = await Customer.register({ baseUrl: gateway.url });
  ({ id: ownerId } = (await owner.client.getMe()).user);
  await noteVerifiedEmail(owner.organizationId);
});

const notFound = { status: 404, code: "NOT_FOUND" };
const conflict = { status: 409, code: "CONFLICT" };
const badToken = { status: 400, code: "INVALID_EMAIL_TOKEN" };

async function invite(email: string, role: Role, credential = owner.token): Promise<ApiResponse> {
  return accounts.invite(credential, role, email);
}

/** The token of the link in an invitation email. */
async function invitedToken(email: string, role: Role, count = 1): Promise<string> {
  expect((await invite(email, role)).status).toBe(201);
  return tokenIn(await waitForEmail(gateway, email, count));
}

async function join(role: Role): Promise<Person> {
  return accounts.join(role, owner.token);
}

const members = async (credential = owner.token) => accounts.membersSeenBy(credential);

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
    expect((await removeMember(owner.token, admin.id)).status).toBe(200);
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
    expect(await organizationOf(owner.organizationId)).toMatchObject({ furtherMemberCount: 1 });
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
    expect((await removeMember(owner.token, id)).status).toBe(200);
    expect(errorOf(await accept(token))).toEqual(badToken);
    expect(errorOf(await removeMember(owner.token, id))).toEqual(notFound);
    expect(await members()).toHaveLength(1);
    expect((await organizationOf(owner.organizationId)).furtherMemberCount).toBe(0);
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

  it("can be sent three times a day to one email, and to others meanwhile", async () => {
    const email = newEmail();
    for (const role of ["viewer", "admin", "viewer"] as const) {
      expect((await invite(email, role)).status).toBe(201);
    }
    expect(errorOf(await invite(email, "viewer"))).toEqual({ status: 429, code: "RATE_LIMITED" });
    expect((await invite(newEmail(), "viewer")).status).toBe(201);
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
