import { beforeEach, describe, expect, it } from "vitest";

import { SenderIdRequest } from "../../shared/api/contract/sender-ids.ts";
import { maxSenderIds, readSenderIds } from "../../shared/messages/sender-ids/record.ts";
import { decideSenderId, listPendingSenderIds } from "../../shared/messages/sender-ids/review.ts";
import { Customer, dataOf, errorOf, pageOf, statusesOf, type ApiResponse } from "../support/api.ts";

const notFound = { status: 404, code: "NOT_FOUND" };
const conflict = { status: 409, code: "CONFLICT" };

let customer: Customer;
beforeEach(async () => {
  customer = await Customer.register({ balance: 1 });
});

async function tryRequest(senderId: string, fields: Record<string, unknown> = {}): Promise<ApiResponse> {
  return customer.call("/v1/sender-ids", { json: { senderId, ...fields } });
}

async function request(senderId: string, fields: Record<string, unknown> = {}): Promise<SenderIdRequest> {
  const response = await tryRequest(senderId, fields);
  expect(response.status).toBe(201);
  return dataOf(response, SenderIdRequest);
}

async function approve({ id }: SenderIdRequest): Promise<void> {
  // The customers of other tests have the same names.
  await decideSenderId(customer.organizationId, id, { approved: true }, { isShared: true });
}

async function reject({ id }: SenderIdRequest): Promise<void> {
  await decideSenderId(customer.organizationId, id, { approved: false, reason: "not yours" });
}

async function makeDefault({ id }: SenderIdRequest, by = customer): Promise<ApiResponse> {
  return by.call(`/v1/sender-ids/${id}/default`, { method: "POST" });
}

async function list(query = ""): Promise<SenderIdRequest[]> {
  return pageOf(await customer.call(`/v1/sender-ids?${query}`), SenderIdRequest).rows;
}

/** The sender ID of a message that names none. */
async function sentWithout(): Promise<string> {
  const { id } = await customer.send({ senderId: undefined });
  return (await customer.message(id)).senderId;
}

async function defaults(): Promise<string[]> {
  return (await list("limit=100")).filter(({ isDefault }) => isDefault).map(({ senderId }) => senderId);
}

describe("a request for a sender ID", () => {
  it("is pending, listed newest first, and waits for the operator", async () => {
    const first = await request("ACME", { useCase: "One-time codes", status: "approved" });
    expect(first).toEqual({
      id: first.id,
      senderId: "ACME",
      useCase: "One-time codes",
      status: "pending",
      isDefault: false,
      createdAt: first.createdAt,
    });
    const second = await request("Zebra1");
    expect(await list()).toEqual([second, first]);
    expect(await list("limit=1&page=2")).toEqual([first]);
    const pending: string[] = [];
    for await (const { id, organizationId } of listPendingSenderIds()) {
      if (organizationId === customer.organizationId) pending.push(id);
    }
    expect(pending).toEqual([first.id, second.id]);
  });

  it("is rejected while the same one, in any case, is pending or approved", async () => {
    const first = await request("Acme");
    expect(errorOf(await tryRequest("ACME"))).toEqual(conflict);
    await approve(first);
    expect(errorOf(await tryRequest("acme"))).toEqual(conflict);
    expect(await list()).toMatchObject([{ id: first.id, senderId: "Acme", status: "approved" }]);
  });

  it("shows why it was rejected, and is replaced by a new one", async () => {
    const first = await request("Acme");
    await reject(first);
    expect(await list()).toMatchObject([
      { id: first.id, status: "rejected", rejectionReason: "not yours", isDefault: false },
    ]);
    const second = await request("ACME");
    expect(second.id).not.toBe(first.id);
    expect(await list()).toEqual([second]);
    await approve(second);
    expect(await sentWithout()).toBe("ACME");
  });

  it("is accepted once though it arrives many times in parallel, also after a rejection", async () => {
    const race = async () => Promise.all(["acme", "Acme", "aCme", "ACME"].map(async (id) => tryRequest(id)));
    expect(statusesOf(await race())).toEqual([201, 409, 409, 409]);
    for (const each of await list()) await reject(each);
    expect(statusesOf(await race())).toEqual([201, 409, 409, 409]);
    expect(await list()).toHaveLength(1);
  });

  it("is rejected when the organization is at its limit", async () => {
    for (let count = 1; count < maxSenderIds; count += 1) await request(`ID${count}`);
    const last = await Promise.all([tryRequest("LAST1"), tryRequest("LAST2")]);
    expect(statusesOf(last)).toEqual([201, 409]);
    expect(await readSenderIds(customer.organizationId)).toHaveLength(maxSenderIds);
    // A rejected one keeps its place, which the same sender ID may use again.
    const [rejected] = await list();
    await decideSenderId(customer.organizationId, rejected?.id ?? "", { approved: false, reason: "no" });
    expect(errorOf(await tryRequest("ANOTHER"))).toEqual(conflict);
    await request(rejected?.senderId ?? "");
  });
});

