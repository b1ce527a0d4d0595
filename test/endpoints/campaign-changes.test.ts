import { expect, it, vi } from "vitest";

import { Campaign, DeletedCampaign } from "../../shared/api/contract/campaigns.ts";
import { CampaignRecord } from "../../shared/audience/campaigns/record.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { findItem } from "../../shared/platform/table/read.ts";
import { updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { Customer, dataOf, errorOf, type ApiResponse } from "../support/api.ts";
import { importContacts, numberOf } from "../support/contacts.ts";
import { expectLedgerToAddUp } from "../support/ledger.ts";
import { patience } from "../support/patience.ts";

const conflict = { status: 409, code: "CONFLICT" };

async function act(customer: Customer, id: string, action: string): Promise<ApiResponse> {
  return customer.call(`/v1/campaigns/${id}/${action}`, { method: "POST" });
}

async function draft({ client }: Customer): Promise<string> {
  const body = { name: "Spring", message: "Hi", audience: { all: true }, senderId: "ACME" } as const;
  return (await client.createCampaign({ body })).id;
}

async function reach({ client }: Customer, id: string, status: Campaign["status"]): Promise<Campaign> {
  return vi.waitFor(async () => {
    const campaign = await client.getCampaign({ params: { id } });
    expect(campaign.status).toBe(status);
    return campaign;
  }, patience);
}

/** Starts a campaign to ten contacts, three of which the daily cap covers. @returns its id once it waits */
async function waiting(customer: Customer): Promise<string> {
  await importContacts(customer, 10);
  await customer.client.updateWallet({ body: { dailySpendCap: 0.03 } });
  const id = await draft(customer);
  await act(customer, id, "launch");
  await vi.waitFor(async () => {
    expect((await customer.client.getCampaign({ params: { id } })).waitsUntil).toBeDefined();
  }, patience);
  return id;
}

it("a campaign that is paused twice at a time and resumed twice reaches each contact once", async () => {
  const customer = await Customer.register({ balance: 1 });
  const id = await waiting(customer);
  const paused = await Promise.all([act(customer, id, "pause"), act(customer, id, "pause")]);
  for (const response of paused) {
    const campaign = dataOf(response, Campaign);
    expect(campaign).toMatchObject({ status: "paused", progress: { accepted: 3 } });
    expect(campaign.waitsUntil).toBeUndefined();
  }
  // Release 0.3.0 reads a campaign that failed, which it neither sends nor reports as unreadable.
  const stored = await findItem(CampaignRecord, keys.campaign(customer.organizationId, id), {
    consistent: true,
  });
  expect(stored).toMatchObject({ status: "failed" });
  expect(stored?.errorCode).toBeUndefined();
  expect(errorOf(await act(customer, id, "launch"))).toEqual(conflict);
  await customer.client.updateWallet({ body: { dailySpendCap: null } });
  const resumed = await Promise.all([act(customer, id, "resume"), act(customer, id, "resume")]);
  expect(resumed.map(({ status }) => status)).toEqual([200, 200]);
  expect((await reach(customer, id, "completed")).progress).toMatchObject({ accepted: 10, sent: 10 });
  const { rows } = await customer.client.listSms({ query: { limit: 100 } });
  expect(rows.map(({ to }) => to).toSorted()).toEqual(
    Array.from({ length: 10 }, (_, index) => numberOf(index)),
  );
  expect(await customer.balance()).toBe(0.921);
  expect(await expectLedgerToAddUp(customer)).toHaveLength(11);
  expect(errorOf(await act(customer, id, "pause"))).toEqual(conflict);
  expect(errorOf(await act(customer, id, "resume"))).toEqual(conflict);
});

it("a draft is deleted once, also while it is launched, and no other campaign is", async () => {
  const [customer, stranger] = await Promise.all([Customer.register({ balance: 1 }), Customer.register()]);
  const notFound = { status: 404, code: "NOT_FOUND" };
  const remove = async (id: string, by = customer): Promise<ApiResponse> =>
    by.call(`/v1/campaigns/${id}`, { method: "DELETE" });
  const id = await draft(customer);
  expect(errorOf(await remove(id, stranger))).toEqual(notFound);
  expect(dataOf(await remove(id), DeletedCampaign)).toEqual({ id, deleted: true });
  expect(errorOf(await remove(id))).toEqual(notFound);
  expect(errorOf(await act(customer, id, "launch"))).toEqual(notFound);
  expect(errorOf(await customer.call(`/v1/campaigns/${id}`))).toEqual(notFound);
  expect(errorOf(await customer.call(`/v1/campaigns/${id}/recipients`))).toEqual(notFound);
  expect((await customer.client.listCampaigns()).meta.total).toBe(0);
  await importContacts(customer, 1);
  const raced = await draft(customer);
  const [launched, removed] = await Promise.all([act(customer, raced, "launch"), remove(raced)]);
  expect([launched.status, removed.status]).toEqual(removed.status === 200 ? [404, 200] : [200, 409]);
  const completed = await draft(customer);
  await act(customer, completed, "launch");
  await reach(customer, completed, "completed");
  expect(errorOf(await remove(completed))).toEqual(conflict);
});

it("a campaign all of whose messages are accepted is not paused", async () => {
  const customer = await Customer.register({ balance: 1 });
  const id = await waiting(customer);
  const all = { set: { acceptedAllAt: new Date().toISOString() } };
  await updateItem(CampaignRecord, updateOf(keys.campaign(customer.organizationId, id), all));
  expect(errorOf(await act(customer, id, "pause"))).toEqual(conflict);
});

it("a paused campaign is cancelled for good, and only a running one of one's own is paused", async () => {
  const [customer, stranger] = await Promise.all([Customer.register({ balance: 1 }), Customer.register()]);
  const id = await waiting(customer);
  const unsent = await draft(customer);
  expect(errorOf(await act(customer, unsent, "pause"))).toEqual(conflict);
  expect(errorOf(await act(customer, unsent, "resume"))).toEqual(conflict);
  for (const action of ["pause", "resume"]) {
    expect(errorOf(await act(stranger, id, action))).toEqual({ status: 404, code: "NOT_FOUND" });
  }
  expect(dataOf(await act(customer, id, "pause"), Campaign).status).toBe("paused");
  expect(dataOf(await act(customer, id, "cancel"), Campaign).status).toBe("cancelled");
  expect(errorOf(await act(customer, id, "resume"))).toEqual(conflict);
  expect(errorOf(await act(customer, id, "pause"))).toEqual(conflict);
  expect((await reach(customer, id, "cancelled")).progress.accepted).toBe(3);
});
