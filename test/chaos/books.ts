import * as z from "zod";

import { CampaignRecord } from "../../shared/campaigns/record.ts";
import { MessageRecord } from "../../shared/messages/record.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { findItem, queryItems } from "../../shared/platform/table/table.ts";
import { readLedger, type LedgerEntryRecord } from "../../shared/wallet/ledger.ts";
import { readWallet, type WalletRecord } from "../../shared/wallet/record.ts";
import { DeliveryRecord } from "../../shared/webhooks/delivery-record.ts";
import type { Tenant } from "./traffic.ts";

const limit = 100_000;

/** All that the table holds of an organisation. */
export interface Books {
  readonly wallet: WalletRecord;
  readonly ledger: readonly LedgerEntryRecord[];
  readonly messages: readonly MessageRecord[];
  readonly campaigns: readonly CampaignRecord[];
  readonly deliveries: readonly DeliveryRecord[];
}

export async function readBooks({ organizationId, webhook }: Tenant): Promise<Books> {
  const wallet = await readWallet(organizationId);
  const all = { limit, consistent: true };
  return {
    wallet,
    ledger: await readLedger(organizationId, { from: 1, to: wallet.seq, limit }),
    messages: await queryItems(MessageRecord, { pk: keys.message(organizationId, "").pk, ...all }),
    campaigns: await queryItems(CampaignRecord, { pk: keys.campaign(organizationId, "").pk, ...all }),
    deliveries:
      webhook === undefined
        ? []
        : await queryItems(DeliveryRecord, { pk: keys.webhookDelivery(webhook.id, "").pk, ...all }),
  };
}

/** What still has to happen to an organisation's messages, campaigns, wallet and webhook calls, in words. */
export function openEnds({ wallet, messages, campaigns, deliveries }: Books): string[] {
  return [
    ...messages.filter(({ status }) => status === "queued").map(({ id }) => `${id} is queued`),
    ...messages.filter(({ refund }) => refund === "due").map(({ id }) => `${id} is not refunded`),
    ...campaigns
      .filter(({ status }) => status === "scheduled" || status === "sending")
      .map(({ id }) => `${id} is not completed`),
    ...deliveries.filter(({ state }) => state === "pending").map(({ id }) => `${id} is pending`),
    ...(wallet.settledSeq === wallet.seq ? [] : ["the wallet is not settled"]),
  ];
}

const SandboxRecord = z.object({ calls: z.int() });

/** How often the carrier was handed a message. */
export async function carrierCalls(messageId: string): Promise<number> {
  const record = await findItem(SandboxRecord, keys.sandboxMessage(messageId), { consistent: true });
  return record?.calls ?? 0;
}
