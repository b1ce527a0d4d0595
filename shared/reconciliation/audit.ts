import { mayHaveExpired, MessageRecord } from "../messages/record.ts";
import { now } from "../platform/clock.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem, unreadableOf, UnreadableRecordError } from "../platform/table/table.ts";
import { readLedger, type LedgerEntryRecord } from "../wallet/ledger.ts";
import { readWallet, type WalletRecord } from "../wallet/record.ts";
import { graceMs } from "../wallet/settlement.ts";

export interface Audit {
  readonly organizationId: string;
  readonly balanceMicros: number;
  readonly entries: number;
  /** What is wrong, in words; a wallet in order has none. */
  readonly findings: readonly string[];
  /** What looks the same but is too young to be wrong: a send or a refund may still be at work on it. */
  readonly pending: readonly string[];
}

/**
 * What the reconciler would repair is wrong only when it has had its time: its grace, and as much again to come
 * around to the wallet.
 */
const pendingMs = 2 * graceMs;

/** Entries that are read at once. */
const batchSize = 500;

/** A wallet that is wrong in thousands of places is reported with the first ones. */
const maxFindings = 100;

/**
 * Walks the whole ledger of a wallet and proves that every seq has its entry, that each balance follows from
 * the one before, that the last is the wallet's, and that every paid message exists at that price.
 * @throws ApiError WALLET_MISSING
 */
export async function auditWallet(organizationId: string): Promise<Audit> {
  const wallet = await readWallet(organizationId);
  try {
    return await auditLedger(wallet);
  } catch (error) {
    // What lies behind it cannot be proved.
    if (!(error instanceof UnreadableRecordError)) throw error;
    const { balanceMicros } = wallet;
    return { organizationId, balanceMicros, entries: 0, findings: [error.message], pending: [] };
  }
}

async function auditLedger(wallet: WalletRecord): Promise<Audit> {
  const { organizationId } = wallet;
  const horizon = new Date(now().getTime() - pendingMs).toISOString();
  const findings: string[] = [];
  const pending: string[] = [];
  const note = ({ text, mendableSince }: Finding): void => {
    const isYoung = mendableSince !== undefined && mendableSince > horizon;
    (isYoung ? pending : findings).push(text);
  };
  let seq = 0;
  let balanceMicros = 0;
  let entries = 0;
  for (;;) {
    const batch = await readLedger(wallet, { from: seq + 1, to: wallet.seq, limit: batchSize });
    for (const entry of batch) {
      if (entry.seq !== seq + 1) note(gap(seq, entry.seq, entry.createdAt));
      balanceMicros += entry.amountMicros;
      if (entry.seq === seq + 1 && entry.balanceAfterMicros !== balanceMicros) {
        findings.push(
          `seq ${entry.seq} has ${entry.balanceAfterMicros}, the entries add up to ${balanceMicros}`,
        );
      }
      balanceMicros = entry.balanceAfterMicros;
      seq = entry.seq;
      entries += 1;
      const problem = await problemOfMessage(entry, wallet);
      if (problem !== undefined) note(problem);
    }
    // What lies behind so many findings is not looked at.
    if (findings.length >= maxFindings) break;
    if (batch.length === batchSize) continue;
    if (seq !== wallet.seq) note(gap(seq, wallet.seq + 1, wallet.lastAt));
    else if (balanceMicros !== wallet.balanceMicros) {
      findings.push(`the wallet has ${wallet.balanceMicros}, its entries add up to ${balanceMicros}`);
    }
    break;
  }
  return {
    organizationId,
    balanceMicros: wallet.balanceMicros,
    entries,
    findings: findings.slice(0, maxFindings),
    pending: pending.slice(0, maxFindings),
  };
}

interface Finding {
  readonly text: string;
  /** Of what the reconciler repairs: when it came about, or what came after it. */
  readonly mendableSince?: string | undefined;
}

function gap(lastSeq: number, nextSeq: number, nextAt: string): Finding {
  return { text: `seq ${lastSeq + 1} to ${nextSeq - 1} have no entry`, mendableSince: nextAt };
}

async function problemOfMessage(
  entry: LedgerEntryRecord,
  { erasedAt }: WalletRecord,
): Promise<Finding | undefined> {
  const { messageId, seq, type } = entry;
  if (messageId === undefined) {
    return type === "message" ? { text: `seq ${seq} names no message` } : undefined;
  }
  const key = keys.message(entry.organizationId, messageId);
  const message = await findItem(MessageRecord, key, { consistent: true }).catch(unreadableOf);
  if (message === undefined) {
    return erasedAt !== undefined || mayHaveExpired(messageId)
      ? undefined
      : { text: `seq ${seq} pays for ${messageId}, which does not exist` };
  }
  if (message === "unreadable") return { text: `seq ${seq} pays for ${messageId}, which cannot be read` };
  if (message.totalMicros !== Math.abs(entry.amountMicros)) {
    const text = `seq ${seq} moves ${entry.amountMicros} for ${messageId}, which cost ${message.totalMicros}`;
    return { text };
  }
  if (type === "refund" && message.refund !== "done") {
    return { text: `seq ${seq} refunds ${messageId}, which does not know` };
  }
  if (type === "message" && message.refund === "due") {
    return { text: `${messageId} failed and is not refunded yet`, mendableSince: message.failedAt };
  }
  return undefined;
}
