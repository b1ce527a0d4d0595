import * as z from "zod/mini";

import { ApiError } from "../../api/contract/errors.ts";
import { dayOf } from "../clock.ts";
import { isTestId, shardIndex } from "../ids.ts";
import { keys, ledgerSortKey, type Key } from "./keys.ts";
import { findItem } from "./read.ts";
import { updateItem, updateOf } from "./write.ts";

/*
 * An organization's messages, ledger entries, and counters, margins and usage of days are in up to eight shards. Each shard has
 * partitions of its own, because one partition accepts 1,000 write units a second. Only this file knows the shards. Other code
 * gets the keys here, and reads the partitions as one list (`lists.ts`).
 *
 * The end of a message's id names its shard: a digit, or none for the first shard. Its day's counter, margins and
 * usage are in the same shard. The seq of a ledger entry determines its shard.
 */

export const maxShards = 8;

/** The fields of a wallet that hold its organization's shards, because code that places or lists messages has read the wallet. */
export const shardFields = {
  /** The number of shards from a seq of the ledger on, in order; one before the first. New messages use the last number, once an instance knows it: see `place.ts`. */
  ledgerParts: z.array(z.object({ fromSeq: z.int(), parts: z.int().check(z.gte(1), z.lte(maxShards)) })),
};

const Sharded = z.object({ organizationId: z.string(), ...shardFields });

/** An organization with its shards: its wallet has the fields. */
export type Sharded = z.infer<typeof Sharded>;

/** The shards of a new organization. */
export const oneShard: Omit<Sharded, "organizationId"> = { ledgerParts: [] };

/** Returns an organization with its shards, without the other fields of its wallet. */
export function shardsIn({ organizationId, ledgerParts }: Sharded): Sharded {
  return { organizationId, ledgerParts };
}

/** Returns an organization with all shards that it can have, for callers that have not read its wallet. */
export function withAllShards(organizationId: string): Sharded {
  return { organizationId, ledgerParts: [{ fromSeq: 0, parts: maxShards }] };
}

const WalletShards = z.extend(Sharded, { seq: z.int() });

/**
 * Sets the number of shards for an organization's new messages and ledger entries. Existing items stay where they are, so the
 * number can only grow.
 * @param leadSeqs how many entries the ledger writes before the change, so that debits in flight use the same shards
 * @throws ApiError CONFLICT when there are more already; WALLET_MISSING; UNAVAILABLE when more entries came meanwhile
 */
export async function reshard(organizationId: string, count: number, leadSeqs = 10_000): Promise<void> {
  const key = keys.wallet(organizationId);
  const wallet = await findItem(WalletShards, key, { consistent: true });
  if (wallet === undefined) throw new ApiError("WALLET_MISSING");
  if (shardCount(wallet) > count) {
    throw new ApiError("CONFLICT", { message: "The organization has more shards already." });
  }
  if (shardCount(wallet) === count) return;
  const fromSeq = wallet.seq + leadSeqs;
  const resharded = await updateItem(
    WalletShards,
    updateOf(
      key,
      { set: { ledgerParts: [...wallet.ledgerParts, { fromSeq, parts: count }] } },
      { is: { ledgerParts: wallet.ledgerParts }, below: { seq: fromSeq } },
    ),
    { isOwn: (found) => shardCount(found) === count },
  );
  if (!resharded.applied) throw new ApiError("UNAVAILABLE");
}

/** Returns the id of a new message with the digit of its shard, which its last random character determines. */
export function idInShard(sharded: Sharded, messageId: string): string {
  return `${messageId}${shardName(shardIndex(shardCount(sharded), messageId))}`;
}

export function messageKey({ organizationId, id }: { organizationId: string; id: string }): Key<"message"> {
  if (isTestId(id)) return { pk: testMessagesOf(organizationId), sk: id };
  return { pk: partition("MESSAGES", organizationId, nameInId(id)), sk: id };
}

/** Returns the one partition of an organization's test messages. */
export function testMessagesOf(organizationId: string): string {
  return `MESSAGES#test#${organizationId}`;
}

/** Returns the partitions of an organization's messages, without test messages. */
export function messagesOf(sharded: Sharded): string[] {
  return partitions("MESSAGES", sharded);
}

