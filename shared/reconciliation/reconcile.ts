import { noteDay } from "../messages/counts.ts";
import { sendJobWithFacts, waitsInTable } from "../messages/message-job.ts";
import { isUnconfirmed, confirm, MessageRecord } from "../messages/record.ts";
import { dayOf, now } from "../platform/clock.ts";
import { secondsUntil } from "../platform/jobs/job.ts";
import { enqueue } from "../platform/jobs/queue.ts";
import { log } from "../platform/log.ts";
import { keys, messagesPartition, partOf } from "../platform/table/keys.ts";
import { findItem, queryRows, tryTransact, unreadableOf, updateItem } from "../platform/table/table.ts";
import {
  ledgerEntry,
  readLedger,
  voidEntry,
  type LedgerEntryRecord,
  type NewLedgerEntry,
} from "../wallet/ledger.ts";
import { notifyLowBalance } from "../wallet/notify.ts";
import { postToWallet } from "../wallet/post.ts";
import { ledgerPartOf, readWallet, type WalletRecord } from "../wallet/record.ts";
import { graceMs, settleAt, settleWallet } from "../wallet/settlement.ts";
import { deleteUnpaidMessages } from "./unpaid-messages.ts";

/*
 * Every debit takes a seq and every ledger entry is keyed by one, so a seq without an entry proves a debit
 * whose message was not recorded: its function crashed, or its answer was lost. Credits are transactions and
 * never leave such a gap. What the gap cost follows from its neighbours' balances.
 */

/** Entries that one pass over one wallet looks at; the next pass goes on. */
const maxEntriesPerPass = 500;

/** Messages that are read side by side. */
const maxReadTogether = 25;

/** DynamoDB takes 100 writes in one transaction. */
const maxSealedTogether = 100;

export interface Reconciliation {
  /** Lost debits that were sealed. */
  readonly sealed: number;
  /** Money that was returned, in micro-units. */
  readonly refundedMicros: number;
  /** Messages whose job was put on a queue again. */
  readonly requeued: number;
  /** Places where the ledger does not add up. Each is reported once, and what lies behind it goes on. */
  readonly inconsistencies: number;
  /** Whether the wallet has more to look at than one pass takes. */
  readonly isUnfinished: boolean;
}

/** Where a pass stands: all seqs up to this one are in order, and this is the balance after it. */
interface Position {
  readonly seq: number;
  readonly balanceMicros: number;
  /** When the entry of this seq was made. */
  readonly at: string;
}

/**
 * Brings one wallet in order: seals and refunds lost debits, and queues again the messages that were recorded
 * but whose job never got onto a queue. It can stop or be repeated anywhere: a seal and a refund are writes
 * that succeed once.
 */
export async function reconcileWallet(organizationId: string): Promise<Reconciliation> {
  const pass = new Pass(await readWallet(organizationId));
  await pass.run();
  return pass;
}

class Pass implements Reconciliation {
  sealed = 0;
  refundedMicros = 0;
  requeued = 0;
  inconsistencies = 0;
  isUnfinished = false;
  readonly #wallet: WalletRecord;
  /** Everything that was made, or changed the wallet, before this is old enough to be looked at. */
  readonly #horizon: string;
  /** How far the wallet is settled, as its item says. */
  #settledSeq: number;
  readonly #messages = new Map<string, MessageRecord | "unreadable">();
  /** The days that have their counter, in each part of the messages. */
  readonly #notedDays = new Set<string>();
  #position: Position = { seq: 0, balanceMicros: 0, at: new Date(0).toISOString() };
  #voidsSinceSettled = 0;

  constructor(wallet: WalletRecord) {
    this.#wallet = wallet;
    this.#settledSeq = wallet.settledSeq;
    this.#horizon = new Date(now().getTime() - graceMs).toISOString();
  }

