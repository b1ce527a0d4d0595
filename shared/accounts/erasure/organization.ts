import * as z from "zod/mini";

import { messagesOfDay, recount } from "../../messages/counts/recount.ts";
import { releaseNumbersOf } from "../../messages/numbers/record.ts";
import { deleteName } from "../../messages/sender-ids/names.ts";
import { moneyText } from "../../money/wallet/money.ts";
import { readWallet } from "../../money/wallet/record.ts";
import { now } from "../../platform/clock.ts";
import { RejectedError } from "../../platform/rejected-error.ts";
import { field } from "../../platform/table/expressions.ts";
import { keys, type Key } from "../../platform/table/keys.ts";
import { forEachOf, itemsIn } from "../../platform/table/lists.ts";
import {
  countersOf,
  messagesOf,
  shardOfCounter,
  shardsOf,
  testMessagesOf,
  withAllShards,
} from "../../platform/table/shards.ts";
import { transact } from "../../platform/table/transact.ts";
import { deleteItem, updateItem, updateOf } from "../../platform/table/write.ts";
import { findUser } from "../../tenancy/users/record.ts";
import { deleteVerifications } from "../../verifications/erase.ts";
import { callbacksOf } from "../../webhooks/callbacks.ts";
import { deleteCalls } from "../../webhooks/in-flight-calls.ts";
import type { WebhookRecord } from "../../webhooks/record.ts";

/*
 * Erases all items of an organization, except its wallet, ledger, payments with their references, invoices, and sums of days.
 * These are the operator's books, which the law requires: ids, amounts, the operator's own texts, and buyers on invoices.
 * An item is deleted before the items that lead to it, and the organization's record is deleted last. The next erasure can
 * therefore finish an interrupted one.
 */

/** An item as it is stored. Items that do not match their schema are erased as well. */
const Stored = z.looseObject({ pk: z.string(), sk: z.string(), entity: z.optional(z.string()) });
type Stored = z.infer<typeof Stored>;

const StoredMessage = z.extend(Stored, {
  status: z.optional(z.string()),
  refund: z.optional(z.string()),
  expiresAt: z.optional(z.number()),
});

export interface ErasedOrganization {
  /** The deleted items. */
  readonly erased: number;
  /**
   * The messages that are still to be sent or refunded, and the verifications whose fee is to be returned. While there are any,
   * the organization's record stays.
   */
  readonly messagesLeft: number;
}

/**
 * Erases an organization. Its wallet has to be closed, empty and settled, so that nothing is owed to it and no more
 * messages are accepted. Its payments must have ended.
 * @param onProgress receives the number of deleted items
 * @throws Error with a message for the operator otherwise; ApiError WALLET_MISSING, UNAVAILABLE
 */
export async function eraseOrganization(
  organizationId: string,
  onProgress: (erased: number) => void = () => undefined,
): Promise<ErasedOrganization> {
  const payment = await findOpenPayment(organizationId);
  if (payment !== undefined) {
    throw new RejectedError(
      `The payment ${payment} has not ended: its checkout, refund or dispute is open. Run payments show ${payment}, and ` +
        "erase the organization when it has ended.",
    );
  }
  await begin(organizationId);
  await releaseNumbersOf(organizationId);
  let erased = 0;
  let messagesLeft = 0;
  const erase = async (...each: readonly Key[]): Promise<void> => {
    for (const { pk, sk } of each) await deleteItem({ pk, sk });
    erased += each.length;
    onProgress(erased);
  };
  await forEachOf(Stored, keys.member(organizationId, "").pk, async (membership) => {
    await eraseUser(String(membership["userId"]), erase);
    await erase(membership);
  });
  const sharded = withAllShards(organizationId);
  // The carrier costs of the last days get into the books by their margins, which stay.
  const counters = { pk: countersOf(sharded), consistent: true };
  for await (const { pk, sk, pendingWork } of itemsIn(Stored, counters)) {
    if (pendingWork === undefined) continue;
    while ((await recount({ ...messagesOfDay(shardOfCounter({ pk, sk })), isLast: true })) === "unfinished");
  }
  const partitions = [...messagesOf(sharded), testMessagesOf(organizationId)];
  await forEachOf(StoredMessage, partitions, async (message) => {
    if (isAtItsEnd(message)) await erase(message);
    else messagesLeft += 1;
  });
  messagesLeft += await deleteVerifications(organizationId);
  const plain = [
    keys.campaign(organizationId, "").pk,
    keys.contact(organizationId, "").pk,
    keys.optOut(organizationId, "").pk,
    keys.inbound(organizationId, "").pk,
    keys.conversation(organizationId, "").pk,
    keys.testConversations(organizationId),
    keys.testInbound(organizationId),
    keys.heldMessage(organizationId, "").pk,
    keys.recentStarts(organizationId, "").pk,
    keys.template(organizationId, "").pk,
    keys.export(organizationId, "").pk,
    keys.apiKeyUse(organizationId, "").pk,
    keys.priceOverrides(organizationId).pk,
    keys.billing(organizationId).pk,
    ...countersOf(sharded),
    ...shardsOf(sharded).map(({ numbers }) => numbers),
  ];
  await forEachOf(Stored, plain, async (item) => erase(item));
  await forEachOf(Stored, keys.blockedDestination("").pk, async (item) => {
    if (item["organizationId"] === organizationId) await erase(item);
  });
  // Invoices keep their buyers, and failed payments need none. An announced transfer expires.
  const expired = {
    set: { status: "expired" },
    add: { version: 1 },
    remove: ["buyer", "pendingWork", "visitAt"],
  } as const;
  const withoutBuyer = { remove: ["buyer"] } as const;
  await forEachOf(Stored, keys.payment(organizationId, "").pk, async ({ sk: id, buyer, status }) => {
    const changes = status === "pending" ? expired : buyer === undefined ? undefined : withoutBuyer;
    if (changes === undefined) return;
    await updateItem(Stored, updateOf(keys.payment(organizationId, id), changes));
  });
  await forEachOf(Stored, keys.kyc(organizationId).pk, async (item) => erase(...namedBy(item), item));
  for (const isTest of [false, true]) await eraseCallbacks(callbacksOf(organizationId, isTest), erase);
  const { pk, sk } = keys.organization(organizationId);
  await forEachOf(Stored, pk, async (item) => {
    if (item.entity === "webhook") await eraseCallsOf(item, erase);
    if (item.entity === "senderId") await deleteName(organizationId, String(item["senderId"]));
    if (item.sk !== sk) await erase(...namedBy(item), item);
  });
  if (messagesLeft === 0) {
    await erase(keys.rights(organizationId));
    await erase({ pk, sk });
    // Events may have arrived meanwhile. From here on, no call of them is stored.
    for (const isTest of [false, true]) await eraseCallbacks(callbacksOf(organizationId, isTest), erase);
  }
  return { erased, messagesLeft };
}