export function ledgerKey({ organizationId, ledgerParts }: Sharded, seq: number): Key<"ledgerEntry"> {
  const count = ledgerParts.findLast(({ fromSeq }) => fromSeq <= seq)?.parts ?? 1;
  return { pk: partition("LEDGER", organizationId, shardName(seq % count)), sk: ledgerSortKey(seq) };
}

/** Returns the partitions of an organization's ledger. */
export function ledgerOf(sharded: Sharded): string[] {
  return partitions("LEDGER", sharded);
}

/** The partitions of one shard. */
export interface Shard {
  readonly messages: string;
  readonly counters: string;
  /** The partition of the number index. */
  readonly numbers: string;
}

/** Returns the shards of an organization. */
export function shardsOf(sharded: Sharded): Shard[] {
  return shardNames(sharded).map((name) => ({
    messages: partition("MESSAGES", sharded.organizationId, name),
    counters: partition("STATS", sharded.organizationId, name),
    numbers: partition("SENT_TO", sharded.organizationId, name),
  }));
}

/** The items of one day in one shard. */
export interface DayShard extends Pick<Shard, "messages" | "numbers"> {
  readonly organizationId: string;
  readonly day: string;
  /** The key of their counter. */
  readonly counter: Key<"counts">;
  /** The key of their margins. */
  readonly margins: Key<"margins">;
  /** The key of their usage. */
  readonly usage: Key<"usage">;
}

function dayShard(organizationId: string, day: string, shard: string): DayShard {
  const pk = partition("STATS", organizationId, shard);
  return {
    organizationId,
    day,
    messages: partition("MESSAGES", organizationId, shard),
    numbers: partition("SENT_TO", organizationId, shard),
    counter: { pk, sk: daySortKey(day) },
    usage: { pk, sk: usageSortKey(day) },
    margins: { pk: marginsOfDay(day), sk: `${organizationId}${suffix(shard)}` },
  };
}

/** Returns the shards of an organization on a day. The first one's counter also has the wallet's count of the day. */
export function shardsOfDay(sharded: Sharded, day: string): readonly [DayShard, ...DayShard[]] {
  const [, ...others] = shardNames(sharded);
  const shard = (name: string): DayShard => dayShard(sharded.organizationId, day, name);
  return [shard(""), ...others.map(shard)];
}

/** Returns the shard of a day by the key of its counter. */
export function shardOfCounter({ pk, sk }: Key): DayShard {
  const [, organizationId = "", shard = ""] = pk.split("#");
  return dayShard(organizationId, sk.slice(daySortKey("").length), shard);
}

/** Returns the shard of a message on the day on which it was accepted. */
export function shardOf({
  organizationId,
  queuedAt,
  id,
}: {
  readonly organizationId: string;
  readonly queuedAt: string;
  readonly id: string;
}): DayShard {
  return dayShard(organizationId, dayOf(queuedAt), nameInId(id));
}

/** Returns the partitions of an organization's counters and usage. The counters of campaigns are in the first one. */
export function countersOf(sharded: Sharded): string[] {
  return partitions("STATS", sharded);
}

/** Returns the sort key of a day's counter. */
export function daySortKey(day: string): string {
  return `DAY#${day}`;
}

/** Returns the sort key of a day's usage. */
export function usageSortKey(day: string): string {
  return `USAGE#${day}`;
}

/** Returns the partition of a day's margins of all organizations. */
export function marginsOfDay(day: string): string {
  return `MARGINS#${day}`;
}

function shardCount({ ledgerParts }: Pick<Sharded, "ledgerParts">): number {
  return ledgerParts.at(-1)?.parts ?? 1;
}

function shardNames(sharded: Sharded): string[] {
  return Array.from({ length: shardCount(sharded) }, (_, index) => shardName(index));
}

function shardName(index: number): string {
  return index === 0 ? "" : String(index);
}

const idLength = "msg_".length + 26;

function nameInId(messageId: string): string {
  return messageId.slice(idLength);
}

type Family = "LEDGER" | "MESSAGES" | "SENT_TO" | "STATS";

function partitions(family: Family, sharded: Sharded): string[] {
  return shardNames(sharded).map((shard) => partition(family, sharded.organizationId, shard));
}

function partition(family: Family, organizationId: string, shard: string): string {
  return `${family}#${organizationId}${suffix(shard)}`;
}

function suffix(shard: string): string {
  return shard === "" ? "" : `#${shard}`;
}
