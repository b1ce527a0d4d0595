import { randomUUID } from "node:crypto";

import { beforeEach, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { eraseOrganization, type ErasedOrganization } from "../../shared/accounts/erasure/organization.ts";
import { putFirstPassword } from "../../shared/accounts/passwords/record.ts";
import { CreateCampaignRequest } from "../../shared/api/contract/campaigns.ts";
import { CreateContactRequest } from "../../shared/api/contract/contacts.ts";
import { createContact } from "../../shared/audience/contacts/contacts.ts";
import { createTemplate } from "../../shared/audience/templates/templates.ts";
import { periodOf } from "../../shared/figures/books/closing.ts";
import { closeDays } from "../../shared/figures/dashboard/close-days.ts";
import { cancelMessage } from "../../shared/messages/outcome/cancel.ts";
import { reconcileWallet } from "../../shared/messages/reconciliation/reconcile.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { takeName } from "../../shared/messages/sender-ids/names.ts";
import { createSenderId } from "../../shared/messages/sender-ids/sender-ids.ts";
import { blockDestination } from "../../shared/money/prices/blocked-destinations.ts";
import { replacePriceOverrides } from "../../shared/money/prices/overrides.ts";
import { adjustWallet, closeWallet } from "../../shared/money/wallet/adjust.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { graceMs } from "../../shared/money/wallet/settlement.ts";
import { dayMs, minuteMs } from "../../shared/platform/clock.ts";
import { RejectedError } from "../../shared/platform/rejected-error.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { messageKey } from "../../shared/platform/table/shards.ts";
import { putItem, updateItem, updateOf, putOf, putUnchecked } from "../../shared/platform/table/write.ts";
import { submitKyc } from "../../shared/tenancy/kyc/kyc.ts";
import {
  insertInvitedEmail,
  insertMember,
  type InvitationRecord,
} from "../../shared/tenancy/organizations/member-record.ts";
import { insertRights } from "../../shared/tenancy/organizations/rights-record.ts";
import { dispatchWebhook } from "../../shared/webhooks/dispatch.ts";
import { rotateWebhookSecret } from "../../shared/webhooks/rotate-secret.ts";
import { createCampaign, holdMessage } from "../support/as-organization.ts";
import { closeBooks, closing, settleAll } from "../support/books.ts";
import { advance } from "../support/clock.ts";
import { beginExport, runAll } from "../support/exports.ts";
import { recordLog } from "../support/log.ts";
import { putSent, sentMessage } from "../support/message-records.ts";
import { acceptFor, sendFor } from "../support/messages.ts";
import { dayShardOf } from "../support/organization-shards.ts";
import { useOwnTable } from "../support/own-table.ts";
import { priceRows } from "../support/prices.ts";
import { allRows } from "../support/rows.ts";
import { inAllShards } from "../support/shards.ts";
import { ownerOf } from "../support/viewer.ts";
import { openWallet } from "../support/wallets.ts";
import { eventJob, openWebhook, openReceiver } from "../support/webhooks.ts";

const ownerId = "usr_01J00000000000000000000000";
const email = "lovelace@example.com";
let organizationId: string;
let callbackUrl: string;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  await useOwnTable();
  ({ url: callbackUrl } = await openReceiver());
  ({ organizationId } = await openWebhook(callbackUrl));
  await openWallet(0, organizationId);
  await adjust(1_000_000);
});

async function adjust(amountMicros: number): Promise<void> {
  const reference = randomUUID();
  await adjustWallet({ organizationId, type: "correction", amountMicros, reason: "test", reference });
}

async function send(): Promise<void> {
  await sendFor(organizationId, { to: "15005550100", message: "Hello Lovelace", reference: "Lovelace" });
}

/** Adds another member and an invitation to the organization. */
async function haveMembers(): Promise<void> {
  const [userId, invitedId] = ["usr_01J00000000000000000000001", "usr_01J00000000000000000000002"];
  const member = { id: userId, organizationId, email: "bob.lovelace@example.com", createdAt: "2026-01-01" };
  await putItem(insertMember(organizationId, userId, "owner"));
  await putItem(putOf(keys.user(userId), { entity: "user", ...member }));
  await putItem(putOf(keys.email(member.email), { entity: "email", userId }));
  await putItem(putFirstPassword(userId, "hash"));
  const invitation: InvitationRecord = {
    entity: "invitation",
    userId: invitedId,
    organizationId,
    email: "carol.lovelace@example.com",
    role: "viewer",
    invitedBy: ownerId,
    createdAt: "2026-01-01",
    validUntil: "2026-01-08",
  };
  await putItem(insertInvitedEmail(invitation));
  await putItem(putOf(keys.invitation(invitedId), invitation));
  await putItem(putUnchecked(keys.emailToken(invitedId, "invitation"), { entity: "emailToken" }));
}