/**
 * Returns the id of a payment that can still move money of the wallet. An announced transfer cannot: only the operator
 * records it.
 */
export async function findOpenPayment(organizationId: string): Promise<string | undefined> {
  const { pk } = keys.payment(organizationId, "");
  for await (const { sk, pendingWork, provider, status } of itemsIn(Stored, { pk, consistent: true })) {
    const isAnnounced = provider === "manual" && status === "pending";
    if (pendingWork !== undefined && !isAnnounced) return sk;
  }
  return undefined;
}

/** Suspends the organization, so that nothing more is added, and notes in the wallet that the messages are erased. */
async function begin(organizationId: string): Promise<void> {
  const at = now().toISOString();
  const begun = await transact({
    organization: updateOf(
      keys.organization(organizationId),
      { setIfAbsent: { suspendedAt: at, suspendedReason: "erased" } },
      { present: ["pk"] },
    ),
    wallet: updateOf(
      keys.wallet(organizationId),
      { setIfAbsent: { erasedAt: at } },
      { is: { balanceMicros: 0, settledSeq: field("seq") }, present: ["closedAt"] },
    ),
  });
  if (begun.outcome === "committed") return;
  const { closedAt, balanceMicros, settledSeq, seq } = await readWallet(organizationId);
  if (closedAt === undefined) throw new RejectedError("The wallet is not closed: run wallets close first.");
  if (balanceMicros > 0) {
    throw new RejectedError(`The wallet still has ${moneyText(balanceMicros)}: run wallets debit first.`);
  }
  if (balanceMicros < 0) {
    throw new RejectedError(`The wallet is at ${moneyText(balanceMicros)}: run wallets credit first.`);
  }
  if (settledSeq < seq)
    throw new RejectedError("The ledger is not settled yet: try again in twenty minutes.");
  throw new RejectedError("The organization has already been erased.");
}

/**
 * Whether a message is final. A queued message that expires, beside a settled ledger, was never paid for, and no sender
 * sends it.
 */
function isAtItsEnd({ status, refund, expiresAt }: z.infer<typeof StoredMessage>): boolean {
  return refund !== "due" && (status !== "queued" || expiresAt !== undefined);
}

async function eraseCallsOf(
  { sk, organizationId, url }: Stored,
  erase: (...each: readonly Key[]) => Promise<void>,
): Promise<void> {
  const id = sk.slice("WEBHOOK#".length);
  await forEachOf(Stored, keys.webhookDelivery(id, "").pk, async (delivery) => erase(delivery));
  if (typeof organizationId !== "string" || typeof url !== "string") return;
  await erase(keys.webhookSecrets(organizationId, id));
  await deleteCalls({ id, organizationId, url });
}

async function eraseCallbacks(
  { id, organizationId }: WebhookRecord,
  erase: (...each: readonly Key[]) => Promise<void>,
): Promise<void> {
  await forEachOf(Stored, keys.webhookDelivery(id, "").pk, async ({ url, ...delivery }) => {
    if (typeof url === "string") await deleteCalls({ id, organizationId, url });
    await erase(delivery);
  });
  await deleteItem(keys.webhookSecrets(organizationId, id));
}

/** Returns the keys of the items that belong to an item of an organization. */
function namedBy({ entity, id, secretHash }: Stored): Key[] {
  if (entity === "apiKey" && typeof secretHash === "string") return [keys.apiKey(secretHash)];
  if (entity === "kyc") return [keys.review("kyc", String(id))];
  if (entity === "senderId") return [keys.review("sender-ids", String(id))];
  return [];
}

/** Erases all items of a user or of an invited person. The item that leads to the others is deleted last. */
async function eraseUser(userId: string, erase: (...each: readonly Key[]) => Promise<void>): Promise<void> {
  const user = await findUser(userId, { consistent: true });
  // The email of a removed user is free, and may belong to another user by now.
  if (user !== undefined && user.removedAt === undefined) await erase(keys.email(user.email));
  for (const { pk } of [
    keys.password(userId),
    keys.session(userId, ""),
    keys.sessionUse(userId, ""),
    keys.emailToken(userId, ""),
    keys.invitation(userId),
    keys.user(userId),
  ]) {
    await forEachOf(Stored, pk, async (item) => erase(item));
  }
}
