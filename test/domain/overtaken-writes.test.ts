import { beforeEach, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { launchCampaign } from "../../shared/audience/campaigns/launch.ts";
import { pauseCampaign } from "../../shared/audience/campaigns/pause.ts";
import { runCampaign } from "../../shared/audience/campaigns/run.ts";
import { createContact } from "../../shared/audience/contacts/contacts.ts";
import { runExport } from "../../shared/figures/exports/run.ts";
import { decideHeldMessage } from "../../shared/messages/accept/decide-held.ts";
import { unpaid } from "../../shared/money/payments/provider.ts";
import { setAutoRecharge } from "../../shared/money/payments/recharge.ts";
import { stripeProvider } from "../../shared/money/payments/stripe.ts";
import { rateCardCache } from "../../shared/money/prices/current.ts";
import { publishRateCard } from "../../shared/money/prices/publish.ts";
import { findCurrentVersion } from "../../shared/money/prices/record.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { TransactWriteCommand } from "../../shared/platform/aws/dynamodb.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { reserveToday, usesToday } from "../../shared/platform/limits/daily.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { completeEnding } from "../../shared/verifications/end.ts";
import { findVerification } from "../../shared/verifications/record.ts";
import { holdMessage } from "../support/as-organization.ts";
import { messagesIn } from "../support/batches.ts";
import { createCampaignTo } from "../support/campaigns.ts";
import { advance } from "../support/clock.ts";
import { beginExport, exporterOf, storedExport } from "../support/exports.ts";
import { acceptFor } from "../support/messages.ts";
import { useOwnTable } from "../support/own-table.ts";
import { priceRows } from "../support/prices.ts";
import { haveSavedCards, paymentsIn, setPayments, workOnPayments } from "../support/stored-payments.ts";
import { interceptTableRequests } from "../support/table-requests.ts";
import { sentTexts, setFee, startFor } from "../support/verifications.ts";
import { openOrganization, openWallet, organizationOf } from "../support/wallets.ts";

/*
 * Writes that another call overtakes after their function has read: they change nothing that it decided.
 */

beforeEach(async () => {
  vi.setSystemTime("2039-03-01T12:00:00Z");
  await useOwnTable();
});

async function setPrice(micros: number): Promise<void> {
  await publishRateCard(priceRows({ "44": micros }), await findCurrentVersion());
  rateCardCache.clear();
}

/** Lets `overtake` run before the next transaction that has a text. */
function beforeTransactionWith(text: string, overtake: () => Promise<unknown>): void {
  let isOvertaken = false;
  interceptTableRequests(async (command, send) => {
    const isNext = command instanceof TransactWriteCommand && JSON.stringify(command.input).includes(text);
    if (isNext && !isOvertaken) {
      isOvertaken = true;
      await overtake();
    }
    return send();
  });
}

it("a block of a campaign that a pause overtakes is not recorded", async () => {
  const organizationId = await openOrganization(1_000_000);
  const campaignId = await createCampaignTo(organizationId, 3);
  await launchCampaign(organizationId, campaignId);
  beforeTransactionWith("LEDGER#", async () => pauseCampaign(organizationId, campaignId));
  await runCampaign({ organizationId, campaignId });
  vi.restoreAllMocks();
  expect(await messagesIn(organizationId)).toEqual([]);
  expect((await readWallet(organizationId)).balanceMicros).toBe(1_000_000);
});

it("runs of an export that continue from the same row add it once", async () => {
  const organizationId = await openOrganization(0);
  for (let index = 0; index < 250; index += 1) {
    const fields = { phoneNumber: String(15_006_000_000 + index), optedOut: false, tags: [], attributes: {} };
    await createContact(organizationId, fields);
  }
  const job = await beginExport(organizationId, { contacts: {} });
  const run = async () => runExport(job, () => 0);
  await run();
  const { rows } = await storedExport(job);
  await Promise.all([run(), run(), run()]);
  expect([rows, (await storedExport(job)).rows]).toEqual([100, 200]);
});

it("a recharge that ended after it was read makes no payment", async () => {
  setPayments();
  haveSavedCards();
  vi.spyOn(stripeProvider, "charge").mockResolvedValue({ ...unpaid, status: "pending", currency: "USD" });
  const organizationId = await openWallet(2_000_000);
  const settings = { isEnabled: true, threshold: 2, amount: 20, monthlyCap: 1_000, paymentMethodId: "pm_1" };
  await setAutoRecharge(organizationId, settings);
  await acceptFor(organizationId);
  const end = updateOf(keys.wallet(organizationId), { remove: ["rechargeId"] }, { present: ["pk"] });
  beforeTransactionWith("PAYMENTS#", async () => updateItem(z.unknown(), end));
  await workOnPayments();
  vi.restoreAllMocks();
  expect(await paymentsIn(organizationId)).toEqual([]);
});

it("a person who names more than the record shows does not pay a price that no one has seen", async () => {
  await setPrice(40_000);
  const organizationId = await openOrganization(10_000_000);
  const organization = await organizationOf(organizationId);
  const id = await holdMessage(organizationId, "447700900123");
  await setPrice(80_000);
  const actor = exporterOf(organizationId);
  const decide = async () =>
    decideHeldMessage(
      organization,
      id,
      { approve: true, total: 1 },
      { actor, reportRateLimit: vi.fn<() => void>() },
    );
  await expect(decide()).rejects.toMatchObject({ code: "CONFLICT" });
  expect((await readWallet(organizationId)).balanceMicros).toBe(10_000_000);
  expect(await decide()).toMatchObject({ status: "approved", pricing: { total: 0.08 } });
});

it("a fee is returned once when two jobs of its verification meet", async () => {
  await setFee(50_000);
  const organizationId = await openOrganization(1_000_000);
  const { id: verificationId } = await startFor(organizationId);
  await sentTexts();
  const { validUntil = "" } = (await findVerification(organizationId, verificationId)) ?? {};
  advance(17 * minuteMs);
  const { balanceMicros } = await readWallet(organizationId);
  const complete = async () => completeEnding({ organizationId, verificationId, validUntil });
  beforeTransactionWith("LEDGER#", complete);
  await complete();
  vi.restoreAllMocks();
  await complete();
  expect((await readWallet(organizationId)).balanceMicros).toBe(balanceMicros + 50_000);
});

it("a repeat replaces the reservation that its dead attempt made of another amount", async () => {
  const limit = { name: "key-budget", max: 100 };
  for (const amount of [60, 70, 30]) await reserveToday(limit, "key_1", amount, "msg_1");
  expect(await usesToday("key-budget", "key_1")).toBe(30);
  expect(await reserveToday(limit, "key_1", 80, "msg_2")).toEqual({ left: 70 });
});
