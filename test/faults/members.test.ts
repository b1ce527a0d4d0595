import { beforeEach, describe, expect, it } from "vitest";

import { noteVerifiedEmail } from "../../shared/accounts/organizations/verification.ts";
import { Member } from "../../shared/api/contract/members.ts";
import { type Role } from "../../shared/api/contract/scopes.ts";
import { readRights, type Rights } from "../../shared/tenancy/organizations/rights-record.ts";
import { accountCallsTo, newEmail, type Person } from "../support/account-calls.ts";
import { call, Customer, dataOf, errorOf, type ApiResponse } from "../support/api.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";
import { organizationOf } from "../support/wallets.ts";

const { gateway } = await gatewayOfFile();
const accounts = accountCallsTo(gateway);
const { as, removeMember, setRole } = accounts;
let owner: Customer;
let ownerId: string;

beforeEach(async () => {
  owner = await Customer.register({ baseUrl: gateway.url });
  ({ id: ownerId } = (await owner.client.getMe()).user);
  await noteVerifiedEmail(owner.organizationId);
});

const insufficientScope = { status: 403, code: "INSUFFICIENT_SCOPE" };
const notFound = { status: 404, code: "NOT_FOUND" };
const lastOwner = { status: 409, code: "LAST_OWNER" };

async function invite(email: string, role: Role, credential = owner.token): Promise<ApiResponse> {
  return accounts.invite(credential, role, email);
}

async function join(role: Role): Promise<Person> {
  return accounts.join(role, owner.token);
}

const members = async (credential = owner.token) => accounts.membersSeenBy(credential);

async function rights(): Promise<Rights> {
  return readRights(owner.organizationId, { consistent: true });
}

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

  it("decides also about the response to another member's Idempotency-Key", async () => {
    const admin = await join("admin");
    const json = { email: newEmail(), role: "owner" };
    const options = { json, headers: { "Idempotency-Key": "invite-1" } };
    expect((await owner.call("/v1/members", options)).status).toBe(201);
    const byAdmin = await call("/v1/members", { ...options, credential: admin.token, baseUrl: gateway.url });
    expect(errorOf(byAdmin)).toEqual({ status: 422, code: "IDEMPOTENCY_KEY_REUSED" });
    const again = await owner.call("/v1/members", options);
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([201, "true"]);
  });

  it.each<Role>(["billing", "developer", "sender", "viewer"])(
    "of %s manages no members, and can list them",
    async (role) => {
      const { id, token } = await join(role);
      for (const attempt of [
        invite(newEmail(), "viewer", token),
        setRole(token, id, "admin"),
        setRole(token, ownerId, "viewer"),
        removeMember(token, ownerId),
        removeMember(token, id),
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
      removeMember(admin.token, ownerId),
      removeMember(admin.token, invited.id),
    ]) {
      expect(errorOf(await attempt)).toEqual(insufficientScope);
    }
    const viewer = await join("viewer");
    expect((await setRole(admin.token, viewer.id, "developer")).status).toBe(200);
    expect((await removeMember(admin.token, viewer.id)).status).toBe(200);
  });

  it("of a member of another organization cannot be changed", async () => {
    const stranger = await Customer.register({ baseUrl: gateway.url });
    const invited = dataOf(await invite(newEmail(), "viewer"), Member);
    for (const id of [ownerId, invited.id]) {
      expect(errorOf(await setRole(stranger.token, id, "viewer"))).toEqual(notFound);
      expect(errorOf(await removeMember(stranger.token, id))).toEqual(notFound);
    }
    expect(await members()).toHaveLength(2);
  });
});

describe("the last owner", () => {
  it("cannot be removed or demoted by any member", async () => {
    await join("admin");
    expect(errorOf(await removeMember(owner.token, ownerId))).toEqual(lastOwner);
    expect(errorOf(await setRole(owner.token, ownerId, "viewer"))).toEqual(lastOwner);
    expect((await owner.call("/v1/wallet")).status).toBe(200);
  });

  it("is one of two owners who remove each other at the same moment", async () => {
    const other = await join("owner");
    const answers = await Promise.all([
      removeMember(owner.token, other.id),
      removeMember(other.token, ownerId),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const left = answers[0].status === 200 ? owner.token : other.token;
    const [stays, ...others] = await members(left);
    expect(others).toEqual([]);
    expect(stays?.role).toBe("owner");
    expect(await rights()).toMatchObject({ ownerId: stays?.id, ownerIds: [stays?.id] });
    expect(await organizationOf(owner.organizationId)).toMatchObject({ furtherMemberCount: 0 });
    expect(errorOf(await removeMember(left, stays?.id ?? ""))).toEqual(lastOwner);
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
