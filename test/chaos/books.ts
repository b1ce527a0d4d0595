import { DynamoDBClient, paginateScan } from "@aws-sdk/client-dynamodb";

import { CampaignRecord } from "../../shared/audience/campaigns/record.ts";
import { readCounts, type CountsRecord } from "../../shared/messages/counts/counts.ts";
import { MessageRecord } from "../../shared/messages/message/record.ts";
import { readLedger, type LedgerEntryRecord } from "../../shared/money/wallet/ledger.ts";
import { readWallet, type WalletRecord } from "../../shared/money/wallet/record.ts";
import { epochSeconds } from "../../shared/platform/clock.ts";
import { config } from "../../shared/platform/config.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { firstItems } from "../../shared/platform/table/lists.ts";
import { queryItems } from "../../shared/platform/table/read.ts";
import {
  countersOf,
  daySortKey,
  messageKey,
  messagesOf,
  withAllShards,
} from "../../shared/platform/table/shards.ts";
import { deleteItem } from "../../shared/platform/table/write.ts";
import { DeliveryRecord } from "../../shared/webhooks/delivery-record.ts";
import type { Tenant } from "./traffic.ts";

const limit = 100_000;

/** All records of an organization in the table. */
export interface Books {
  readonly wallet: WalletRecord;
  readonly ledger: readonly LedgerEntryRecord[];
  /** The messages that count: the ledger has an entry for each. */
  readonly messages: readonly MessageRecord[];
  /** The messages of functions that were killed before they wrote the ledger entry. */
  readonly unpaidMessages: readonly MessageRecord[];
  readonly campaigns: readonly CampaignRecord[];
  readonly deliveries: readonly DeliveryRecord[];
  /** The counters of its days. */
  readonly days: readonly CountsRecord[];
}

export async function readBooks({ organizationId, webhook }: Tenant): Promise<Books> {
  const wallet = await readWallet(organizationId);
  const all = { limit, consistent: true };
  const ledger = await readLedger(wallet, { from: 1, to: wallet.seq, limit });
  const paidIds = new Set(ledger.map(({ messageId }) => messageId));
  const stored = await storedMessages(organizationId);
  return {
    wallet,
    ledger,
    messages: stored.filter(({ id }) => paidIds.has(id)),
    unpaidMessages: stored.filter(({ id }) => !paidIds.has(id)),
    campaigns: await queryItems(CampaignRecord, { pk: keys.campaign(organizationId, "").pk, ...all }),
    deliveries:
      webhook === undefined
        ? []
        : await queryItems(DeliveryRecord, { pk: keys.webhookDelivery(webhook.id, "").pk, ...all }),
    days: await readCounts({
      pk: countersOf(withAllShards(organizationId)),
      from: daySortKey("0"),
      to: daySortKey("9"),
    }),
  };
}

async function storedMessages(organizationId: string): Promise<MessageRecord[]> {
  const list = { pk: messagesOf(withAllShards(organizationId)), consistent: true };
  return firstItems(MessageRecord, list, limit);
}

/** Deletes the expired messages, as DynamoDB's TTL does. */
export async function expireMessages({ organizationId }: Tenant, at: Date): Promise<void> {
  const stored = await storedMessages(organizationId);
  const expired = stored.filter(({ expiresAt = Infinity }) => expiresAt < epochSeconds(at));
  await Promise.all(expired.map(async ({ id }) => deleteItem(messageKey({ organizationId, id }))));
}

/** The unfinished messages, campaigns, wallet and webhook calls of an organization, in words. */
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

/** The number of submissions to the sandbox carrier of each message that it knows. */
export async function readCarrier(): Promise<Map<string, number>> {
  const client = new DynamoDBClient({});
  const pages = paginateScan(
    { client },
    {
      TableName: config.tableName(),
      FilterExpression: "begins_with(pk, :sandbox)",
      ExpressionAttributeValues: { ":sandbox": { S: keys.sandboxMessage("").pk } },
      ConsistentRead: true,
    },
  );
  const calls = new Map<string, number>();
  for await (const { Items = [] } of pages) {
    for (const { pk, calls: count } of Items) {
      calls.set(pk?.S?.slice(keys.sandboxMessage("").pk.length) ?? "", Number(count?.N));
    }
  }
  client.destroy();
  return calls;
}