/** Adds a record of each kind to the organization. */
async function useEverything(): Promise<void> {
  const user = { id: ownerId, organizationId, email, createdAt: "2026-01-01" };
  await putItem(putOf(keys.user(ownerId), { entity: "user", ...user }));
  await putItem(insertMember(organizationId, ownerId, "owner"));
  await putItem(putFirstPassword(ownerId, "hash"));
  await putItem(putUnchecked(keys.secondFactor(ownerId), { entity: "secondFactor" }));
  await putItem(putUnchecked(keys.emailToken(ownerId, "reset"), { entity: "emailToken" }));
  await haveMembers();
  await putItem(putOf(keys.email(email), { entity: "email", userId: ownerId }));
  const apiKey = { entity: "apiKey", id: "key_1", organizationId, secretHash: "0123" };
  await putItem(putUnchecked(keys.apiKeyOfOrganization(organizationId, "key_1"), apiKey));
  await putItem(putUnchecked(keys.apiKey("0123"), { entity: "credential", keyId: "key_1", organizationId }));
  await createTemplate(organizationId, { name: "greeting", body: "Hello {{firstName}}" });
  await createContact(
    organizationId,
    CreateContactRequest.parse({ phoneNumber: "15005550100", firstName: "Lovelace" }),
  );
  await putItem(insertRights(organizationId, ownerId));
  await submitKyc(organizationId, { businessName: "Lovelace's shop" });
  await createSenderId(organizationId, { senderId: "LOVELACE" });
  await updateItem(z.unknown(), takeName(organizationId, "LOVELACE"));
  await putItem(putUnchecked(keys.session(ownerId, "ses_1"), { entity: "session" }));
  await putItem(putUnchecked(keys.sessionUse(ownerId, "ses_1"), { entity: "sessionUse" }));
  await putItem(
    putUnchecked(keys.apiKeyUse(organizationId, "key_1"), { entity: "apiKeyUse", keyId: "key_1" }),
  );
  await replacePriceOverrides({ id: organizationId }, priceRows({ "44": 40_000 }));
  await blockDestination({ prefix: "44", organizationId }, "Lovelace's ticket");
  const campaign = { name: "spring", message: "Hello", senderId: "ACME", audience: { all: true } };
  await createCampaign(organizationId, CreateCampaignRequest.parse(campaign));
  const scheduledAt = new Date(Date.now() + 60 * minuteMs).toISOString();
  await createCampaign(organizationId, CreateCampaignRequest.parse({ ...campaign, scheduledAt }));
  await runAll(await beginExport(organizationId, { contacts: {} }));
  await send();
  await holdMessage(organizationId, "15005550100");
  await dispatchWebhook({ ...eventJob(organizationId), callbackUrl });
  await rotateWebhookSecret(ownerOf(organizationId), "callbacks");
  const details = { name: "Lovelace's shop" };
  const { numbers } = dayShardOf(organizationId, "2031-03-01", 2);
  await putItem(putUnchecked(keys.sentTo(numbers, "", "2031-03-01", ""), { entity: "sentTo" }));
  await putItem(putUnchecked(keys.billing(organizationId), { entity: "billing", details }));
  const buyer = { name: "Lovelace's shop" };
  const payment = {
    entity: "payment",
    provider: "manual",
    status: "pending",
    pendingWork: "PAYMENT#0",
    buyer,
  };
  await putItem(putUnchecked(keys.payment(organizationId, "pay_1"), payment));
  await putItem(putUnchecked(keys.invoice(organizationId, "INV-2026-000001"), { entity: "invoice" }));
}

/** Closes the wallet, withdraws its balance, and lets the ledger be settled. */
async function wind(): Promise<void> {
  await closeWallet(organizationId, "test");
  const { balanceMicros } = await readWallet(organizationId);
  if (balanceMicros > 0) await adjust(-balanceMicros);
  advance(graceMs + minuteMs);
  await reconcileWallet(organizationId);
}

/** Repeats an erasure that crashes after `everyItems` items, until it is complete. */
async function eraseWithCrashes(everyItems: number): Promise<ErasedOrganization> {
  for (;;) {
    try {
      return await eraseOrganization(organizationId, (erased) => {
        if (erased >= everyItems) throw new Error("it was ended");
      });
    } catch (error) {
      // It was ended after the last item.
      if (
        error instanceof RejectedError &&
        error.message.startsWith("The organization has already been erased")
      ) {
        return { erased: 0, messagesLeft: 0 };
      }
      if (!(error instanceof Error && error.message === "it was ended")) throw error;
    }
  }
}

/** The key families of what is left, except rows that live for a day. */
async function familiesLeft(): Promise<Set<string | undefined>> {
  const rows = await allRows();
  const families = rows.map(({ pk }) => String(pk).split("#")[0]);
  // Idempotency rows and counts of a day expire, and the sealing keys belong to the stage.
  const others = new Set(["IDEMPOTENCY", "LIMIT", "SEALING_KEYS"]);
  return new Set(families.filter((family = "") => !others.has(family)));
}

