import { readLedger, type LedgerEntryRecord } from "../../money/wallet/ledger.ts";
import { readWallet, type WalletRecord } from "../../money/wallet/record.ts";
import { graceMs } from "../../money/wallet/settlement.ts";
import { now } from "../../platform/clock.ts";
import { findItem } from "../../platform/table/read.ts";
import { unreadableOf, UnreadableRecordError } from "../../platform/table/records.ts";
import { messageKey } from "../../platform/table/shards.ts";
import { mayHaveExpired, MessageRecord } from "../message/record.ts";
import { FeesOfLedger, type Finding } from "./verify-fees.ts";

export interface Verification {
  readonly organizationId: string;
  readonly balanceMicros: number;
  readonly entries: number;
  /** The errors as text. A correct wallet has none. */
  readonly findings: readonly string[];
  /** Differences that are too recent to be errors, because a request or a refund may still be in progress. */
  readonly pending: readonly string[];
}

/**
 * A repairable difference of this age is an error: after the reconciler's grace period, and the same time again to reach the
 * wallet.
 */
const pendingMs = 2 * graceMs;

/** The number of entries in one read. */
const batchSize = 500;

/** The largest number of findings in a report. */
const maxFindings = 100;

/**
 * Reads the whole ledger of a wallet and verifies it. Every seq has an entry, and each balance follows from the previous
 * one. The last balance is the wallet's, and every paid message exists at its price. Each fee is that of a verification, and
 * returns once if it has to.
 * @throws ApiError WALLET_MISSING
 */
export async function verifyWallet(organizationId: string): Promise<Verification> {
  const wallet = await readWallet(organizationId);
  try {
    return await verifyLedger(wallet);
  } catch (error) {
    // The entries after the unreadable one cannot be verified.
    if (!(error instanceof UnreadableRecordError)) throw error;
    const { balanceMicros } = wallet;
    return { organizationId, balanceMicros, entries: 0, findings: [error.message], pending: [] };
  }
}

async function verifyLedger(wallet: WalletRecord): Promise<Verification> {
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
  const fees = new FeesOfLedger(wallet);
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
      for (const each of await fees.problemsOf(entry)) note(each);
    }
    if (findings.length >= maxFindings) break;
    if (batch.length === batchSize) continue;
    if (seq !== wallet.seq) note(gap(seq, wallet.seq + 1, wallet.lastAt));
    else if (balanceMicros !== wallet.balanceMicros) {
      findings.push(`the wallet has ${wallet.balanceMicros}, its entries add up to ${balanceMicros}`);
    }
    for (const each of fees.missing()) note(each);
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
  const key = messageKey({ organizationId: entry.organizationId, id: messageId });
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
