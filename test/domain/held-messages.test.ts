import { beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import type { HeldMessage } from "../../shared/api/contract/held-messages.ts";
import { decideHeldMessage } from "../../shared/messages/accept/decide-held.ts";
import { getHeldMessage } from "../../shared/messages/accept/held.ts";
import { readMessage } from "../../shared/messages/message/read.ts";
import { redactedText } from "../../shared/messages/message/record.ts";
import { reconcileWallet } from "../../shared/messages/reconciliation/reconcile.ts";
import { rateCardCache } from "../../shared/money/prices/current.ts";
import { publishRateCard } from "../../shared/money/prices/publish.ts";
import { debitWallet } from "../../shared/money/wallet/debit.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { hourMs, minuteMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { releaseScheduledJobs } from "../../shared/platform/jobs/scheduler.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { updateItem, updateOf } from "../../shared/platform/table/write.ts";
import type { OrganizationRecord } from "../../shared/tenancy/organizations/record.ts";
import { holdMessage } from "../support/as-organization.ts";
import { advance } from "../support/clock.ts";
import { priceRows } from "../support/prices.ts";
import { takeJobs } from "../support/queues.ts";
import { inAllShards } from "../support/shards.ts";
import { ownerOf } from "../support/viewer.ts";
import { openOrganization, organizationOf } from "../support/wallets.ts";

const start = new Date("2030-06-01T12:00:00Z");
const to = "447700900123";
const balanceMicros = 10_000_000;
const priceMicros = 40_000;

let version: number | undefined;
let organization: OrganizationRecord;
let id: string;

async function setPrice(micros: number): Promise<void> {
  version = await publishRateCard(priceRows({ "44": micros }), version);
  rateCardCache.clear();
}

beforeEach(async () => {
  vi.setSystemTime(start);
  await setPrice(priceMicros);
  const organizationId = await openOrganization(balanceMicros);
  organization = await organizationOf(organizationId);
  id = await holdMessage(organizationId, to);
});

async function decide(approve: boolean, total?: number): Promise<HeldMessage> {
  const credential = { type: "session", sessionId: "ses_1" } as const;
  const actor = { organizationId: organization.id, userId: "usr_1", scopes: [], credential };
  return decideHeldMessage(organization, id, { approve, total }, { actor, reportRateLimit: () => {} });
}

/** Returns the price that the wallet paid in total, and what it counts as spent today. */
async function paid(): Promise<readonly [number, number]> {
  const wallet = await readWallet(organization.id);
  return [balanceMicros - wallet.balanceMicros, wallet.spentTodayMicros];
}

it("a held message is announced by an event and an email, again an hour later if their jobs are lost", async () => {
  const expected = {
    webhookDeliveries: [
      {
        kind: "event",
        eventId: expect.stringMatching(/^evt_/),
        organizationId: organization.id,
        event: {
          event: "message.held",
          timestamp: start.toISOString(),
          data: { id, apiKeyId: "key_01KE0000000000000000000001", expiresAt: "2030-06-08T12:00:00.000Z" },
        },
      },
    ],
    emails: [{ kind: "messagesHeld", id: expect.stringMatching(/^eml_/), organizationId: organization.id }],
  };
  const taken = async () => {
    const ofOrganization = (jobs: unknown[]): unknown[] =>
      jobs.filter((job) => Object(job).organizationId === organization.id);
    return {
      webhookDeliveries: ofOrganization(await takeJobs("webhookDeliveries")),
      emails: ofOrganization(await takeJobs("emails")),
    };
  };
  const first = await taken();
  expect(first).toEqual(expected);
  // The second message of the hour has an event of its own, and the same email.
  const second = await holdMessage(organization.id, to, "key_01KE0000000000000000000002");
  const { webhookDeliveries, emails } = await taken();
  expect(webhookDeliveries).toMatchObject([
    { event: { data: { id: second, apiKeyId: "key_01KE0000000000000000000002" } } },
  ]);
  expect(emails).toEqual(first.emails);
  await inAllShards(releaseScheduledJobs);
  advance(hourMs);
  await inAllShards(releaseScheduledJobs);
  const again = await taken();
  expect(again.webhookDeliveries).toHaveLength(2);
  expect(again.webhookDeliveries).toEqual(expect.arrayContaining(first.webhookDeliveries));
  // The reminder of each message is the same email, of the next hour.
  const ids = again.emails.map((email) => String(Object(email).id));
  expect(ids).toHaveLength(2);
  expect(new Set(ids).size).toBe(1);
  expect(ids[0]).not.toBe(Object(first.emails[0]).id);
});

const conflict = { code: "CONFLICT" };

describe("decisions at the same moment", () => {
  it.each([
    ["approvals", [true, true, true, true]],
    ["approvals and rejections", [true, false, true, false]],
    ["rejections", [false, false, false]],
  ])("%s: one counts, the others conflict, and at most one price is paid", async (_name, decisions) => {
    const results = await Promise.allSettled(decisions.map(async (approve) => decide(approve)));
    const reasons = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    expect(reasons).toMatchObject(Array.from({ length: decisions.length - 1 }, () => conflict));
    const { status } = await getHeldMessage(organization.id, id);
    const costs = status === "approved" ? priceMicros : 0;
    expect(await paid()).toEqual([costs, costs]);
  });
});

it("an approval that crashed after its debit can be repeated, and costs one price", async () => {
  const { id: organizationId } = organization;
  const set = { leaseToken: "dead", leaseUntil: new Date(start.getTime() + minuteMs).toISOString() };
  await updateItem(z.unknown(), updateOf(keys.heldMessage(organizationId, id), { set }));
  const charges = [{ amountMicros: priceMicros }];
  await debitWallet({ organizationId, charges, at: start, keepAccepted: async () => undefined });
  await expect(decide(true)).rejects.toMatchObject(conflict);
  await expect(decide(false)).rejects.toMatchObject(conflict);
  vi.setSystemTime(start.getTime() + minuteMs);
  expect((await decide(true)).status).toBe("approved");
  vi.setSystemTime(start.getTime() + 15 * minuteMs);
  await reconcileWallet(organizationId);
  expect((await paid())[0]).toBe(priceMicros);
});

describe("a message whose price changed while it was held", () => {
  it("is not sent for more than the person saw, and shows its new price", async () => {
    await setPrice(400_000);
    const message = "This message costs 0.400000 USD now.";
    await expect(decide(true)).rejects.toMatchObject({ ...conflict, message });
    const { status, pricing } = await getHeldMessage(organization.id, id);
    expect({ status, total: pricing.total }).toEqual({ status: "held", total: 0.4 });
    // Another person has seen the price of before too.
    await expect(decide(true)).rejects.toMatchObject({ ...conflict, message });
    expect(await paid()).toEqual([0, 0]);
    await expect(decide(true, 0.04)).rejects.toMatchObject(conflict);
    expect(await decide(true, 0.4)).toMatchObject({ status: "approved", pricing: { total: 0.4 } });
    expect(await paid()).toEqual([400_000, 400_000]);
  });

  it("is sent without a total once it costs no more than when it was held", async () => {
    await setPrice(400_000);
    await expect(decide(true)).rejects.toMatchObject(conflict);
    await setPrice(priceMicros);
    expect(await decide(true)).toMatchObject({ status: "approved", pricing: { total: 0.04 } });
    expect(await paid()).toEqual([priceMicros, priceMicros]);
  });

  it("is sent for less, which it then shows", async () => {
    await setPrice(10_000);
    expect(await decide(true, 0.04)).toMatchObject({ status: "approved", pricing: { total: 0.01 } });
    expect(await paid()).toEqual([10_000, 10_000]);
  });
});

it("an approved message keeps the API key that sent it", async () => {
  const { messageId = "" } = await decide(true);
  expect(await readMessage(ownerOf(organization.id), messageId)).toMatchObject({
    apiKeyId: "key_01KE0000000000000000000001",
    to,
  });
});

it.each([
  { approve: true, textOfMessage: `Hello ${to}` },
  { approve: false, textOfMessage: undefined },
])("the text of a held one-time code is deleted with the decision (%o)", async (each) => {
  vi.stubEnv(environmentNames.policies.redactOneTimeCodes, "true");
  expect(await getHeldMessage(organization.id, id)).toMatchObject({ message: `Hello ${to}` });
  const { message, messageId } = await decide(each.approve);
  expect(message).toBe(redactedText);
  expect(await getHeldMessage(organization.id, id)).toMatchObject({ message: redactedText });
  // The accepted message keeps its text until it is sent.
  const accepted = messageId && (await readMessage(ownerOf(organization.id), messageId)).message;
  expect(accepted).toBe(each.textOfMessage);
});

it("held messages have a quota for each key, and for the keys that share its budget", async () => {
  const quota = keys.usesOfDay("held-messages", "key_01KE0000000000000000000001#2030-06-01");
  await updateItem(z.unknown(), updateOf(quota, { set: { uses: 500 } }));
  const limited = { code: "RATE_LIMITED" };
  await expect(holdMessage(organization.id, to)).rejects.toMatchObject(limited);
  await expect(holdMessage(organization.id, to, "key_01KE0000000000000000000002")).resolves.toMatch(/^hld_/);
});
