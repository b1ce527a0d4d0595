import {
  ledgerEntry,
  readLedger,
  voidEntry,
  type LedgerEntryRecord,
  type NewLedgerEntry,
} from "../../money/wallet/ledger.ts";
import { postToWallet } from "../../money/wallet/post.ts";
import { watchBalance } from "../../money/wallet/recharge.ts";
import { findWallet, type WalletRecord } from "../../money/wallet/record.ts";
import { graceMs, settleAt, settleWallet } from "../../money/wallet/settlement.ts";
import { dayOf, now } from "../../platform/clock.ts";
import { secondsUntil } from "../../platform/jobs/job.ts";
import { enqueue } from "../../platform/jobs/queue.ts";
import { log } from "../../platform/log.ts";
import { ledgerKey, shardOf, type DayShard } from "../../platform/table/shards.ts";
import { tryTransact } from "../../platform/table/transact.ts";
import { updateItem } from "../../platform/table/write.ts";
import { noteDay } from "../counts/counts.ts";
import { sendJobWithFacts, waitsInTable } from "../message/message-job.ts";
import { readMessages } from "../message/read-together.ts";
import { MessageRecord } from "../message/record.ts";
import { isUnconfirmed, confirm } from "../message/transitions.ts";
import { positionAt, positionBefore, positionAfter, type Position } from "./position.ts";

/*
 * Every debit takes a seq, and every ledger entry has one in its key. So a seq without an entry proves a debit whose
 * message was not recorded, because its function crashed or a response was lost. Credits are transactions and never leave
 * such a gap. The balances before and after the gap show its cost.
 */

/** The number of entries that one pass over a wallet checks. The next pass continues after them. */
const maxEntriesPerPass = 500;

/** DynamoDB accepts 100 writes in one transaction. */
const maxVoidsTogether = 100;

export interface Reconciliation {
  /** The number of lost debits that were voided. */
  readonly voided: number;
  /** The refunded money, in micro-units. */
  readonly refundedMicros: number;
  /** The number of messages whose job was queued again. */
  readonly requeued: number;
  /** The number of places where the ledger does not add up. Each is reported once, and the pass continues after it. */
  readonly inconsistencies: number;
  /** Whether the wallet has more entries to check than one pass. */
  readonly isUnfinished: boolean;
}

/** A time in which something was debited, in ISO 8601. */
type Period = Readonly<Record<"from" | "to", string>>;

/**
 * Reconciles one wallet: voids and refunds lost debits, and queues recorded messages again whose job never reached a queue.
 * It can stop and be repeated at any point, because each void entry and each refund is a write that succeeds only once.
 * @returns undefined when there is no wallet
 */
export async function reconcileWallet(organizationId: string): Promise<Reconciliation | undefined> {
  const wallet = await findWallet(organizationId);
  if (wallet === undefined) return undefined;
  const pass = new Pass(wallet);
  await pass.run();
  return pass;
}

class Pass implements Reconciliation {
  voided = 0;
  refundedMicros = 0;
  requeued = 0;
  inconsistencies = 0;
  isUnfinished = false;
  readonly #wallet: WalletRecord;
  /** Entries and changes of the wallet before this time are old enough to be checked. */
  readonly #horizon: string;
  /** The seq up to which the wallet is settled, according to its item. */
  #settledSeq: number;
  #messages: ReadonlyMap<string, MessageRecord | "unreadable"> = new Map();
  /** The counters that exist. */
  readonly #notedDays = new Set<string>();
  #position: Position;
  /** Not before the last settled entry was read, which may be lost. */
  #isBalanceKnown: boolean;
  #sinceSettled = { voids: 0, voidedFees: 0 };

  constructor(wallet: WalletRecord) {
    this.#wallet = wallet;
    this.#settledSeq = wallet.settledSeq;
    this.#position = positionAt(wallet.settledSeq);
    this.#isBalanceKnown = wallet.settledSeq === 0;
    this.#horizon = new Date(now().getTime() - graceMs).toISOString();
  }