it.each([1_000, 4])(
  "only wallet, ledger, references, payments and invoices are left, in order, also when it crashes after each %s items",
  async (everyItems) => {
    await useEverything();
    await wind();
    const families = await familiesLeft();
    const erased =
      "USER EMAIL KEY ORG MESSAGES CONTACTS TEMPLATES CAMPAIGNS CREDENTIALS PRICES MEMBERS INVITATION KYC RIGHTS " +
      "EMAIL_TOKEN REVIEWS DELIVERIES HELD INFLIGHT WEBHOOK_SECRETS SENDER KEY_USES SESSIONS SESSION_USES STATS BILLING SENT_TO";
    expect([...families]).toEqual(expect.arrayContaining(erased.split(" ")));
    expect(await eraseWithCrashes(everyItems)).toMatchObject({ messagesLeft: 0 });
    // The scheduled jobs are deleted when they are due, and find nothing to do.
    const books = ["WALLET", "WALLETS", "LEDGER", "REFERENCE", "PAYMENTS", "INVOICES", "MARGINS"];
    expect(await familiesLeft()).toEqual(new Set(["DUE", ...books]));
    expect(JSON.stringify(await allRows())).not.toMatch(/lovelace|15005550100|hello/i);
    expect(await verifyWallet(organizationId)).toMatchObject({ findings: [], pending: [], entries: 3 });
    expect((await reconcileWallet(organizationId))?.inconsistencies).toBe(0);
  },
);

it.each([1_000, 4])(
  "the carrier costs of the last day get into the books, also when it crashes after each %s items",
  async (everyItems) => {
    const month = new Date().toISOString().slice(0, "yyyy-mm".length);
    await putSent(organizationId, 6, { costMicros: 100, carrier: "aws" });
    const unreadable = messageKey(sentMessage(organizationId));
    recordLog();
    await putItem(putUnchecked(unreadable, { entity: "message", status: "sent" }));
    await acceptFor(organizationId, { scheduledAt: new Date(Date.now() + 600 * minuteMs).toISOString() });
    await wind();
    await eraseWithCrashes(everyItems);
    await inAllShards(closeDays);
    const { end } = periodOf(month);
    await settleAll(new Date(Date.parse(end) + dayMs).toISOString(), [organizationId]);
    expect(await closeBooks(month, closing)).toMatchObject({ costMicros: 600, openDays: 0 });
  },
);

it("a wallet that is open, has money or is not settled keeps all data", async () => {
  await send();
  const before = (await allRows()).length;
  const erase = async (): Promise<unknown> => eraseOrganization(organizationId);
  await expect(erase()).rejects.toThrow("run wallets close first");
  await closeWallet(organizationId, "test");
  await expect(erase()).rejects.toThrow("The wallet still has 0.992100 USD: run wallets debit first");
  await adjust(-992_100);
  await expect(erase()).rejects.toThrow("not settled yet");
  // The debit has its entry and its reference.
  expect((await allRows()).length).toBe(before + 2);
});

it.each([
  ["an open checkout", { provider: "stripe", status: "pending", pendingWork: "PAYMENT#0" }],
  ["a refund that may fail", { provider: "stripe", status: "succeeded", pendingWork: "PAYMENT#0" }],
])("an organization whose payment has %s keeps all data until it has ended", async (_, payment) => {
  await wind();
  const key = keys.payment(organizationId, "pay_1");
  await putItem(putUnchecked(key, { entity: "payment", ...payment }));
  const before = await allRows();
  await expect(eraseOrganization(organizationId)).rejects.toThrow(
    /^The payment pay_1 has not ended: .* Run payments show pay_1/,
  );
  expect(await allRows()).toEqual(before);
  await updateItem(z.unknown(), updateOf(key, { set: { status: "failed" }, remove: ["pendingWork"] }));
  expect(await eraseOrganization(organizationId)).toMatchObject({ messagesLeft: 0 });
});

it("a message that is still to be sent stays with its organization until it has ended", async () => {
  const scheduledAt = new Date(Date.now() + 600 * minuteMs).toISOString();
  const { messageId } = await acceptFor(organizationId, { scheduledAt });
  await send();
  await wind();
  expect(await eraseOrganization(organizationId)).toMatchObject({ messagesLeft: 1 });
  expect(await familiesLeft()).toEqual(
    new Set(["ORG", "MESSAGES", "DUE", "WALLET", "WALLETS", "LEDGER", "REFERENCE", "MARGINS"]),
  );
  await cancelMessage(ownerOf(organizationId), messageId);
  await expect(eraseOrganization(organizationId)).rejects.toThrow("run wallets debit first");
  await wind();
  expect(await eraseOrganization(organizationId)).toMatchObject({ messagesLeft: 0 });
  expect(await familiesLeft()).toEqual(
    new Set(["DUE", "WALLET", "WALLETS", "LEDGER", "REFERENCE", "MARGINS"]),
  );
  expect(await verifyWallet(organizationId)).toMatchObject({ findings: [], pending: [] });
  await expect(eraseOrganization(organizationId)).rejects.toThrow("The organization has already been erased");
});