  async run(): Promise<void> {
    const { seq, settledSeq, lastAt } = this.#wallet;
    // The last settled entry is read along, for the balance after it.
    const entries = await readLedger(this.#wallet, {
      from: settledSeq,
      to: seq,
      limit: maxEntriesPerPass,
    });
    await this.#readMessages(entries);
    for (const entry of entries) {
      if (entry.seq === settledSeq) {
        this.#position = positionBehind(entry);
        this.#notedDays.add(dayAndPart(entry));
        continue;
      }
      // A void entry right behind the position asks for its refund at once. A gap before a young entry of any
      // kind may be a debit whose function is still at work.
      const isRefundable = entry.type === "void" && entry.seq === this.#position.seq + 1;
      if (!isRefundable && entry.createdAt > this.#horizon) return this.#settle(settleAt(entry.createdAt));
      const balanceMicros = entry.balanceAfterMicros - entry.amountMicros;
      if (!(await this.#close({ seq: entry.seq - 1, balanceMicros, at: entry.createdAt }))) return;
      if (entry.type === "void") {
        // The function that voided it may have ended before the message was deleted.
        const debited = { from: this.#position.at, to: entry.createdAt };
        await deleteUnpaidMessages(this.#wallet, [entry], debited);
      }
      if (!(await this.#pass(entry))) return;
    }
    const isWholeLedger = entries.length < maxEntriesPerPass;
    // The wallet was read before its entries: what is missing up to its seq is a gap at the end of the ledger.
    if (isWholeLedger && lastAt <= this.#horizon) {
      if (!(await this.#close({ seq, balanceMicros: this.#wallet.balanceMicros, at: lastAt }))) return;
    }
    this.isUnfinished = !isWholeLedger;
    const at = now().toISOString();
    // Whatever changes the wallet from now on is younger.
    await this.#settle(this.isUnfinished ? at : settleAt(lastAt > this.#horizon ? lastAt : at));
  }

  /**
   * Reads the messages that old entries paid for. They were accepted one after another like their entries, so they lie
   * side by side in their list; those that do not are read one by one.
   */
  async #readMessages(entries: readonly LedgerEntryRecord[]): Promise<void> {
    const ids = entries
      .filter(({ type, seq, createdAt }) => {
        return type === "message" && seq > this.#wallet.settledSeq && createdAt <= this.#horizon;
      })
      .map(({ messageId = "" }) => messageId)
      .toSorted();
    const { organizationId } = this.#wallet;
    for (const [part, ofPart] of Map.groupBy(ids, partOf)) {
      const [from = "", to = ""] = [ofPart[0], ofPart.at(-1)];
      const pk = messagesPartition(organizationId, part);
      const limit = 2 * maxEntriesPerPass;
      const rows = await queryRows(MessageRecord, { pk, from, to, limit, consistent: true });
      for (const { key, item } of rows) this.#messages.set(key.sk, item ?? "unreadable");
    }
    const missing = ids.filter((id) => !this.#messages.has(id));
    for (let start = 0; start < missing.length; start += maxReadTogether) {
      await Promise.all(
        missing.slice(start, start + maxReadTogether).map(async (id) => {
          const key = keys.message(organizationId, id);
          const message = await findItem(MessageRecord, key, { consistent: true }).catch(unreadableOf);
          if (message !== undefined) this.#messages.set(id, message);
        }),
      );
    }
  }

  /**
   * Closes the gap, if there is one, between the present position and a seq after which the balance is known.
   * @param end its `at` is a time at which all debits of the gap had been made
   * @returns false when the ledger changed in the meantime, so that this pass has to end
   */
  async #close(end: Position): Promise<boolean> {
    const { seq: lastSeq, balanceMicros } = end;
    const startedAt = this.#position.at;
    while (this.#position.seq < lastSeq) {
      const seals = this.#seals(lastSeq, balanceMicros);
      const sealed = await tryTransact({ seals: seals.map(ledgerEntry) });
      // A debit that was thought lost has been recorded after all, or is being recorded; the next pass sees it.
      if (sealed.outcome !== "committed") return false;
      this.sealed += seals.length;
      // Before the refund, after which no pass looks at these seqs again.
      await deleteUnpaidMessages(this.#wallet, seals, { from: startedAt, to: end.at });
      // A gap is a debit. One that added money hides something that this pass cannot make good.
      if (seals.some(({ amountMicros }) => amountMicros > 0)) this.#report(lastSeq);
      for (const seal of seals) {
        if (!(await this.#pass({ entity: "ledgerEntry", ...seal }))) return false;
      }
    }
    if (this.#position.balanceMicros !== balanceMicros) this.#report(lastSeq);
    return true;
  }

  #report(seq: number): void {
    this.inconsistencies += 1;
    log.error("ledger.inconsistent", { organizationId: this.#wallet.organizationId, seq });
  }

  /** Entries for the next seqs of a gap. The last seq of the gap carries all that was lost in it. */
  #seals(lastSeq: number, balanceMicros: number): NewLedgerEntry[] {
    const count = Math.min(lastSeq - this.#position.seq, maxSealedTogether);
    return Array.from({ length: count }, (_, index) => {
      const seq = this.#position.seq + 1 + index;
      const balanceAfterMicros = seq === lastSeq ? balanceMicros : this.#position.balanceMicros;
      return voidEntry({
        organizationId: this.#wallet.organizationId,
        seq,
        part: ledgerPartOf(this.#wallet, seq),
        amountMicros: balanceAfterMicros - this.#position.balanceMicros,
        balanceAfterMicros,
      });
    });
  }

  /** Moves behind an entry, after doing what it still asks for. */
  async #pass(entry: LedgerEntryRecord): Promise<boolean> {
    if (entry.type === "message") await this.#requeueStranded(entry);
    if (entry.type === "void") this.#voidsSinceSettled += 1;
    this.#position = positionBehind(entry);
    await this.#noteDay(entry);
    const isOwed = entry.type === "void" && entry.amountMicros < 0 && entry.isReturned !== true;
    if (isOwed) return this.#refund(entry);
    return true;
  }

  /** Sees to the counter of an entry's day: one whose counts were all lost would never be counted. */
  async #noteDay(entry: LedgerEntryRecord): Promise<void> {
    const { organizationId, createdAt, messageId = "" } = entry;
    if (this.#notedDays.has(dayAndPart(entry))) return;
    await noteDay(organizationId, createdAt, partOf(messageId));
    this.#notedDays.add(dayAndPart(entry));
  }

  /** Returns a lost debit. The credit and the note that it is settled are one write, so it happens once. */
  async #refund(lost: LedgerEntryRecord): Promise<boolean> {
    const credited = await postToWallet({
      organizationId: lost.organizationId,
      type: "refund",
      amountMicros: -lost.amountMicros,
      settles: { from: this.#settledSeq, to: lost.seq, voids: this.#voidsSinceSettled },
    });
    if (credited === undefined) return false;
    this.#settledSeq = lost.seq;
    this.#voidsSinceSettled = 0;
    this.refundedMicros -= lost.amountMicros;
    return true;
  }

  /**
   * Looks after a message whose sender should long have been there: its job may never have reached a queue.
   * A job too many is harmless, for the sender claims the message first. A message that was taken up before has its job,
   * which its queue keeps until the message has ended; another one would only make a backlog longer.
   */
  async #requeueStranded(entry: LedgerEntryRecord): Promise<void> {
    const { organizationId, messageId = "" } = entry;
    const message = this.#messages.get(messageId);
    if (message === undefined) {
      log.error("ledger.message_missing", { organizationId, messageId });
      return;
    }
    if (message === "unreadable") {
      // Its state is not known; the ledger after it need not wait for that.
      this.#report(entry.seq);
      return;
    }
    if (isUnconfirmed(message)) await updateItem(MessageRecord, confirm(message));
    if (message.status === "queued" && message.attempts === 0 && !waitsInTable(message)) {
      await enqueue(sendJobWithFacts(message, secondsUntil(message.scheduledAt)));
      this.requeued += 1;
    }
  }

  /** Notes how far the wallet is settled, and when to look at it again if there is more to settle. */
  async #settle(lookAt: string): Promise<void> {
    // The debit that should have told it may be among those that were lost; settled wallets are not looked at again.
    const isLowPossible = this.#wallet.lowBalanceThresholdMicros !== undefined;
    if (isLowPossible) await notifyLowBalance(await readWallet(this.#wallet.organizationId));
    const to = Math.max(this.#position.seq, this.#settledSeq);
    const settled = { from: this.#settledSeq, to, voids: this.#voidsSinceSettled };
    await settleWallet(this.#wallet.organizationId, settled, lookAt);
  }
}

function positionBehind({ seq, balanceAfterMicros, createdAt }: LedgerEntryRecord): Position {
  return { seq, balanceMicros: balanceAfterMicros, at: createdAt };
}

function dayAndPart({ createdAt, messageId = "" }: LedgerEntryRecord): string {
  return `${dayOf(createdAt)} ${partOf(messageId)}`;
}
