import { randomUUID } from "node:crypto";

import { beforeEach, describe, expect, it } from "vitest";
import * as z from "zod/mini";

import { errorResponse, type AwsRequest } from "../../infra/local/local-aws.ts";
import { createApiKey } from "../../shared/accounts/api-keys/create-and-rotate.ts";
import { noteVerifiedEmail } from "../../shared/accounts/organizations/verification.ts";
import { CreateApiKeyRequest, CreatedApiKey } from "../../shared/api/contract/api-keys.ts";
import { RemovedMember } from "../../shared/api/contract/members.ts";
import { allScopes, type Role, type Scope } from "../../shared/api/contract/scopes.ts";
import { CreatedWebhook } from "../../shared/api/contract/webhooks.ts";
import type { Actor } from "../../shared/platform/auth/actor.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { findUser } from "../../shared/tenancy/users/record.ts";
import { accountCallsTo, type Person } from "../support/account-calls.ts";
import { Customer, dataOf, errorOf, password } from "../support/api.ts";
import { isBy } from "../support/faults.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";

const { gateway, faults } = await gatewayOfFile();
const accounts = accountCallsTo(gateway);
const { as, createKey, logIn, post, removeMember, setRole, statusWith } = accounts;
let owner: Customer;

beforeEach(async () => {
  owner = await Customer.register({ baseUrl: gateway.url });
  await noteVerifiedEmail(owner.organizationId);
});

const unauthorized = { status: 401, code: "UNAUTHORIZED" };
const notFound = { status: 404, code: "NOT_FOUND" };

async function join(role: Role): Promise<Person> {
  return accounts.join(role, owner.token);
}

const members = async (credential = owner.token) => accounts.membersSeenBy(credential);

async function newKey(credential: string, scopes: readonly Scope[] = allScopes): Promise<CreatedApiKey> {
  return createKey(credential, { scopes });
}

describe("a member whose role was reduced", () => {
  it("keeps the keys that their role may have, and loses the others and the keys made with them", async () => {
    const member = await join("admin");
    const own = await newKey(owner.token);
    const reads = await newKey(member.token, ["read"]);
    const sends = await newKey(member.token, ["send", "read", "keys"]);
    const child = await newKey(sends.secret, ["send", "read"]);
    expect((await setRole(owner.token, member.id, "viewer")).status).toBe(200);
    expect(await Promise.all([own, reads, sends, child].map(({ secret }) => statusWith(secret)))).toEqual([
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
    expect(await statusWith(secret)).toBe(200);
    faults.clear();
    expect((await setRole(owner.token, member.id, "developer")).status).toBe(200);
    expect(await statusWith(secret)).toBe(401);
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
    expect([await statusWith(leaked.secret), await statusWith(child.secret)]).toEqual([401, 200]);
    faults.clear();
    expect(await deleteKey()).toBe(200);
    expect(await statusWith(child.secret)).toBe(401);
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
    const removed = dataOf(await removeMember(owner.token, member.id), RemovedMember);
    // Integrations keep working: the response names the webhooks that the owner may want to delete.
    expect(removed).toMatchObject({ id: member.id, deleted: true });
    expect(removed.webhooks).toMatchObject([ofPerson, ofKey]);
    expect(errorOf(await as(member.token, "GET", "/v1/wallet"))).toEqual(unauthorized);
    for (const { secret } of [second, child]) {
      expect(errorOf(await as(secret, "GET", "/v1/wallet"))).toEqual(unauthorized);
    }
    expect(await statusWith(own.secret)).toBe(200);
    expect(await statusWith(adopted.secret)).toBe(200);
    expect(errorOf(await logIn(member.email))).toEqual({ status: 401, code: "INVALID_CREDENTIALS" });
    expect(errorOf(await removeMember(owner.token, member.id))).toEqual(notFound);
    // Nothing is left of the member, so their email is free.
    expect(await findUser(member.id)).toBeUndefined();
    const json = { email: member.email, password };
    expect((await post("/v1/auth/register", json)).status).toBe(201);
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
    expect((await removeMember(owner.token, member.id)).status).toBe(500);
    expect(errorOf(await as(member.token, "GET", "/v1/wallet"))).toEqual(unauthorized);
    expect(await members()).toHaveLength(1);
    faults.clear();
    expect((await removeMember(owner.token, member.id)).status).toBe(200);
    expect(errorOf(await as(secret, "GET", "/v1/wallet"))).toEqual(unauthorized);
    expect(await findUser(member.id)).toBeUndefined();
  });
});