  async run(): Promise<void> {
    const { seq, settledSeq, lastAt } = this.#wallet;
    // The first entry is the last settled one, whose balance is needed.
    const entries = await readLedger(this.#wallet, {
      from: settledSeq,
      to: seq,
      limit: maxEntriesPerPass,
    });
    await this.#readMessages(entries);
    for (const entry of entries) {
      if (entry.seq === settledSeq) {
        this.#position = positionAfter(entry, this.#position);
        this.#isBalanceKnown = true;
        this.#notedDays.add(nameOf(shardOfEntry(entry)));
        continue;
      }
      // A void entry directly after the position is refunded immediately. A gap before a recent entry of any kind may be a
      // debit whose function is still running.
      const isRefundable = entry.type === "void" && entry.seq === this.#position.seq + 1;
      if (!isRefundable && entry.createdAt > this.#horizon) return this.#settle(settleAt(entry.createdAt));
      if (!(await this.#close(positionBefore(entry)))) return;
      const debited = { from: this.#position.at, to: entry.createdAt };
      if (!(await this.#pass(entry, debited))) return;
    }
    const isWholeLedger = entries.length < maxEntriesPerPass;
    // The wallet was read before its entries, so missing entries up to its seq are a gap at the end of the ledger.
    if (isWholeLedger && lastAt <= this.#horizon) {
      const { balanceMicros, feeCount } = this.#wallet;
      if (!(await this.#close({ seq, balanceMicros, feeCount, at: lastAt }))) return;
    }
    this.isUnfinished = !isWholeLedger;
    // Later changes of the wallet are more recent than this.
    const oldest = this.isUnfinished
      ? this.#position.at
      : lastAt > this.#horizon
        ? lastAt
        : now().toISOString();
    await this.#settle(settleAt(oldest));
  }

  /** Reads the messages that old entries paid for. */
  async #readMessages(entries: readonly LedgerEntryRecord[]): Promise<void> {
    const paidFor = entries.filter(({ type, seq, createdAt }) => {
      return type === "message" && seq > this.#wallet.settledSeq && createdAt <= this.#horizon;
    });
    this.#messages = await readMessages(
      this.#wallet,
      paidFor.map(({ messageId = "" }) => messageId),
    );
  }

  /**
   * Closes the gap, if there is one, between the current position and a seq with a known balance.
   * @param end its `at` is a time after all debits of the gap. Its fees are those before the next entry
   * @returns false when the ledger changed in the meantime, so that this pass has to end
   */
  async #close(end: Position): Promise<boolean> {
    const { seq: lastSeq, balanceMicros } = end;
    const startedAt = this.#position.at;
    if (!this.#isBalanceKnown) {
      // The last settled entry is lost, and so is the balance before a gap after it. The gap is closed without a refund.
      this.#report(this.#position.seq);
      this.#position = { ...this.#position, balanceMicros };
      this.#isBalanceKnown = true;
    }
    while (this.#position.seq < lastSeq) {
      const voids = this.#voids(end);
      const written = await tryTransact({ voids: voids.map(ledgerEntry) });
      // A message that seemed lost has been recorded in the meantime. The next pass finds its entry.
      if (written.outcome !== "committed") return false;
      this.voided += voids.length;
      // A gap is a debit. If it added money, it hides another error, which this pass cannot repair.
      if (voids.some(({ amountMicros }) => amountMicros > 0)) this.#report(lastSeq);
      for (const entry of voids) {
        if (!(await this.#pass(entry, { from: startedAt, to: end.at }))) return false;
      }
    }
    if (this.#position.balanceMicros !== balanceMicros) this.#report(lastSeq);
    return true;
  }

  #report(seq: number): void {
    this.inconsistencies += 1;
    log.error("ledger.inconsistent", { organizationId: this.#wallet.organizationId, seq });
  }

  /** Returns void entries for the next seqs of a gap. The last seq of the gap has its whole amount, and all its fees. */
  #voids({ seq: lastSeq, balanceMicros, feeCount }: Position): NewLedgerEntry[] {
    const count = Math.min(lastSeq - this.#position.seq, maxVoidsTogether);
    return Array.from({ length: count }, (_, index) => {
      const seq = this.#position.seq + 1 + index;
      const balanceAfterMicros = seq === lastSeq ? balanceMicros : this.#position.balanceMicros;
      return voidEntry({
        ...ledgerKey(this.#wallet, seq),
        organizationId: this.#wallet.organizationId,
        seq,
        amountMicros: balanceAfterMicros - this.#position.balanceMicros,
        balanceAfterMicros,
        feeCount: seq === lastSeq ? feeCount : this.#position.feeCount,
      });
    });
  }

  /** Completes an entry's unfinished work and advances the position. @param debited when its debit was made */
  async #pass(entry: LedgerEntryRecord, debited: Period): Promise<boolean> {
    if (entry.type === "message") await this.#requeueStranded(entry);
    if (entry.type === "void") {
      const before = this.#position.feeCount ?? entry.feeCount ?? 0;
      this.#sinceSettled.voids += 1;
      this.#sinceSettled.voidedFees += (entry.feeCount ?? before) - before;
    }
    this.#position = positionAfter(entry, this.#position);
    await this.#noteDay(entry);
    const isOwed = entry.type === "void" && entry.amountMicros < 0 && entry.isReturned !== true;
    if (isOwed) return this.#refund(entry, debited);
    return true;
  }

  /** Ensures that an entry's day has a counter, because a day that lost all its counts would never be recalculated. */
  async #noteDay(entry: LedgerEntryRecord): Promise<void> {
    const shard = shardOfEntry(entry);
    if (this.#notedDays.has(nameOf(shard))) return;
    await noteDay(shard);
    this.#notedDays.add(nameOf(shard));
  }

  /**
   * Refunds a lost debit. One write credits and settles it, so that it is refunded only once. The daily cap gets it back if the
   * day of the debit is certain. The wallet notes the time of its oldest change that is not settled.
   */
  async #refund(lost: LedgerEntryRecord, { from, to }: Period): Promise<boolean> {
    const { visitAt } = this.#wallet;
    const oldest = visitAt === undefined ? from : new Date(Date.parse(visitAt) - graceMs).toISOString();
    const day = dayOf(to);
    const isCertain = dayOf(oldest > from ? oldest : from) === day;
    const spent = { day, accepted: 0, acceptedMicros: 0, feeMicros: -lost.amountMicros };
    const credited = await postToWallet({
      ...(isCertain && { notAccepted: spent }),
      organizationId: lost.organizationId,
      type: "refund",
      amountMicros: -lost.amountMicros,
      settlement: { from: this.#settledSeq, to: lost.seq, ...this.#sinceSettled },
    });
    if (credited === undefined) return false;
    this.#settledSeq = lost.seq;
    this.#sinceSettled = { voids: 0, voidedFees: 0 };
    this.refundedMicros -= lost.amountMicros;
    return true;
  }

  /**
   * Confirms an old message. Queues it again when it has no attempt, because its job may never have reached a queue. A
   * surplus job is harmless, because the sender first acquires the message's lease. A message with an attempt has its job,
   * which the queue keeps until the message has ended. Another job would only extend a backlog.
   */
  async #requeueStranded(entry: LedgerEntryRecord): Promise<void> {
    const { organizationId, messageId = "" } = entry;
    const message = this.#messages.get(messageId);
    if (message === undefined) {
      log.error("ledger.message_missing", { organizationId, messageId });
      return;
    }
    if (message === "unreadable") {
      // Its state is unknown, but the pass can continue after it.
      this.#report(entry.seq);
      return;
    }
    if (isUnconfirmed(message)) await updateItem(MessageRecord, confirm(message));
    if (message.status === "queued" && message.attempts === 0 && !waitsInTable(message)) {
      await enqueue(sendJobWithFacts(message, secondsUntil(message.scheduledAt)));
      this.requeued += 1;
    }
  }

  /** Records how far the wallet is settled, and the time of the next pass if there is more to settle. */
  async #settle(visitAt: string): Promise<void> {
    // A lost debit may have lowered the balance without a notification, and a settled wallet is not checked again.
    const { lowBalanceThresholdMicros, rechargeBelowMicros } = this.#wallet;
    const isLowPossible = (lowBalanceThresholdMicros ?? rechargeBelowMicros) !== undefined;
    const wallet = isLowPossible ? await findWallet(this.#wallet.organizationId) : undefined;
    if (wallet !== undefined) await watchBalance(wallet);
    const to = Math.max(this.#position.seq, this.#settledSeq);
    const settled = { from: this.#settledSeq, to, ...this.#sinceSettled };
    await settleWallet(this.#wallet.organizationId, settled, visitAt);
  }
}

function shardOfEntry({ organizationId, createdAt, messageId = "" }: LedgerEntryRecord): DayShard {
  return shardOf({ organizationId, queuedAt: createdAt, id: messageId });
}

function nameOf({ counter }: DayShard): string {
  return `${counter.pk} ${counter.sk}`;
}