describe("the default sender ID", () => {
  it("is the first approved one, until another is chosen", async () => {
    const [first, second] = [await request("FIRST"), await request("SECOND")];
    expect(errorOf(await customer.trySend({ senderId: undefined }))).toMatchObject({
      code: "MISSING_SENDER_ID",
    });
    expect(errorOf(await makeDefault(first))).toEqual(conflict);
    await approve(second);
    expect(await sentWithout()).toBe("SECOND");
    await approve(first);
    expect(await sentWithout()).toBe("SECOND");

    const chosen = await makeDefault(first);
    expect(chosen.status).toBe(200);
    expect(dataOf(chosen, SenderIdRequest)).toMatchObject({ id: first.id, isDefault: true });
    expect(await defaults()).toEqual(["FIRST"]);
    expect(await sentWithout()).toBe("FIRST");
    expect((await makeDefault(first)).status).toBe(200);
  });

  it("is none after it is revoked, and stays when another is revoked", async () => {
    const [first, second] = [await request("FIRST"), await request("SECOND")];
    await approve(first);
    await approve(second);
    await reject(second);
    expect(await defaults()).toEqual(["FIRST"]);
    expect(errorOf(await makeDefault(second))).toEqual(conflict);
    await reject(first);
    expect(await defaults()).toEqual([]);
    expect(errorOf(await customer.trySend({ senderId: undefined }))).toMatchObject({
      code: "MISSING_SENDER_ID",
    });
  });

  it("is never one that is revoked at the same time", async () => {
    const [first, second] = [await request("FIRST"), await request("SECOND")];
    await approve(first);
    await approve(second);
    // In one order the change of the default fails, and in the other the revocation undoes it.
    await Promise.all([makeDefault(second), reject(second)]);
    expect(await defaults()).not.toContain("SECOND");
    await Promise.all([makeDefault(first), reject(first)]);
    expect(await defaults()).toEqual([]);
    expect((await customer.trySend({ senderId: undefined })).status).toBe(400);
  });

  it("is one of those that are approved at the same time", async () => {
    const requests = [await request("A1"), await request("B2"), await request("C3")];
    await Promise.all(requests.map(approve));
    const [chosen, ...more] = await defaults();
    expect(more).toEqual([]);
    expect(await sentWithout()).toBe(chosen);
  });

  it("cannot be chosen by another organization", async () => {
    const mine = await request("ACME");
    await approve(mine);
    const stranger = await Customer.register();
    expect(errorOf(await makeDefault(mine, stranger))).toEqual(notFound);
    const decision = decideSenderId(stranger.organizationId, mine.id, { approved: false, reason: "no" });
    await expect(decision).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

describe("a decision on a sender ID", () => {
  it("is made once, except the rejection of an approved one", async () => {
    const [approved, rejected] = [await request("GOOD"), await request("BAD")];
    await approve(approved);
    await reject(rejected);
    const again = decideSenderId(customer.organizationId, approved.id, { approved: true });
    await expect(again).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(approve(rejected)).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(reject(rejected)).rejects.toMatchObject({ code: "CONFLICT" });
    await reject(approved);
    await expect(reject(approved)).rejects.toMatchObject({ code: "CONFLICT" });
  });
});
